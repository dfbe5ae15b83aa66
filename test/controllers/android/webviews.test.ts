import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import type { UiNode } from "../../lab/android/labUi.ts";
import { chromedrivers, driverProgram, nothingLeft } from "./driverTraces.ts";
import { openAndroid } from "./openAndroid.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const samples = "dev.labwright.samples";
const own = `WEBVIEW_${samples}`;

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;

const open = (more: object = { chromedriver: "chromedriver" }) =>
  openAndroid({ adb_port: lab.adbPort, backend: "uiautomator2", ...more });
beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone", webView: { chromium: "chromium" } }] });
  phone = await open();
});
afterAll(async () => {
  await phone?.close();
  await lab?.close();
});

const device = () => lab.at(0).device;
const snapshot = () => phone.dump();
const holds = async (check: string, params: object) => (await phone.read(check, { ...params })).holds;

/** The page anew, in an app that was started anew. */
async function showPage(): Promise<void> {
  device().ui.stop(samples);
  device().ui.open("labsamples://web");
  await device().ui.settle();
}

/** What is said of the page, which has a frame of another origin. */
const missing = [
  expect.stringContaining("some elements of the screen are not read"),
  expect.stringContaining("frames of other origins"),
];

describe("the page in a WebView", () => {
  beforeEach(showPage);

  it("is in the dump in the place of accessibility's nodes, with facts that only the page knows", async () => {
    const { elements, notices } = await snapshot();
    const lines = elements.map(({ role, name, value, states }) => [role, name, value, ...states].join("|"));
    expect(lines).toEqual([
      "text|Web page|",
      "region|Garden shop|",
      "text|Order seeds|",
      "textbox|Your name|",
      "textbox|PIN|",
      "checkbox|As a gift|",
      "combobox|Size|Small",
      "button|Order now|",
      "button|Sold out||disabled",
      "text|Nothing ordered|",
      "text|Tomato|",
      "text|Bean|",
      "link|Basket|",
      "button|Ask for help|",
      "button|Rate us|",
      "button|Row one|",
    ]);
    expect(notices).toEqual(missing);
    // The frame that was not read may have it.
    const absent = await phone.read("text_visible", { text: "No such text" });
    expect(absent.inconclusive).toContain("some elements of the screen are not read");
    await device().ui.settle();
    const nodes = (node: UiNode): UiNode[] => [node, ...node.children.flatMap(nodes)];
    for (const name of ["Order now", "Bean", "Ask for help", "Rate us"]) {
      const native = nodes(device().ui.active().root).find(({ text }) => text === name)?.bounds;
      const rect = elements.find((element) => element.name === name)?.rect;
      for (const side of ["x", "y", "width", "height"] as const)
        expect(Math.abs((rect?.[side] ?? 0) - (native?.[side] ?? 0))).toBeLessThanOrEqual(2);
    }
  });

  it.each([
    ["its text", "Order now", "Ordered for"],
    ["its test id", "id=order", "Ordered for"],
    ["its role, as a link", 'role=link[name="Basket"]', "The basket is empty"],
    ["its text, in a frame", "Ask for help", "Help is on its way"],
    ["its text, where only a script listens", "Row one", "A row was touched"],
    ["its text, in a shadow root", "Rate us", "Rated"],
  ])("is clicked by %s", async (_, selector, said) => {
    await phone.run("click_element", { selector });
    expect(await holds("text_visible", { text: said })).toBe(true);
    expect(await holds("text_visible", { text: "Hidden words" })).toBe(false);
  });

  it.each(["Anna & Söhne 👍🏽", "Anna's 100%s $(id)"])("takes the text %s", async (text) => {
    await phone.run("input_text", { selector: "Your name", text });
    expect(await holds("element_value", { selector: "Your name", value: text })).toBe(true);
    await phone.run("click_element", { selector: "Order now" });
    expect(await holds("element_text", { selector: "id=said", text: `Ordered for ${text}` })).toBe(true);
  });

  it("hides passwords, and says what is on, disabled and focused", async () => {
    await phone.run("input_text", { selector: "PIN", text: "1234" });
    expect(JSON.stringify(await snapshot())).not.toContain("1234");
    expect(await holds("element_focused", { selector: "PIN" })).toBe(true);
    expect(await holds("element_checked", { selector: "As a gift" })).toBe(false);
    await phone.run("click_element", { selector: "As a gift" });
    expect(await holds("element_checked", { selector: "As a gift" })).toBe(true);
    expect(await holds("element_enabled", { selector: "Sold out" })).toBe(false);
  });

  it("is scrolled to what is below", async () => {
    expect(await holds("element_visible", { selector: "The end of the page" })).toBe(false);
    await phone.run("scroll_to_element", { selector: "The end of the page" });
    expect(await holds("element_visible", { selector: "The end of the page" })).toBe(true);
    expect(await holds("element_visible", { selector: "Order now" })).toBe(false);
  });

  it("stands in its place when the device is turned", async () => {
    await phone.run("rotate", { to: "landscape" });
    await phone.run("click_element", { selector: "Order now" });
    expect(await holds("text_visible", { text: "Ordered for" })).toBe(true);
    await phone.run("rotate", { to: "portrait" });
  });

  it("has refs that stay, also when the app is started again", async () => {
    const before = await phone.refOf("Order now");
    await showPage();
    expect(await phone.refOf("Order now")).toBe(before);
    await phone.run("click_element", { ref: before });
    expect(await holds("text_visible", { text: "Ordered for" })).toBe(true);
  });
});

