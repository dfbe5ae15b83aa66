import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { agentSource } from "#controllers/web/page/inpage.ts";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const site = shared(startSite);
const device = shared(() => openWebDevice());
beforeEach(() => {
  device.dropNotices();
});

const open = (path: string) => device.run("navigate_to_url", { url: `${site.url}${path}` });
const value = (id: string) => device.js(`return document.getElementById("${id}").value`);

describe("addresses and history", () => {
  it("navigate_to_url opens a page and gives its status", async () => {
    const result = await open("/second");
    expect(result.data).toEqual({ url: `${site.url}/second`, status: 200 });
    expect(await device.js("return document.title")).toBe("Second");
  });

  it("navigate_to_url takes an address relative to the page", async () => {
    await open("/second");
    await device.run("navigate_to_url", { url: "/form" });
    expect(await device.js("return document.title")).toBe("Form");
  });

  it("navigate_to_url says so when the server answers with an error", async () => {
    const result = await open("/missing");
    expect(result).toMatchObject({ data: { status: 404 }, document: { status: 404 } });
  });

  it("go_back, go_forward and reload walk the tab's history", async () => {
    await open("/");
    await open("/second");
    await device.run("go_back");
    expect(await device.js("return document.title")).toBe("Start");
    await device.run("go_forward");
    expect(await device.js("return document.title")).toBe("Second");
    await device.js("document.title = 'changed'");
    await device.run("reload");
    expect(await device.js("return document.title")).toBe("Second");
  });

  it("go_back and the key BACK undo a step within the page", async () => {
    await open("/");
    await device.run("click_element", { selector: "Push" });
    await device.run("go_back");
    expect(await device.js("return location.pathname")).toBe("/");
    await device.run("click_element", { selector: "Push" });
    await device.run("press_key", { key: "BACK" });
    expect(await device.js("return location.pathname")).toBe("/");
  });

  it("go_forward at the end of the history is rejected", async () => {
    await open("/form");
    expect((await failureOf(device.run("go_forward"))).code).toBe("ACTION_REJECTED");
  });
});

describe("mouse", () => {
  beforeEach(() => open("/mouse"));

  it.each([
    ["click_element", "click 100,50 0"],
    ["double_click", "dblclick 100,50 0"],
    ["right_click", "contextmenu 100,50 2"],
    ["hover_element", "mouseover 100,50 0"],
  ])("%s reaches the element", async (command, line) => {
    await device.run(command, { selector: "Pad" });
    expect(await device.log()).toContain(line);
  });

  it("tap_x_y clicks at the point, with any button", async () => {
    await device.run("tap_x_y", { x: 10, y: 20 });
    await device.run("tap_x_y", { x: 11, y: 21, button: "right" });
    expect(await device.log()).toEqual(expect.arrayContaining(["click 10,20 0", "contextmenu 11,21 2"]));
  });

  it("mouse_move, mouse_down, mouse_up and mouse_wheel do one thing each", async () => {
    await device.run("mouse_move", { x: 30, y: 40 });
    await device.run("mouse_down", {});
    expect(await device.log()).not.toContain("mouseup 30,40 0");
    await device.run("mouse_up", {});
    await device.run("mouse_wheel", { delta_y: 10 });
    await expect.poll(() => device.log()).toContain("wheel 30,40 0");
    expect(await device.log()).toEqual(
      expect.arrayContaining(["mousemove 30,40 0", "mousedown 30,40 0", "mouseup 30,40 0", "click 30,40 0"]),
    );
  });

  it("drag_and_drop drops one element on another", async () => {
    await open("/drag");
    await device.run("drag_and_drop", { selector: "id=card", to_selector: "id=bin" });
    expect(await device.log()).toContain("dropped card");
  });
});

