import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { driverProgram } from "./driverTraces.ts";
import { openAndroid, portOf, refused } from "./openAndroid.ts";

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;
const samples = { app: { package: "dev.labwright.samples" } };

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }] });
  phone = await openAndroid({ ...phoneSettings(), backend: "auto" });
});
afterAll(async () => {
  await phone.close();
  await lab.close();
});

const phoneSettings = () => ({ adb_port: lab.adbPort, serial: lab.devices[0]?.serial });
const device = () => lab.at(0).device;
const ui = () => device().ui;
async function openSample(name: string) {
  await phone.run("close_app", samples);
  await phone.run("open_app", samples);
  await phone.run("click_element", { selector: name });
}

describe("texts through the driver", () => {
  const field = { selector: "Note" };
  const texts = [
    "naïve 😀 日本語",
    "$(reboot) `é`; reboot",
    "first line\nsecond, ünd\tmore",
    "'\"\\ ж & <b>",
  ];

  beforeEach(() => openSample("Text"));

  it.each(texts)("arrive as typed: %j", async (text) => {
    await phone.run("input_text", { ...field, text });
    await phone.holds("element_value", { ...field, value: text, match: "exact" });
  });

  it("are appended to the text, with and without the name of the field", async () => {
    await phone.run("input_text", { ...field, text: "one" });
    await phone.run("type_text", { ...field, text: " zwölf" });
    await phone.run("type_text", { text: " 😀" });
    await phone.holds("element_value", { ...field, value: "one zwölf 😀" });
  });

  it("of a password are never in the answer; only ASCII can be appended to one", async () => {
    const { message } = await phone.run("input_text", { selector: "PIN", text: "größer" });
    expect(message).not.toContain("größer");
    const more = phone.run("type_text", { selector: "PIN", text: "ß" });
    await expect(more).rejects.toEqual(refused("UNICODE_UNSUPPORTED"));
  });

  it("go nowhere where no field has the focus", async () => {
    await phone.run("press_key", { key: "BACK" });
    await phone.run("go_home");
    await expect(phone.run("type_text", { text: "ñ" })).rejects.toEqual(refused("INPUT_NOT_TAKEN"));
  });
});

it("a text whose field's server crashes is UIA_CRASHED, and is not written again", async () => {
  await openSample("Text");
  const field = { selector: "Note" };
  await phone.run("click_element", field);
  const uia2 = device().uia2;
  // The field with the focus is asked for, then the text is sent.
  if (uia2) uia2.faults.crashAfter = 1;
  await expect(phone.run("type_text", { text: "ü" })).rejects.toEqual(refused("UIA_CRASHED"));
  await phone.holds("element_value", { ...field, value: "" });
});

it("a TV's field takes any text, and fingers are withheld", async () => {
  const [, found] = lab.devices;
  if (!found) throw new Error("The laboratory has no TV.");
  const tv = await openAndroid({ adb_port: lab.adbPort, serial: found.serial, backend: "uiautomator2" });
  found.device.ui.start({ packageName: "com.google.android.tvlauncher", activity: ".Search" });
  await tv.run("input_text", { selector: "role=textbox", text: "größer 😀" });
  const value = { selector: "role=textbox", value: "größer 😀", match: "exact" };
  await tv.holds("element_value", value);
  const withheld = portOf(tv.remote.withheld)().filter(({ name }) => name === "pinch");
  expect(withheld).toEqual([{ name: "pinch", reason: expect.stringContaining("no touch screen") }]);
  await tv.close();
});

describe("a tap while the session is open", () => {
  const taps = () => device().uia2?.requests.filter(({ path }) => path.endsWith("/gestures/click")) ?? [];

  it("goes through the driver in one round trip", async () => {
    await openSample("Gestures");
    await phone.lines();
    const { traffic } = device();
    const [before, tapped] = [traffic.calls, taps().length];
    await phone.run("click_element", { selector: "Hold or tap twice" });
    expect(traffic.calls - before).toBe(1);
    expect(taps().length - tapped).toBe(1);
    await phone.holds("text_visible", { text: "tapped" });
  });

  it("that is double goes through it as one gesture: two of adb are too slow until Android 11", async () => {
    await openSample("Gestures");
    await phone.lines();
    const before = device().traffic.calls;
    await phone.run("double_click", { selector: "Hold or tap twice" });
    expect(device().traffic.calls - before).toBe(1);
    await phone.holds("text_visible", { text: "tapped twice" });
  });

  it("under which the server crashes is UIA_CRASHED, and is not sent again", async () => {
    await openSample("Gestures");
    await phone.lines();
    const uia2 = device().uia2;
    if (uia2) uia2.faults.crashAfter = 0;
    const tap = phone.run("click_element", { selector: "Hold or tap twice" });
    await expect(tap).rejects.toEqual(refused("UIA_CRASHED"));
    await phone.holds("text_visible", { text: "nothing yet" });
    expect(taps()).toEqual([]);
  });
});

describe("what only the driver does", () => {
  it("puts a text on the clipboard and reads it", async () => {
    const text = `it's "quoted" 😀\n$(reboot)`;
    await phone.run("write_clipboard", { text });
    expect(ui().clipboard).toBe(text);
    expect((await phone.run("read_clipboard")).data).toEqual({ value: text });
    phone.remote.handOver?.();
    await phone.remote.open(new AbortController().signal);
    expect(ui().clipboard).toBe("");
  });

  it("takes a text off the clipboard also when its process was killed meanwhile", async () => {
    await phone.run("write_clipboard", { text: "of one client" });
    phone.remote.handOver?.();
    process.kill(driverProgram(lab), "SIGKILL");
    await phone.remote.open(new AbortController().signal);
    await expect
      .poll(
        async () => {
          await phone.remote.open(new AbortController().signal);
          return ui().clipboard;
        },
        { timeout: 30_000 },
      )
      .toBe("");
  });

  it("sees toasts", async () => {
    await phone.run("close_app", samples);
    await phone.run("open_app", samples);
    await phone.run("scroll_to_element", { selector: "Show a toast" });
    expect(await phone.read("toast_seen", { text: "Hello" })).toMatchObject({
      holds: false,
      missing: "absent",
    });
    await phone.run("click_element", { selector: "Show a toast" });
    await phone.holds("toast_seen", { text: "hello from" });
    const other = await phone.read("toast_seen", { text: "Goodbye" });
    expect(other).toMatchObject({ holds: false, actual: 'it said "Hello from a toast"' });
  });

  it("pinches an element and the screen", async () => {
    await openSample("Gestures");
    await phone.run("pinch", { selector: "Map 100 %", zoom: "in" });
    await phone.holds("text_visible", { text: "Map 150 %" });
    await phone.run("pinch", { zoom: "out", percent: 50 });
    expect(await phone.run("pinch", { selector: "Map 100 %", zoom: "out", percent: 100 })).toMatchObject({
      message: 'zoomed out on text "Map 100 %"',
    });
    await phone.holds("text_visible", { text: "Map 50 %" });
  });

  it("is withheld with the reason where dumps are used", async () => {
    const other = await openAndroid({ ...phoneSettings(), backend: "dump" });
    const names = (one: typeof other.remote) => portOf(one.withheld)().map(({ name }) => name);
    expect(names(other.remote)).toEqual(
      expect.arrayContaining(["pinch", "write_clipboard", "read_clipboard", "toast_seen"]),
    );
    expect(names(phone.remote)).not.toContain("toast_seen");
    await other.close();
  });
});