describe("switch_context", () => {
  beforeEach(async () => {
    await showPage();
    await phone.run("switch_context", { context: "auto" });
  });
  const isPageRead = async () => (await phone.lines()).includes('textbox "Your name" = ');

  it("reads what accessibility knows, and the page again", async () => {
    const { data } = await phone.run("switch_context", { context: "NATIVE_APP" });
    expect(data).toEqual({ context: "NATIVE_APP", contexts: ["NATIVE_APP", own] });
    expect(await isPageRead()).toBe(false);
    expect(await phone.lines()).toContain('button "Order now"');
    await phone.run("switch_context", { context: own });
    expect(await isPageRead()).toBe(true);
  });

  it("refuses an unknown context and lists the existing ones", async () => {
    await expect(phone.run("switch_context", { context: "WEBVIEW_com.other" })).rejects.toMatchObject({
      code: "CONTEXT_NOT_FOUND",
      message: expect.stringContaining(`auto, NATIVE_APP, ${own}`),
    });
    expect(await isPageRead()).toBe(true);
  });

  it("is set back for the next client", async () => {
    await phone.run("switch_context", { context: "NATIVE_APP" });
    phone.remote.handOver?.();
    expect(await isPageRead()).toBe(true);
  });
});

describe("a page that cannot be read", () => {
  const withFaults = async (faults: object, work: () => Promise<void>) => {
    const before = { ...device().faults };
    Object.assign(device().faults, faults);
    try {
      await work();
    } finally {
      Object.assign(device().faults, before);
      phone.remote.handOver?.();
    }
  };
  const notice = (text: string) => expect.arrayContaining([expect.stringContaining(text)]);

  it("since the app does not let it, is a notice, and an error where it was asked for by name", async () => {
    await showPage();
    await phone.run("switch_context", { context: own });
    await withFaults({ webViewsNotDebuggable: true }, async () => {
      await showPage();
      await expect(snapshot()).rejects.toMatchObject({ code: "WEBVIEW_NOT_DEBUGGABLE" });
      phone.remote.handOver?.();
      const { elements, notices } = await snapshot();
      expect(notices).toEqual(notice("setWebContentsDebuggingEnabled"));
      expect(elements.map(({ name }) => name)).toContain("Order now");
    });
  });

  it("since chromedriver is for another version, says both versions", async () => {
    await withFaults({ webViewVersion: "113.0.5672.136" }, async () => {
      await showPage();
      expect((await snapshot()).notices).toEqual(notice("CHROMEDRIVER_MISMATCH"));
      await expect(phone.run("switch_context", { context: own })).rejects.toMatchObject({
        code: "CHROMEDRIVER_MISMATCH",
        details: { webview: "113.0.5672.136", chromedriver: expect.stringMatching(/^\d+$/) },
      });
      expect((await snapshot()).elements.map(({ name }) => name)).toContain("Order now");
    });
  });

  it("since there is no such program, says so", async () => {
    await showPage();
    const other = await open({ chromedriver: "/nowhere/chromedriver" });
    const { notices } = await other.dump();
    expect(notices).toEqual(notice("no program /nowhere/chromedriver"));
    await other.close();
  });
});

describe("chromedriver", () => {
  it("whose answer has no end is left, and the screen is read without it", async () => {
    await showPage();
    const strange = fileURLToPath(new URL("../../fixtures/strangeChromedriver.mjs", import.meta.url));
    const other = await open({ chromedriver: strange });
    const { elements, notices } = await other.dump();
    expect(notices).toContainEqual(expect.stringMatching(/could not be read: .*size of 64000000 exceeded/));
    expect(elements.map(({ name }) => name)).toContain("Order now");
    await other.close();
  });

  it("starts with the first WebView on the screen, and ends with the device", async () => {
    await phone.close();
    device().ui.home();
    phone = await open();
    await snapshot();
    expect(chromedrivers(lab)).toEqual([]);
    await showPage();
    await snapshot();
    expect(chromedrivers(lab)).toHaveLength(1);
    await phone.close();
    await nothingLeft(lab);
    phone = await open();
  });

  it("is replaced when it was killed, or its driver was with -9", async () => {
    await showPage();
    await snapshot();
    const [pid = 0] = chromedrivers(lab);
    process.kill(pid, "SIGKILL");
    expect((await snapshot()).notices).toEqual(missing);
    const [next] = chromedrivers(lab);
    expect(next).not.toBe(pid);
    process.kill(driverProgram(lab), "SIGKILL");
    await nothingLeft(lab);
    expect((await snapshot()).elements.map(({ name }) => name)).toContain("Your name");
  });

  it("is not needed without the setting: nothing starts, and switch_context says what is missing", async () => {
    await phone.close();
    await showPage();
    phone = await open({});
    expect((await snapshot()).notices).toEqual([]);
    expect(chromedrivers(lab)).toEqual([]);
    expect(phone.remote.withheld?.()).toContainEqual({
      name: "switch_context",
      reason: expect.stringContaining("controllers.android.chromedriver"),
    });
    await phone.close();
    phone = await open();
  });
});
