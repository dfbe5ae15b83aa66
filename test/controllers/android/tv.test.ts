import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { ratioOf, tvLauncher, walkTv } from "../../fixtures/tvWalk.ts";
import { openAndroid } from "./openAndroid.ts";

let lab: AndroidLab;
let tv: Awaited<ReturnType<typeof openAndroid>>;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "tv" }, { persona: "phone" }] });
});
afterAll(() => lab.close());

const uiAt = (at: number) => lab.at(at).device.ui;
const settingsAt = (at: number) => lab.at(at).settings;

beforeEach(async () => {
  tv = await openAndroid(settingsAt(0));
  uiAt(0).home();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await tv.close();
});

const show = (activity: string) => uiAt(0).start({ packageName: tvLauncher, activity });
const focusedOn = async (name: string) =>
  expect((await tv.lines()).filter((line) => line.endsWith("focused"))).toEqual([
    expect.stringContaining(JSON.stringify(name)),
  ]);

it("30 targets are all reached, with at most 1.2 times the fewest presses that a search over the laboratory's TV finds", async () => {
  const key = vi.spyOn(uiAt(0), "key");
  const walked = await walkTv({
    home: () => uiAt(0).home(),
    start: (target) => uiAt(0).start(target),
    async move(selector) {
      key.mockClear();
      await tv.run("move_focus_to", { selector, timeout_ms: 1 });
      return key.mock.calls.map(([code]) => code);
    },
    isFocused: async (selector) => (await tv.read("element_focused", { selector })).holds,
  });
  expect(walked).toHaveLength(30);
  expect(walked.filter(({ isReached }) => !isReached)).toEqual([]);
  expect(ratioOf(walked), JSON.stringify(walked)).toBeLessThanOrEqual(1.2);
}, 120_000);

describe("move_focus_to", () => {
  it("reports a trap with the keys that were tried, and what has the focus", async () => {
    show(".Trap");
    await expect(tv.run("move_focus_to", { selector: "Send", timeout_ms: 1 })).rejects.toMatchObject({
      code: "FOCUS_TRAPPED",
      message: expect.stringMatching(
        /button "\d stars" and no key leads from there to Send: UP, DOWN, LEFT, RIGHT in/,
      ),
    });
  });

  it("ends with the nearest names for a target that is not on the screen", async () => {
    show(".Grid");
    await expect(tv.run("move_focus_to", { selector: "Film 99", timeout_ms: 1 })).rejects.toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      details: { nearest: expect.arrayContaining(["Film 9"]) },
    });
  });

  it("refuses at once what takes no focus, what is named twice, and a ref that no dump gave", async () => {
    const code = (name: string) => expect.objectContaining({ code: name });
    const keys = vi.spyOn(uiAt(0), "key");
    await expect(tv.run("move_focus_to", { selector: 'role=text[name="Drama"]' })).rejects.toEqual(
      code("ELEMENT_NOT_ACTIONABLE"),
    );
    await expect(tv.run("move_focus_to", { selector: "role=button" })).rejects.toEqual(
      code("ELEMENT_AMBIGUOUS"),
    );
    await expect(tv.run("move_focus_to", { ref: "e9999" })).rejects.toEqual(code("ELEMENT_NOT_FOUND"));
    expect(keys).not.toHaveBeenCalled();
  });

  it("takes a ref of a dump, also when the list scrolls on the way", async () => {
    show(".Grid");
    const ref = await tv.refOf("Film 26");
    expect((await tv.run("move_focus_to", { ref })).message).toMatch(
      /"Film 26" has the focus, after 5 key presses/,
    );
    await focusedOn("Film 26");
  });

  it("does not search for a ref of another screen", async () => {
    show(".Grid");
    const ref = await tv.refOf("Film 26");
    show(".Trap");
    const keys = vi.spyOn(uiAt(0), "key");
    await expect(tv.run("move_focus_to", { ref, timeout_ms: 1 })).rejects.toMatchObject({
      code: "STALE_REF",
    });
    expect(keys).not.toHaveBeenCalled();
  });

  it("is withheld on a phone, with the reason", async () => {
    const phone = await openAndroid(settingsAt(1));
    expect(phone.remote.withheld?.()).toContainEqual({
      name: "move_focus_to",
      reason: expect.stringContaining("click_element"),
    });
    expect(tv.remote.withheld?.().map(({ name }) => name)).not.toContain("move_focus_to");
    await phone.close();
  });
});

