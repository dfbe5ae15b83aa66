import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { makeAndroid, never, openAndroid, refused } from "./openAndroid.ts";

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;
const samples = { app: { package: "dev.labwright.samples" } };

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }] });
});
afterAll(() => lab.close());

const settingsAt = (at: number) => lab.at(at).settings;
const uiAt = (at: number) => lab.at(at).device.ui;

beforeEach(async () => {
  phone = await openAndroid(settingsAt(0));
  await phone.run("close_app", samples);
  await phone.run("open_app", samples);
});
afterEach(() => phone.close());

const openSample = (name: string) => phone.run("click_element", { selector: name });

describe("touches", () => {
  it("click an element by name, by ref, and one that appears late", async () => {
    await phone.run("click_element", { ref: await phone.refOf("Form") });
    expect(await phone.lines()).toContain('text "Form"');
    await phone.run("go_back");
    setTimeout(() => uiAt(0).start({ packageName: samples.app.package, activity: ".Form" }), 300);
    await phone.run("click_element", { selector: "Send me news", timeout_ms: 10_000 });
    expect(await phone.lines()).toContain('checkbox "Send me news" checked');
  });

  it("report what they did after the input was sent", async () => {
    const before = performance.now();
    const { message, sentAt } = await openSample("Form");
    expect(message).toBe('clicked listitem "Form"');
    expect(sentAt).toBeGreaterThan(before);
  });

  it("of an unknown, an ambiguous, a stale and a disabled element end in their codes", async () => {
    await expect(phone.run("click_element", { selector: "Fomr", timeout_ms: 1 })).rejects.toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      details: { nearest: expect.arrayContaining(["Form"]) },
    });
    await expect(phone.run("click_element", { selector: "role=listitem" })).rejects.toEqual(
      refused("ELEMENT_AMBIGUOUS"),
    );
    const ref = await phone.refOf("Form");
    await openSample("Text");
    await expect(phone.run("click_element", { ref })).rejects.toEqual(refused("STALE_REF"));
    await expect(phone.run("click_element", { ref: "e99999" })).rejects.toEqual(refused("ELEMENT_NOT_FOUND"));
    await expect(phone.run("click_element", { selector: "css=a" })).rejects.toEqual(
      refused("INVALID_SELECTOR"),
    );
  });

  it("are long, double and single ones", async () => {
    await openSample("Gestures");
    const last = () =>
      phone.read("element_text", { selector: "id=dev.labwright.samples:id/last", text: "held" });
    await phone.run("long_press", { selector: "Hold or tap twice" });
    expect(await last()).toMatchObject({ holds: true });
    await phone.run("double_click", { selector: "Hold or tap twice" });
    await phone.holds("text_visible", { text: "tapped twice" });
  });

  it("reach points of the screen", async () => {
    await phone.run("swipe", { from_x: 540, from_y: 1800, to_x: 540, to_y: 900 });
    await phone.run("tap", { x: 540, y: 1200 });
    await phone.run("go_home");
    expect(uiAt(0).front().packageName).not.toBe(samples.app.package);
  });
});

describe("texts", () => {
  const field = { selector: "Note" };
  const hostile = [
    "$(reboot) `reboot`; reboot && x",
    'it\'s "quoted" \\ %s 100%sure',
    "a|b>c<d&e",
    "-n --help",
    " x ",
  ];

  beforeEach(() => openSample("Text"));

  it.each(hostile)("arrive as typed: %j", async (text) => {
    await phone.run("input_text", { ...field, text });
    await phone.holds("element_value", { ...field, value: text, match: "exact" });
  });

  it("replace the text of a field, or are appended to it", async () => {
    await phone.run("input_text", { ...field, text: "first" });
    await phone.run("input_text", { ...field, text: "second" });
    await phone.run("type_text", { ...field, text: " more" });
    await phone.run("type_text", { text: " still" });
    await phone.holds("element_value", { ...field, value: "second more still" });
    await phone.run("input_text", { ...field, text: "" });
    await phone.holds("element_value", { ...field, value: "" });
  });

  it("of a password are never in the answer, and its field reads as dots", async () => {
    const { message } = await phone.run("input_text", { selector: "PIN", text: "hunter2" });
    expect(message).not.toContain("hunter2");
    const value = await phone.read("element_value", { selector: "PIN", value: "hunter2" });
    expect(value.holds).toBe(false);
    expect(value.actual).toContain("•");
  });

  it("that adb cannot type are UNICODE_UNSUPPORTED before anything is typed", async () => {
    await phone.run("input_text", { ...field, text: "before" });
    await expect(phone.run("input_text", { ...field, text: "naïve 😀" })).rejects.toEqual(
      refused("UNICODE_UNSUPPORTED"),
    );
    await phone.holds("element_value", { ...field, value: "before" });
  });

  it("of 1,000 characters arrive whole", async () => {
    const text = `${"it's 100%sure; ".repeat(66)}end`;
    await phone.run("input_text", { ...field, text });
    await phone.holds("element_value", { ...field, value: text, match: "exact" });
    await phone.run("input_text", { ...field, text: "" });
  });

  it("go into a field of an older Android, which reports no hint, and are removed again", async () => {
    const tv = await openAndroid(settingsAt(1));
    await tv.run("open_app", { app: { package: "dev.labwright.shop" } });
    await tv.run("input_text", { selector: "Search", text: "Rug" });
    await tv.holds("element_value", { selector: "role=textbox", value: "Rug" });
    await tv.run("input_text", { selector: "role=textbox", text: "" });
    await tv.holds("text_visible", { text: "Chair" });
    await tv.close();
  });

  it("go into fields only", async () => {
    await expect(phone.run("input_text", { selector: "role=text[name=Text]", text: "x" })).rejects.toEqual(
      refused("ELEMENT_NOT_ACTIONABLE"),
    );
  });
});

