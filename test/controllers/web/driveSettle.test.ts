import { beforeEach, describe, expect, it } from "vitest";
import { closedOnInput } from "#controllers/web/page/failures.ts";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const site = shared(startSite);
const device = shared(() => openWebDevice());
beforeEach(async () => {
  await device.run("load_storage_state", {});
  device.dropNotices();
});

const open = (path: string) => device.run("navigate_to_url", { url: `${site.url}${path}` });
const title = () => device.js("return document.title");

describe("an action ends when the page that it changed is usable", () => {
  it.each(["Second page", "By timer"])("a click on %s ends on the page reached", async (selector) => {
    await open("/");
    const result = await device.run("click_element", { selector });
    expect(result.data).toEqual({ url: `${site.url}/second` });
    expect(await device.js("return document.querySelector('h1').textContent")).toBe("Second page");
  });

  it("Enter in a form ends on the page reached", async () => {
    await open("/");
    await device.run("input_text", { selector: "Query", text: "x" });
    const result = await device.run("press_key", { selector: "Query", key: "OK" });
    expect(result.data).toEqual({ url: `${site.url}/second?q=x` });
    expect(await title()).toBe("Second");
  });

  it("a click waits for a server that takes its time", async () => {
    await open("/");
    let ended = false;
    const clicking = device.run("click_element", { selector: "Held page" }).then((result) => {
      ended = true;
      return result;
    });
    await Promise.race([site.waiting(), clicking]);
    expect(ended).toBe(false);
    site.release();
    expect((await clicking).data).toEqual({ url: `${site.url}/held` });
    expect(await title()).toBe("Second");
  });

  it.each([
    "Nothing",
    "Part",
    "Push",
  ])("a click on %s, which opens no page, ends on the page", async (selector) => {
    await open("/");
    await device.run("click_element", { selector });
    expect(await title()).toBe("Start");
    expect((await device.run("get_page_info")).data?.loading).toBe(false);
  });

  it.each([
    "127.0.0.1",
    "localhost",
  ])("a link in a frame of %s that replaces the page is waited for", async (host) => {
    const base = host === "localhost" ? site.otherUrl : site.url;
    await open(`/frame?src=${base}/inner`);
    await device.run("click_element", { selector: "Inner button" });
    const result = await device.run("click_element", { selector: "Out of the frame" });
    expect(result.data).toEqual({ url: `${base}/second` });
    expect(await title()).toBe("Second");
  });

  it("a page that sends its visitor on, or renames itself, is usable when the call ends", async () => {
    await open("/forward");
    expect(await title()).toBe("Second");
    await open("/renamed");
    expect(await device.js("return [document.title, location.pathname]")).toEqual(["Renamed", "/other-name"]);
    expect((await device.run("get_page_info")).data?.loading).toBe(false);
  });

  it("a page that replaces timers does not hold an action up", async () => {
    await open("/timers");
    await device.run("click_element", { selector: "Go on" });
    expect(await title()).toBe("Timers clicked");
  });
});

describe("tabs", () => {
  it.each([
    "In a new tab",
    "Without opener",
    "Window",
  ])("a click on %s is followed to the new tab", async (selector) => {
    await open("/");
    const result = await device.run("click_element", { selector });
    expect(result.data).toEqual({ url: `${site.url}/second`, tab: 1 });
    expect(await title()).toBe("Second");
    expect(await device.noticed("tab")).toHaveLength(1);
  });

  it("open_tab, switch_tab and close_tab change the current tab", async () => {
    await open("/form");
    expect((await device.run("open_tab", { url: `${site.url}/second` })).data).toEqual({
      tab: 1,
      url: `${site.url}/second`,
    });
    expect(await title()).toBe("Second");
    await device.run("switch_tab", { tab: 0 });
    expect(await title()).toBe("Form");
    await device.run("close_tab", { tab: 1 });
    expect(await title()).toBe("Form");
    await device.run("close_tab", {});
    expect((await device.run("get_page_info")).data?.tabs).toEqual([
      { tab: 0, url: "about:blank", title: "", current: true },
    ]);
  });

  it.each([
    ["click_element", {}],
    ["double_click", {}],
    ["press_key", { key: "ENTER" }],
  ])("a tab that closes itself by %s leaves the one that opened it, however often", async (command, params) => {
    await open("/");
    for (let round = 0; round < 3; round++) {
      await device.run("click_element", { selector: "Window" });
      const result = await device.run(command, { selector: "Close me", ...params });
      expect(result.message).toMatch(/; its tab closed, now in tab 0 at /);
      expect(result.data).toEqual({ url: `${site.url}/`, tab: 0 });
      expect(await title()).toBe("Start");
    }
  });

  it.each([
    ["keyboard.press: Target page, context or browser has been closed", true],
    [
      "locator.click: Target page, context or browser has been closed\nCall log:\n  - performing click action\n",
      true,
    ],
    ['locator.press: Frame was detached\nCall log:\n  - elementHandle.press("Enter")\n', true],
    [
      "locator.click: Target page, context or browser has been closed\nCall log:\n  - performing click action\n  - retrying click action\n",
      false,
    ],
    ["locator.fill: Target page, context or browser has been closed", false],
    ["mouse.click: Target crashed", false],
  ])("%j was sent before its tab closed: %s", (message, wasSent) => {
    expect(closedOnInput(new Error(message))).toBe(wasSent);
  });

  it("a tab that is not there is named with those that are", async () => {
    const failure = await failureOf(device.run("switch_tab", { tab: 7 }));
    expect(failure.code).toBe("TAB_NOT_FOUND");
    expect(failure.message).toContain("0: about:blank");
  });

  it("get_page_info reports address, title, viewport and tabs", async () => {
    await open("/form");
    expect((await device.run("get_page_info")).data).toEqual({
      url: `${site.url}/form`,
      title: "Form",
      loading: false,
      viewport: { width: 1280, height: 720 },
      tabs: [{ tab: 0, url: `${site.url}/form`, title: "Form", current: true }],
    });
  });
});

