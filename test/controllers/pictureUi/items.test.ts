import { describe, expect, it } from "vitest";
import { alignedRects, isPlain, itemsOf, Spellings, titleOf } from "#controllers/pictureUi/items.ts";
import { lineOf } from "#controllers/vision/textLines.ts";

/** Words of a line, a letter being 10 pixels wide. */
const line = (y: number, ...words: [text: string, x: number, confidence?: number][]) =>
  lineOf(
    words.map(([text, x, confidence = 0.95]) => ({
      text,
      confidence,
      rect: { x, y, width: 10 * text.length, height: 20 },
    })),
  );
const item = (text: string, x: number, y: number, confidence = 0.95) => ({
  text,
  confidence,
  rect: { x, y, width: 10 * text.length, height: 20 },
});
const texts = (items: readonly { text: string }[]) => items.map(({ text }) => text);

describe("the items of a screen", () => {
  it("are without what was read of icons", () => {
    const lines = [
      line(0, ["fu]", 16, 0.3], ["Pictures", 71]),
      line(50, ["$3", 400, 0.75]),
      line(100, ["Go", 71]),
    ];
    expect(texts(itemsOf(lines))).toEqual(["Pictures", "Go"]);
  });

  it("are all keys of a keyboard, of which a reader saw some, and took one for another", () => {
    const read = {
      "5": [488, 434],
      "6": [548, 434],
      "8": [668, 434],
      w: [368, 434],
      u: [609, 498],
      o: [729, 498],
    };
    const more = { n: [549, 619], m: [609, 619] };
    const lines = Object.entries({ ...read, ...more }).map(([key, [x = 0, y = 0]]) => line(y, [key, x]));
    const items = itemsOf([line(56, ["Search", 511]), ...lines]);
    expect(texts(items).join("")).toBe("Search1234567890qwertyuiopasdfghjklzxcvbnm");
    const key = items.find(({ text }) => text === "a");
    expect(key?.rect.x).toBeCloseTo(243, -1);
    expect(Math.abs((key?.rect.y ?? 0) - 560)).toBeLessThan(8);
  });

  it("are no keys where single letters fit no keyboard", () => {
    const read = [..."abcdefgh"].map((key, at) =>
      line(100 + ((at * 37) % 200), [key, 100 + ((at * 71) % 300)]),
    );
    expect(itemsOf(read)).toHaveLength(8);
  });

  it("are spelt as the surest reading had them, and say so", () => {
    const spellings = new Spellings();
    expect(spellings.apply([item("TV shows", 0, 0, 0.92)])).toMatchObject({ repaired: [] });
    const later = spellings.apply([item("TVshows", 0, 60, 0.9), item("TV", 0, 120)]);
    expect(texts(later.items)).toEqual(["TV shows", "TV"]);
    expect(later.repaired).toEqual(['"TV shows" was read as "TVshows", less surely']);
  });

  it("have the edges of their rows and columns", () => {
    const [one, two, button] = [
      item("Movies", 66, 100),
      item("Music videos", 71, 160),
      item("Enter", 500, 163),
    ];
    const rects = alignedRects([one, two, button], { width: 1280, height: 720, rotation: 0 });
    expect(rects.get(one)).toMatchObject({ x: 66, width: 125 });
    expect(rects.get(two)).toEqual({ x: 66, y: 160, width: 125, height: 23 });
    expect(rects.get(button)).toEqual({ x: 500, y: 160, width: 50, height: 23 });
  });

  it("take no focus where they are a clock or a sentence", () => {
    expect(
      ["5:50 PM", "17.05", "There is nothing in this list, sorry"].map((text) => isPlain(item(text, 0, 0))),
    ).toEqual([true, true, true]);
    expect(["Movies", "Remove this main menu item"].map((text) => isPlain(item(text, 0, 0)))).toEqual([
      false,
      false,
    ]);
  });

  it("have a title at the upper left that is no clock", () => {
    const space = { width: 1280, height: 720, rotation: 0 as const };
    expect(titleOf([item("17:05", 20, 10), item("Settings", 20, 40), item("Games", 20, 200)], space)).toBe(
      "Settings",
    );
    expect(titleOf([item("5:50 PM", 1100, 10), item("Games", 20, 200)], space)).toBe("");
  });
});