it("a text for no field is refused, and typed nowhere", async () => {
  await phone.run("go_home");
  await expect(phone.run("type_text", { text: "lost" })).rejects.toEqual(refused("INPUT_NOT_TAKEN"));
});

describe("scrolling", () => {
  const settings = { app: { package: "com.android.settings" } };
  beforeEach(() => phone.run("open_app", settings));
  afterEach(() => phone.run("close_app", settings));

  it("shows what is further down, the bottom, and the top again", async () => {
    await phone.holds("element_visible", { selector: "About phone" }, false);
    await phone.run("scroll", { direction: "bottom" });
    await phone.holds("element_visible", { selector: "About phone" });
    await phone.run("scroll", { direction: "top" });
    await phone.holds("element_visible", { selector: "Wi-Fi" });
    expect((await phone.run("scroll", { direction: "down" })).message).toBe("scrolled down");
    await phone.holds("element_hidden", { selector: "Wi-Fi" });
  });

  it("touches no point beyond the screen", async () => {
    for (const [command, params] of [
      ["tap", { x: 5_000, y: 9_000 }],
      ["tap", { x: 1_200, y: 1_200 }],
      ["swipe", { from_x: 100, from_y: 100, to_x: 100, to_y: 2_400 }],
      ["long_press", { x: 1_080, y: 1_090 }],
    ] as const)
      await expect(phone.run(command, params)).rejects.toEqual(refused("INVALID_PARAMS"));
    await phone.holds("element_visible", { selector: "Wi-Fi" });
    await phone.run("tap", { x: 1_079, y: 2_399 });
  });

  it("says so where nothing scrolled", async () => {
    const nothing = /^nothing scrolled/;
    expect((await phone.run("scroll", { direction: "up" })).message).toMatch(nothing);
    await phone.run("scroll", { direction: "bottom" });
    expect((await phone.run("scroll", { direction: "down" })).message).toMatch(nothing);
    expect((await phone.run("scroll", { direction: "left" })).message).toMatch(nothing);
  });

  it.each(["About phone", "Accessibility", "Wi-Fi"])("finds the row %s", async (selector) => {
    await phone.run("scroll_to_element", { selector });
    await phone.holds("element_visible", { selector });
  });

  it("gives up on a row that is nowhere, and says where it looked", async () => {
    await expect(phone.run("scroll_to_element", { selector: "Nowhere" })).rejects.toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      message: expect.stringMatching(
        /^Nothing matches "Nowhere" after scrolling down and up to both ends: its end after \d+ screens, its beginning after \d+/,
      ),
    });
  });

  it("never takes a row for another one that stands where it stood", async () => {
    const ref = await phone.refOf("Battery");
    await phone.run("scroll", { direction: "bottom" });
    await expect(phone.run("click_element", { ref })).rejects.toEqual(refused("STALE_REF"));
  });
});