describe("dialogs never block", () => {
  it("alerts are accepted, confirms and prompts dismissed, and each is reported", async () => {
    await open("/dialogs");
    for (const selector of ["Alert", "Confirm", "Prompt"]) await device.run("click_element", { selector });
    expect(await device.log()).toEqual(["alert closed", "confirm false", "prompt null"]);
    expect(await device.noticed("dialog")).toEqual([
      'alert "Saved" was accepted',
      'confirm "Sure?" was dismissed',
      'prompt "Your name?" was dismissed',
    ]);
  });

  it("handle_dialog sets the answer to the next one only", async () => {
    await open("/dialogs");
    await device.run("handle_dialog", { accept: true, prompt_text: "Ada" });
    await device.run("click_element", { selector: "Prompt" });
    await device.run("click_element", { selector: "Confirm" });
    await device.run("handle_dialog", { accept: true });
    await device.run("click_element", { selector: "Confirm" });
    expect(await device.log()).toEqual(["prompt Ada", "confirm false", "confirm true"]);
  });

  it("a page that asks before it is left is left", async () => {
    await open("/beforeunload");
    await device.run("type_text", { selector: "Draft", text: "unsaved" });
    await device.run("handle_dialog", { accept: false });
    await device.run("click_element", { selector: "Leave" });
    expect(await title()).toBe("Second");
    expect(await device.noticed("dialog")).toEqual([expect.stringContaining("beforeunload")]);
  });
});

describe("what a page does of itself is reported", () => {
  it("a small download with its size", async () => {
    await open("/");
    await device.run("click_element", { selector: "Report" });
    expect(await device.noticed("download")).toEqual([
      expect.stringMatching(/^report\.txt from .*: 12 bytes$/),
    ]);
    expect(await title()).toBe("Start");
  });

  it("an address that gives a download opens no page", async () => {
    const failure = await failureOf(open("/report.txt"));
    expect([failure.code, failure.message]).toEqual([
      "NAVIGATION_FAILED",
      expect.stringContaining("download"),
    ]);
    expect(await device.noticed("download")).toHaveLength(1);
  });

  it("a large download is not kept", async () => {
    await open("/");
    await device.run("click_element", { selector: "Huge file" });
    expect(await device.noticed("download")).toEqual([expect.stringContaining("50000000 bytes, not kept")]);
  });

  it("an error of its script", async () => {
    await open("/errors");
    await device.run("click_element", { selector: "Throw" });
    expect(await device.noticed("page_error")).toEqual([expect.stringContaining("null")]);
  });

  it("an HTTP error of its page, and of what it fetches from its own origin alone", async () => {
    await open("/nowhere-at-all?q=1");
    expect(await device.noticed("http_error")).toEqual([
      `HTTP_ERROR: GET ${site.url}/nowhere-at-all (the page) answered 404`,
    ]);
    await open("/");
    device.dropNotices();
    await device.js("return fetch('http://127.0.0.1:1/').catch(() => 0)");
    await device.js("return fetch('/missing?token=1').then(({ status }) => status)");
    expect(await device.noticed("http_error")).toEqual([
      `HTTP_ERROR: GET ${site.url}/missing (fetch) answered 404`,
    ]);
  });
});

describe("wait_for", () => {
  it("sees an element, a text and an address that come late", async () => {
    await open("/late");
    await device.run("click_element", { selector: "Begin" });
    const waiting = device.run("wait_for", {
      selector: "Late button",
      text: "Arrived late",
      text_gone: "Loading",
      url: "/late",
    });
    site.release();
    expect((await waiting).message).toContain("held after");
  });

  it("sees what goes", async () => {
    await open("/form");
    await device.run("wait_for", { selector: "id=gone", state: "hidden" });
    const waiting = device.run("wait_for", { selector: "id=notes", state: "hidden" });
    await device.js("notes.remove()");
    await waiting;
  });

  it("says what was there instead when its time is over", async () => {
    await open("/form");
    const failure = await failureOf(device.run("wait_for", { text: "Thank you", timeout_ms: 200 }));
    expect(failure.code).toBe("COMMAND_TIMEOUT");
    expect(failure.message).toContain("Thank you");
    expect((await failureOf(device.run("wait_for", {}))).code).toBe("INVALID_PARAMS");
  });
});