describe("its contents", () => {
  it("clicks by moving the focus and OK, never by touch", async () => {
    const tap = vi.spyOn(uiAt(0), "tap");
    const key = vi.spyOn(uiAt(0), "key");
    await tv.run("click_element", { selector: "All films" });
    expect(uiAt(0).front().activity).toBe(".Grid");
    const codes = key.mock.calls.map(([code]) => code);
    expect(codes.at(-1)).toBe(23);
    for (const code of codes.slice(0, -1)) expect([19, 20, 21, 22]).toContain(code);
    expect(tap).not.toHaveBeenCalled();
  });

  it("types into a field that has the focus then", async () => {
    show(".Search");
    await tv.run("input_text", { selector: "role=textbox", text: "it's $(x)" });
    await tv.run("input_text", { selector: "role=textbox", text: "the end" });
    await tv.run("type_text", { selector: "role=textbox", text: "ing" });
    await tv.holds("element_value", { selector: "role=textbox", value: "the ending" });
  });

  it("types by the keyboard on the screen where a typed text does not arrive", async () => {
    show(".Code");
    const held = (value: string) =>
      tv.read("element_value", { selector: "role=textbox", value, match: "exact" });
    await tv.run("input_text", { selector: "role=textbox", text: "aab 79" });
    expect(await held("aab 79")).toMatchObject({ holds: true });
    await tv.run("input_text", { selector: "role=textbox", text: "cab" });
    expect(await held("cab")).toMatchObject({ holds: true });
    await expect(tv.run("input_text", { selector: "role=textbox", text: "100%" })).rejects.toMatchObject({
      code: "UNICODE_UNSUPPORTED",
    });
    expect(await held("cab")).toMatchObject({ holds: true });
  });

  it("scrolls by the arrows: about a screen, or to an end, and says when nothing goes on", async () => {
    show(".Grid");
    const shown = async (name: string) =>
      (await tv.lines()).some((line) => line.includes(JSON.stringify(name)));
    const touched = [vi.spyOn(uiAt(0), "tap"), vi.spyOn(uiAt(0), "swipe")];
    expect((await tv.run("scroll", { direction: "down" })).message).toMatch(
      /^scrolled down by \d+ presses of DOWN$/,
    );
    expect(await shown("Film 1")).toBe(false);
    await tv.run("scroll", { direction: "bottom" });
    expect(await shown("Film 32")).toBe(true);
    expect((await tv.run("scroll", { direction: "down" })).message).toBe("nothing went on: it is at the end");
    await tv.run("scroll", { direction: "top" });
    expect(await shown("Film 1")).toBe(true);
    for (const touch of touched) expect(touch).not.toHaveBeenCalled();
  });

  it("brings an element into sight: below, in a row, and one that takes no focus", async () => {
    const swipe = vi.spyOn(uiAt(0), "swipe");
    for (const selector of ["News 6", 'role=text[name="Comedy"]', "Drama 8"]) {
      expect((await tv.run("scroll_to_element", { selector })).message).toMatch(/is on the screen$/);
      await tv.holds("element_visible", { selector });
    }
    await expect(tv.run("scroll_to_element", { selector: "Drama 99", timeout_ms: 1 })).rejects.toMatchObject({
      code: "ELEMENT_NOT_FOUND",
    });
    expect(swipe).not.toHaveBeenCalled();
  });

  it("answers a dialog by the focus and OK", async () => {
    const tap = vi.spyOn(uiAt(0), "tap");
    uiAt(0).crash(tvLauncher, "It broke");
    expect((await tv.run("handle_dialog", { accept: false })).message).toMatch(/^dismissed the dialog/);
    expect(uiAt(0).active().kind).not.toBe("dialog");
    expect(tap).not.toHaveBeenCalled();
  });

  it("holds OK on an element, and refuses to hold a point", async () => {
    const key = vi.spyOn(uiAt(0), "key");
    expect((await tv.run("long_press", { selector: "Search" })).message).toBe('held OK on button "Search"');
    expect(key).toHaveBeenLastCalledWith(23, { long: true });
    await expect(tv.run("long_press", { x: 10, y: 10 })).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  });

  it("withholds commands that need fingers", () => {
    const withheld = tv.remote.withheld?.() ?? [];
    for (const name of ["tap", "swipe", "fling", "drag"])
      expect(withheld).toContainEqual({ name, reason: expect.stringContaining("no touch screen") });
  });
});