describe("text and form fields", () => {
  beforeEach(() => open("/form"));

  it("input_text replaces what is there", async () => {
    await device.run("input_text", { selector: "Name", text: "new" });
    expect(await value("name")).toBe("new");
  });

  it.each([
    ["filled", ["focus", "input", "change"]],
    ["selected", ["focus", "beforeinput", "input", "change"]],
  ])("input_text gives a page the same events on its short way as Playwright's own: %s", async (way, types) => {
    const noted = async (text: string) => {
      await device.js(`document.activeElement.blur(); globalThis.heard = [];
        for (const type of ${JSON.stringify(types)})
          addEventListener(type, globalThis.note ??= (e) => heard.push([e.type, e.isTrusted, e.inputType, e.data]), true)`);
      await device.run("input_text", { selector: "Name", text });
      return device.js("return globalThis.heard");
    };
    const short = await noted("same");
    const query = { kind: "label", text: { text: "Name", match: "exact" } };
    expect(await device.js(`return ${agentSource}.fill(${JSON.stringify(query)}, "same")`)).toBe(way);
    await device.js("const f = document.createElement('iframe'); document.body.append(f)");
    const long = await noted("same");
    expect(short).toEqual(long);
    expect(short).toContainEqual(["input", true, "insertText", "same"]);
    expect(await value("name")).toBe("same");
  });

  it("input_text empties a field, and waits for one that is not ready", async () => {
    await device.run("input_text", { selector: "Name", text: "" });
    expect(await value("name")).toBe("");
    await device.js("setTimeout(() => document.getElementById('fixed').removeAttribute('readonly'), 300)");
    await device.run("input_text", { selector: "Fixed", text: "now" });
    expect(await value("fixed")).toBe("now");
  });

  it("input_text says so when a dialog makes a field inert, and waits for it to close", async () => {
    await device.js(
      "const d = document.createElement('dialog'); d.innerHTML = '<button>Only</button>'; document.body.append(d); d.showModal()",
    );
    const failure = await failureOf(
      device.run("input_text", { selector: "Name", text: "s3cret", timeout_ms: 1_000 }),
    );
    expect(failure.code).toBe("ELEMENT_NOT_ACTIONABLE");
    expect(await value("name")).toBe("old");
    await device.js("setTimeout(() => document.querySelector('dialog').close(), 300)");
    await device.run("input_text", { selector: "Name", text: "after" });
    expect(await value("name")).toBe("after");
  });

  it("type_text appends key by key", async () => {
    await device.run("type_text", { selector: "Name", text: "er" });
    await device.run("type_text", { selector: "Notes", text: "!" });
    await device.run("type_text", { selector: "Count", text: "2" });
    await device.run("type_text", { selector: "Rich", text: " two" });
    expect([await value("name"), await value("notes"), await value("count")]).toEqual([
      "older",
      "first!",
      "42",
    ]);
    expect(await device.js("return document.getElementById('rich').textContent")).toBe("one two");
    expect(await device.log()).toEqual(expect.arrayContaining(["key e", "key r"]));
  });

  it("type_text without an element types where the focus is", async () => {
    await device.run("click_element", { selector: "Notes" });
    await device.run("press_key", { key: "Control+a" });
    await device.run("type_text", { text: "all new" });
    expect(await value("notes")).toBe("all new");
  });

  it("never repeats typed text in its message or its errors", async () => {
    const done = [
      await device.run("input_text", { selector: "Name", text: "s3cret" }),
      await device.run("type_text", { selector: "Name", text: "s3cret" }),
    ];
    const failure = await failureOf(
      device.run("input_text", { selector: "Fixed", text: "s3cret", timeout_ms: 1_000 }),
    );
    expect(JSON.stringify(done)).not.toContain("s3cret");
    expect(`${failure.stack} ${JSON.stringify(failure.details)} ${String(failure.cause)}`).not.toContain(
      "s3cret",
    );
  });

  it.each([
    ["OK", "key Enter"],
    ["UP", "key ArrowUp"],
    ["HOME", "key Home"],
    ["PAGE_DOWN", "key PageDown"],
    ["esc", "key Escape"],
    ["ctrl+b", "key b"],
    ["F2", "key F2"],
  ])("press_key %s is pressed in the element", async (key, line) => {
    await device.run("press_key", { selector: "Name", key });
    if (key === "OK") await open("/form");
    else expect(await device.log()).toContain(line);
    expect(await device.js("return document.title")).toBe("Form");
  });

  it("press_key names the nearest keys for an unknown one", async () => {
    const failure = await failureOf(device.run("press_key", { key: "PAGEDWN" }));
    expect(failure.code).toBe("INVALID_PARAMS");
    expect(failure.message).toContain("PAGE_DOWN");
  });

  it("select_option chooses by label or value, one or several", async () => {
    await device.run("select_option", { selector: "Plan", option: "Paid" });
    expect(await value("plan")).toBe("p");
    await device.run("select_option", { selector: "Plan", option: "f" });
    expect(await value("plan")).toBe("f");
    await device.run("select_option", { selector: "Colours", option: ["Red", "Blue"] });
    expect(await device.js("return [...colours.selectedOptions].map((o) => o.label)")).toEqual([
      "Red",
      "Blue",
    ]);
  });

  it("select_option lists the options when there is no such one", async () => {
    const failure = await failureOf(
      device.run("select_option", { selector: "Plan", option: "Golden", timeout_ms: 1_000 }),
    );
    expect(failure.code).toBe("ELEMENT_NOT_FOUND");
    expect(failure.message).toContain("Free, Paid");
  });

  it("set_checked ticks and unticks, also through the label of a styled box", async () => {
    await device.run("set_checked", { selector: "Agree" });
    await device.run("set_checked", { selector: "id=styled", checked: true });
    expect(await device.js("return [agree.checked, styled.checked]")).toEqual([true, true]);
    await device.run("set_checked", { selector: "Agree", checked: false });
    await device.run("set_checked", { selector: "id=styled", checked: false });
    expect(await device.js("return [agree.checked, styled.checked]")).toEqual([false, false]);
  });

  it("upload_file fills a file field and the dialog that a button opens", async () => {
    await writeFile(join(device.folder, "a.txt"), "alpha");
    await writeFile(join(device.folder, "b.txt"), "beta");
    await open("/upload");
    await device.run("upload_file", { selector: "Document", files: ["a.txt"] });
    await expect.poll(() => device.log()).toEqual(["a.txt: alpha"]);
    await device.run("upload_file", { selector: "Choose a file", files: ["a.txt", "b.txt"] });
    // The page reads its files side by side, and notes each when it is read.
    await expect.poll(() => device.log()).toHaveLength(3);
    expect(await device.log()).toEqual(expect.arrayContaining(["a.txt: alpha", "b.txt: beta"]));
  });

  it("upload_file refuses a path outside of the folder and a file that is not there", async () => {
    await open("/upload");
    const outside = device.run("upload_file", { selector: "Document", files: ["../etc/passwd"] });
    expect((await failureOf(outside)).code).toBe("PATH_DENIED");
    const absent = device.run("upload_file", { selector: "Document", files: ["absent.txt"] });
    expect((await failureOf(absent)).code).toBe("INVALID_PARAMS");
  });
});

