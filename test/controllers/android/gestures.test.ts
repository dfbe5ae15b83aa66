import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { openAndroid, refused } from "./openAndroid.ts";

const samples = { app: { package: "dev.labwright.samples" } };
const sampleId = (id: string) => `id=dev.labwright.samples:id/${id}`;

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;

beforeAll(async () => {
  lab = await startAndroidLab({
    devices: [{ persona: "phone" }, { persona: "phone2" }, { persona: "tv" }],
  });
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
const boxHolds = (text: string) => phone.read("element_text", { selector: sampleId("box"), text });

describe("a drag", () => {
  beforeEach(() => openSample("Gestures"));

  it("drops an element on another", async () => {
    expect(await boxHolds("Box: empty")).toMatchObject({ holds: true });
    const { message } = await phone.run("drag", { selector: "Parcel", to_selector: sampleId("box") });
    expect(message).toBe('dragged text "Parcel" to text "Box: empty"');
    expect(await boxHolds("Box: full")).toMatchObject({ holds: true });
  });

  it("goes from a point to an element", async () => {
    const dump = await phone.remote.elements?.dump({ interactiveOnly: false }, AbortSignal.timeout(10_000));
    const rect = dump?.elements.find(({ name }) => name === "Parcel")?.rect;
    if (!rect) throw new Error("There is no parcel.");
    const point = { from_x: rect.x + rect.width / 2, from_y: rect.y + rect.height / 2 };
    await phone.run("drag", { ...point, to_selector: sampleId("box") });
    expect(await boxHolds("Box: full")).toMatchObject({ holds: true });
  });

  it.each([
    { selector: "Parcel" },
    { selector: "Parcel", to_x: 1 },
    { from_x: 1, from_y: 1 },
    {},
  ])("of %j alone is INVALID_PARAMS", async (params) => {
    await expect(phone.run("drag", params)).rejects.toEqual(refused("INVALID_PARAMS"));
  });
});

describe("a fling", () => {
  const settings = { app: { package: "com.android.settings" } };
  beforeEach(() => phone.run("open_app", settings));
  afterEach(() => phone.run("close_app", settings));

  it("goes further than a scroll", async () => {
    const rows = async () => (await phone.lines()).filter((line) => line.startsWith("listitem"));
    const [first] = await rows();
    await phone.run("scroll", { direction: "down" });
    const afterScroll = await rows();
    await phone.run("scroll", { direction: "top" });
    await phone.run("fling", { direction: "down" });
    const afterFling = await rows();
    expect(afterFling).not.toContain(first);
    expect(afterFling).not.toEqual(afterScroll);
    await phone.run("fling", { direction: "up" });
    expect(await rows()).toContain(first);
  });
});

describe("texts and keys", () => {
  beforeEach(() => openSample("Text"));

  it("empties a field, also one that is empty", async () => {
    await phone.run("input_text", { selector: "Note", text: "something" });
    await phone.run("clear_text", { selector: "Note" });
    await phone.run("clear_text", { selector: "Note" });
    await phone.holds("element_value", { selector: "Note", value: "" });
  });

  it("presses keys together", async () => {
    await phone.run("click_element", { selector: "Note" });
    await phone.run("press_keys", { keys: ["SHIFT", "A"] });
    expect(await phone.read("element_value", { selector: "Note", value: "A", match: "exact" })).toMatchObject(
      { holds: true },
    );
    await expect(phone.run("press_keys", { keys: ["CTLR", "A"] })).rejects.toThrow(/CTRL/);
    await expect(phone.run("press_keys", { keys: ["CTRL"] })).rejects.toThrow();
  });

  it("withholds keys together on a phone before Android 12, and says what to do", async () => {
    const old = await openAndroid(settingsAt(1));
    expect(old.remote.withheld?.()).toContainEqual({
      name: "press_keys",
      reason: expect.stringContaining("press_key"),
    });
    await expect(old.run("press_keys", { keys: ["CTRL", "A"] })).rejects.toEqual(refused("DEVICE_ERROR"));
    expect(phone.remote.withheld?.().map(({ name }) => name)).not.toContain("press_keys");
    await old.close();
  });

  it("hides a keyboard, leaves the screen where none is shown, and says when one stays", async () => {
    await phone.run("click_element", { selector: "Note" });
    expect(uiAt(0).keyboardShown()).toBe(true);
    await phone.run("hide_keyboard");
    expect(uiAt(0).keyboardShown()).toBe(false);
    await phone.run("hide_keyboard");
    expect(uiAt(0).front().activity).toBe(".Text");
    uiAt(0).faults.keyboardUp = true;
    await expect(phone.run("hide_keyboard")).rejects.toEqual(refused("DEVICE_ERROR"));
    uiAt(0).faults.keyboardUp = false;
  });
});

describe("notifications", () => {
  it("are pulled down and closed", async () => {
    await phone.run("open_notifications");
    await phone.holds("text_visible", { text: "Notifications" });
    await phone.run("close_notifications");
    await phone.holds("text_visible", { text: "Notifications" }, false);
  });

  it("are withheld on a TV", async () => {
    const tv = await openAndroid(settingsAt(2));
    const withheld = tv.remote.withheld?.().map(({ name }) => name);
    expect(withheld).toEqual(expect.arrayContaining(["open_notifications", "close_notifications", "rotate"]));
    await expect(tv.run("open_notifications")).rejects.toEqual(refused("DEVICE_ERROR"));
    await tv.close();
  });
});
