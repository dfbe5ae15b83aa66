import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { never, openAndroid, portOf, refused } from "./openAndroid.ts";

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;
const samples = { app: { package: "dev.labwright.samples" } };

beforeEach(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  phone = await openAndroid({ adb_port: lab.adbPort });
  await phone.run("open_app", samples);
});
afterEach(async () => {
  await phone.close();
  await lab.close();
});

const device = () => lab.at(0).device;
const snapshot = () => phone.dump();

describe("a screen", () => {
  it("without a root is read again, and is TREE_EMPTY after four reads", async () => {
    device().ui.faults.nullRoots = 2;
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
    device().ui.faults.nullRoots = 4;
    await expect(snapshot()).rejects.toEqual(refused("TREE_EMPTY"));
  });

  it("that never rests is read once, remembered as busy, and read again after an input", async () => {
    device().ui.faults.neverIdle = true;
    await expect(snapshot()).rejects.toEqual(refused("NOT_IDLE"));
    const before = device().traffic.calls;
    await expect(snapshot()).rejects.toEqual(refused("NOT_IDLE"));
    expect(device().traffic.calls).toBe(before);
    device().ui.faults.neverIdle = false;
    await phone.run("press_key", { key: "BACK" });
    expect((await snapshot()).elements.length).toBeGreaterThan(0);
  });

  it("that another program reads is UIA_BUSY", async () => {
    device().system.automation.set("other", () => undefined);
    await expect(snapshot()).rejects.toEqual(refused("UIA_BUSY"));
    device().system.automation.delete("other");
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
  });

  it("that is secure has elements and no picture", async () => {
    await phone.run("scroll_to_element", { selector: "Secret" });
    await phone.run("click_element", { selector: "Secret" });
    await expect(portOf(phone.remote.screen).capture({}, never)).rejects.toEqual(refused("SECURE_SCREEN"));
    await phone.holds("text_visible", { text: "No picture may be taken" });
  });

  it("without a keyboard, of a device that has keys of its own, is not left by hide_keyboard", async () => {
    device().ui.faults.hasHardwareKeyboard = true;
    await phone.holds("keyboard_shown", {}, false);
    expect(await phone.run("hide_keyboard")).toMatchObject({ message: "no keyboard is shown" });
    await phone.holds("app_shown", samples);
  });

  it("of its own is taken a picture of, though a second one comes first", async () => {
    device().ui.faults.secondDisplay = { width: 800, height: 480 };
    const capture = () => portOf(phone.remote.screen).capture({}, never);
    expect(await capture()).toMatchObject({ width: 1080, height: 2400 });
    const before = device().traffic.calls;
    expect(await capture()).toMatchObject({ width: 1080, height: 2400 });
    expect(device().traffic.calls).toBe(before + 1);
    await phone.holds("app_shown", samples);
  });

  it("that is off is black, and not reported as secure", async () => {
    device().ui.power(false);
    expect(await portOf(phone.remote.screen).capture({}, never)).toMatchObject({ width: 1080 });
  });

  it("is read by one program at a time, however many ask", async () => {
    const snapshots = await Promise.all(Array.from({ length: 5 }, () => snapshot()));
    expect(snapshots.every(({ elements }) => elements.length > 3)).toBe(true);
  });
});

describe("an app", () => {
  it("that crashed shows a dialog, which a dump names and handle_dialog closes", async () => {
    device().ui.crash(samples.app.package, "for the test");
    const { notices } = await snapshot();
    expect(notices).toEqual([expect.stringContaining("crashed or does not respond")]);
    await phone.run("handle_dialog", { accept: false });
    expect((await snapshot()).notices).toEqual([]);
  });

  it("that crashed is named when an element is not found because of its dialog", async () => {
    device().ui.crash(samples.app.package, "for the test");
    const named = expect.objectContaining({
      message: expect.stringMatching(
        /crashed or does not respond "Samples.*" is open; handle_dialog answers it/,
      ),
    });
    const target = { selector: "Crash", timeout_ms: 100 };
    await expect(phone.run("click_element", target)).rejects.toEqual(named);
    await expect(phone.run("wait_for", target)).rejects.toEqual(named);
    await expect(phone.run("scroll_to_element", target)).rejects.toEqual(named);
  });

  it("that does not respond is a finding", async () => {
    const reported = new Promise((resolve) => portOf(phone.remote.findings).onFinding(resolve));
    await new Promise((resolve) => setTimeout(resolve, 300));
    device().ui.notResponding(samples.app.package, "Input dispatching timed out");
    expect(await reported).toMatchObject({ kind: "anr", facts: { package: samples.app.package } });
  });
});

describe("a screen that is off", () => {
  const off = /screen is off/;
  beforeEach(() => device().ui.power(false));
  afterEach(() => device().ui.power(true));

  it("makes every snapshot fail, and no check is judged by it", async () => {
    expect((await snapshot()).notices).toContainEqual(expect.stringMatching(off));
    for (const [check, params] of [
      ["text_visible", { text: "Samples" }],
      ["element_hidden", { selector: "Nowhere" }],
      ["element_count", { selector: "Nowhere", count: 0 }],
    ] as const)
      expect(await phone.read(check, params)).toMatchObject({
        holds: false,
        inconclusive: expect.stringMatching(off),
      });
    await expect(phone.run("wait_for", { text: "Samples", timeout_ms: 300 })).rejects.toThrow(off);
  });

  it("takes no touch, and a key or opening an app switches it on", async () => {
    await expect(phone.run("click_element", { selector: "Form" })).rejects.toMatchObject({
      code: "DEVICE_ERROR",
      message: expect.stringMatching(off),
    });
    await phone.run("press_key", { key: "WAKEUP" });
    expect(device().ui.isOn).toBe(true);
    device().ui.power(false);
    await phone.run("open_app", samples);
    expect(device().ui.isOn).toBe(true);
    await phone.run("click_element", { selector: "Form" });
    await phone.run("go_back");
  });
});

describe("a connection that breaks in the middle", () => {
  it("of a tap is TRANSPORT_LOST, and the tap is not sent again", async () => {
    await phone.run("click_element", { selector: "Form" });
    await snapshot();
    device().faults.extraDelayMs.input = 1_000;
    const work = phone.run("tap", { x: 10, y: 10 });
    const outcome = expect(work).rejects.toEqual(refused("TRANSPORT_LOST"));
    await new Promise((resolve) => setTimeout(resolve, 200));
    device().adbd.drop();
    await outcome;
    device().faults.extraDelayMs = {};
    await phone.remote.open(never);
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
  });

  it("of a snapshot or a picture is TRANSPORT_LOST, and the next one is whole", async () => {
    device().faults.dropAfterBytes = 2_000;
    await expect(snapshot()).rejects.toEqual(refused("TRANSPORT_LOST"));
    await phone.remote.open(never);
    device().faults.dropAfterBytes = 50_000;
    await expect(portOf(phone.remote.screen).capture({}, never)).rejects.toEqual(refused("TRANSPORT_LOST"));
    await phone.remote.open(never);
    expect(await portOf(phone.remote.screen).capture({}, never)).toMatchObject({ width: 1080 });
  });
});

it("a slow dump is waited for", async () => {
  device().faults.extraDelayMs.uiautomator = 2_500;
  expect((await snapshot()).elements.length).toBeGreaterThan(3);
});