describe("what is in the way of an action", () => {
  beforeEach(() => open("/form"));

  it.each([
    ["Off", /disabled/],
    ["id=gone", /hidden/],
    ["Under", /covered by <div id="cover">/],
  ])("a click on %s says why it was not possible", async (selector, reason) => {
    const failure = await failureOf(device.run("click_element", { selector, timeout_ms: 1_000 }));
    expect(failure.code).toBe("ELEMENT_NOT_ACTIONABLE");
    expect(failure.message).toMatch(reason);
  });

  it("a read-only field, an element that is not a field, and one that is not there have codes of their own", async () => {
    const code = async (command: string, params: Record<string, unknown>) =>
      (await failureOf(device.run(command, { ...params, timeout_ms: 1_000 }))).code;
    expect(await code("input_text", { selector: "Fixed", text: "y" })).toBe("ELEMENT_NOT_ACTIONABLE");
    expect(await code("input_text", { selector: "id=form", text: "y" })).toBe("COMMAND_UNSUITABLE");
    expect(await code("click_element", { selector: "Nowhere" })).toBe("ELEMENT_NOT_FOUND");
    expect(await code("click_element", { selector: "css=option" })).toBe("ELEMENT_AMBIGUOUS");
    expect(await code("click_element", {})).toBe("INVALID_PARAMS");
  });
});

describe("frames, shadow DOM and scrolling", () => {
  it("reaches nested frames and shadow roots", async () => {
    await open("/frames");
    await device.run("click_element", { selector: "Inner button" });
    await device.run("input_text", { selector: "Deep field", text: "deep" });
    expect(await device.js("return frames[0].document.querySelector('#log').textContent")).toBe(
      "inner clicked",
    );
    expect(await device.js("return frames[0].frames[0].document.querySelector('input').value")).toBe("deep");
    await open("/shadow");
    await device.run("click_element", { selector: "Shadow button" });
    expect(await device.js("return document.title")).toBe("Shadow clicked");
  });

  it("scroll moves the page by an amount, to its ends, and says where it is", async () => {
    await open("/scroll");
    const down = await device.run("scroll", { amount: 300 });
    expect(down.data).toEqual({ x: 0, y: 300, at_end: false });
    expect(await device.js("return scrollY")).toBe(300);
    expect((await device.run("scroll", { direction: "bottom" })).data?.at_end).toBe(true);
    expect((await device.run("scroll", { direction: "top" })).data).toEqual({ x: 0, y: 0, at_end: true });
  });

  it("scroll with an element moves the area that it is in", async () => {
    await open("/scroll");
    await device.run("scroll", { selector: "In the box", amount: 200 });
    expect(await device.js("return [box.scrollTop, scrollY]")).toEqual([200, 0]);
  });

  it("scroll_to_element brings it into view", async () => {
    await open("/scroll");
    await device.run("scroll_to_element", { selector: "At the end" });
    expect(await device.js("return scrollY > 1000")).toBe(true);
  });

  it("clicks in a page of 50,000 nodes", async () => {
    await open("/big");
    await device.js("addEventListener('click', (event) => { document.title = event.target.textContent; })");
    await device.run("click_element", { selector: "css=div:nth-child(12500) button", timeout_ms: 20_000 });
    expect(await device.js("return document.title")).toBe("Open 12499");
  });
});