describe("keys, apps and dialogs", () => {
  it("hides a keyboard that stands before what is clicked", async () => {
    await openSample("Form");
    await phone.run("input_text", { selector: "Comment", text: "hello" });
    expect(uiAt(0).keyboardShown()).toBe(true);
    await phone.run("click_element", { selector: "role=button[name=Send]" });
    expect(uiAt(0).toasts()).toMatchObject([{ text: "Sent: hello" }]);
  });

  it("presses portable keys, as often as asked, and refuses unknown ones with the nearest", async () => {
    const tv = await openAndroid(settingsAt(1));
    await tv.run("go_home");
    await tv.run("press_key", { key: "DOWN", count: 2 });
    await tv.run("press_key", { key: "OK" });
    await expect(tv.run("press_key", { key: "DWON" })).rejects.toThrow(/DOWN/);
    await tv.close();
  });

  it("opens an app, brings it to the front, and closes it", async () => {
    await phone.run("go_home");
    await phone.run("open_app", samples);
    await phone.holds("app_shown", samples);
    await phone.run("close_app", samples);
    await phone.holds("app_shown", samples, false);
    expect(uiAt(0).running()).not.toContain(samples.app.package);
    await phone.run("close_app", samples);
  });

  it.each([
    [{ package: "com.nowhere" }, "APP_NOT_INSTALLED"],
    [{ package: "dev.labwright.samples", activity: ".Nowhere" }, "ACTIVITY_MISSING"],
    [{ package: "$(reboot)" }, "INVALID_PARAMS"],
    [{ package: "-a" }, "INVALID_PARAMS"],
    [{ package: "dev.labwright.samples", activity: "--user 10" }, "INVALID_PARAMS"],
    [{ url: "https://shop.example" }, "INVALID_PARAMS"],
  ])("refuses to open %j", async (app, code) => {
    await expect(phone.run("open_app", { app })).rejects.toEqual(refused(code));
  });

  it("answers a dialog that is open, and the next one that opens", async () => {
    await openSample("Delete notes");
    await phone.run("handle_dialog", { accept: false });
    await phone.holds("text_visible", { text: "Delete all notes?" }, false);
    await phone.run("handle_dialog", { accept: true });
    await openSample("Delete notes");
    expect(await phone.lines()).toContain('text "Samples"');
  });

  it("answers no dialog with a text that it has no field for", async () => {
    await openSample("Delete notes");
    await expect(phone.run("handle_dialog", { accept: true, prompt_text: "yes" })).rejects.toMatchObject({
      code: "INVALID_PARAMS",
      message: expect.stringContaining("has no field"),
    });
    expect(await phone.lines()).toContain('button "Cancel"');
    await phone.run("handle_dialog", { accept: false });
  });

  it("gives the answer of one client to no dialog of another", async () => {
    await phone.run("handle_dialog", { accept: true });
    phone.remote.handOver?.();
    await openSample("Delete notes");
    expect(await phone.lines()).toContain('button "Cancel"');
    await phone.run("handle_dialog", { accept: false });
  });

  it("says in a dump which dialog is open", async () => {
    await openSample("Delete notes");
    const dump = await phone.remote.elements?.dump({ interactiveOnly: true }, never);
    expect(dump?.notices).toEqual([expect.stringContaining("Delete all notes?")]);
    await phone.run("handle_dialog", { accept: false });
  });

  it("waits for what appears and goes", async () => {
    setTimeout(() => uiAt(0).start({ packageName: samples.app.package, activity: ".Form" }), 300);
    await phone.run("wait_for", { selector: "Send me news", text_gone: "Toolbar" });
    await expect(phone.run("wait_for", { text: "No such text", timeout_ms: 300 })).rejects.toMatchObject({
      code: "COMMAND_TIMEOUT",
      message: expect.stringContaining("Send me news"),
    });
    await expect(phone.run("wait_for", {})).rejects.toEqual(refused("INVALID_PARAMS"));
  });
});

describe("the device's shell", () => {
  it("is closed unless the configuration opens it", async () => {
    expect(phone.remote.withheld?.().map(({ name }) => name)).toContain("device_shell");
    await expect(phone.run("device_shell", { command: "id" })).rejects.toEqual(refused("UNSAFE_DISABLED"));
    const open = makeAndroid(settingsAt(0), { unsafe: { javascript: false, deviceShell: true } });
    await open.remote.open(never);
    expect(open.remote.withheld?.().map(({ name }) => name)).not.toContain("device_shell");
    expect(await open.run("device_shell", { command: "echo a; exit 4" })).toMatchObject({
      data: { code: 4, stdout: "a\n" },
    });
    await open.close();
  });
});

describe("checks", () => {
  it("read states, counts and names; what is not there is a reading with the nearest", async () => {
    await openSample("Form");
    await phone.holds("element_checked", { selector: "Send me news" }, false);
    await phone.run("click_element", { selector: "Send me news" });
    await phone.holds("element_checked", { selector: "Send me news" });
    await phone.holds("element_count", { selector: "role=radio", count: 2 });
    expect(await phone.read("element_exists", { selector: "Sned" })).toMatchObject({
      holds: false,
      missing: "absent",
      nearest: expect.arrayContaining(["Send"]),
    });
    await phone.holds("element_enabled", { selector: "role=button[name=Send]" });
  });
});
