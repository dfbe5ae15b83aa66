import { describe, expect, it } from "vitest";
import { session } from "./uia2Client.ts";
import { tvScreen } from "./uiDevice.ts";

const samples = "dev.labwright.samples";
const settingsApp = "com.android.settings";

describe("touches", () => {
  it("clicks, holds and clicks twice, on an element or at a place", async () => {
    const { ui, clock, post, find, textOf, origin } = await session();
    ui.open("labsamples://gestures");
    const target = await find("xpath", "//android.widget.Button");
    const last = async () => textOf(await find("id", "last"));
    await post("/appium/gestures/click", { origin: origin(target) });
    expect(await last()).toBe("tapped");
    await post("/appium/gestures/long_click", { offset: { x: 400, y: 230 }, duration: 700 });
    expect(await last()).toBe("held");
    clock.pass(1_000);
    const twice = post("/appium/gestures/double_click", { origin: origin(target) });
    await expect.poll(() => clock.waiting).toBe(1);
    clock.pass(150);
    await twice;
    expect(await last()).toBe("tapped twice");
    expect((await post("/appium/gestures/click")).error).toBe("invalid argument");
  });

  it("drags, and pinches with two fingers", async () => {
    const { ui, post, find, rectOf, origin, texts } = await session();
    ui.open("labsamples://gestures");
    const box = await rectOf(await find("id", "box"));
    const end = { x: box.x + 50, y: box.y + 50 };
    await post("/appium/gestures/drag", { origin: origin(await find("id", "parcel")), end });
    expect(texts()).toContain("Box: full");
    await post("/appium/gestures/pinch_open", { origin: origin(await find("id", "map")), percent: 0.5 });
    expect(texts()).toContain("Map 150 %");
    await post("/appium/gestures/pinch_close", { origin: origin(await find("id", "map")), percent: 0.5 });
    expect(texts()).toContain("Map 100 %");
  });

  it("scrolls by its part of the area and says whether it can go on; a fling goes further", async () => {
    const { ui, get, post, find, rectOf, origin } = await session();
    ui.start({ packageName: settingsApp });
    const area = origin(await find("id", "recycler_view"));
    const row = await find("xpath", "//*[@text='Storage']");
    const y = async () => (await rectOf(row)).y;
    const before = await y();
    expect(
      (await post("/appium/gestures/scroll", { origin: area, direction: "down", percent: 0.1 })).value,
    ).toBe(true);
    expect(before - (await y())).toBe(211);
    expect((await post("/appium/gestures/scroll", { origin: area, direction: "up", percent: 1 })).value).toBe(
      false,
    );
    expect(
      (await post("/appium/gestures/fling", { origin: area, direction: "down", speed: 3_000 })).value,
    ).toBe(true);
    expect((await get(`/element/${row}/rect`)).error).toBe("stale element reference");
    expect((await post("/appium/gestures/fling", { origin: area, direction: "down" })).value).toBe(false);
  });

  it("performs W3C actions: a tap, a hold, a swipe that rests, two fingers and keys", async () => {
    const { ui, post, find, rectOf, origin, texts } = await session();
    ui.open("labsamples://gestures");
    const target = await find("xpath", "//android.widget.Button");
    const finger = (id: string, actions: object[]) => ({
      ...{ type: "pointer", id, parameters: { pointerType: "touch" }, actions },
    });
    const move = (x: number, y: number, duration = 0, from: object | string = "viewport") => ({
      ...{ type: "pointerMove", x, y, duration, origin: from },
    });
    const [down, up] = [
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
    ];
    const hold = (duration: number) => ({ type: "pause", duration });
    const perform = (...actions: object[]) => post("/actions", { actions });
    await perform(finger("a", [move(0, 0, 0, origin(target)), down, hold(600), up]));
    expect(texts()).toContain("held");
    await perform(finger("a", [move(0, 0, 0, origin(target)), down, hold(50), up]));
    expect(texts()).toContain("tapped");
    await perform(
      finger("a", [move(400, 1_500), down, move(300, 1_500, 200), up]),
      finger("b", [move(600, 1_500), down, move(700, 1_500, 200), up]),
    );
    expect(texts()).toContain("Map 200 %");
    ui.start({ packageName: settingsApp });
    const storage = await find("xpath", "//*[@text='Storage']");
    const before = await rectOf(storage);
    await perform(finger("a", [move(500, 1_500), down, move(500, 1_300, 100), hold(300), up]));
    const after = await rectOf(storage);
    expect(before.y - after.y).toBe(200);
    ui.open("labsamples://text");
    await post(`/element/${await find("id", "note")}/click`);
    const press = (value: string) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ];
    await perform({ type: "key", id: "k", actions: [..."aé!", "\uE003"].flatMap(press) });
    expect(texts()).toContain("You wrote: aé");
  });

  it("presses keys and Back, opens the shade, and moves the focus of a television", async () => {
    const { ui, server, post, focused } = await session(tvScreen);
    await post("/appium/device/press_keycode", { keycode: 22 });
    await post("/appium/device/press_keycode", { keycode: "23", metastate: 0 });
    expect(ui.front().activity).toBe(".Grid");
    expect(focused()).toBe("Film 1");
    await post("/back");
    expect(ui.front().activity).toBe(".Main");
    expect(server.requests.every(({ status }) => status === 200)).toBe(true);
    const phone = await session();
    await phone.post("/appium/device/open_notifications");
    expect(phone.texts()).toContain("Notifications");
  });

  it("touches what is in front, also where the element that was asked for lies below", async () => {
    const { ui, post, find } = await session();
    ui.start({ packageName: samples });
    ui.faults.keyboardUp = true;
    await post(`/element/${await find("xpath", "//*[@text='Crash']")}/click`);
    expect(ui.running()).toContain(samples);
  });
});
