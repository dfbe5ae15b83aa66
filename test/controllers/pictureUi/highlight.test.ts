import { describe, expect, it } from "vitest";
import { Highlight, type Painted, painted } from "#controllers/pictureUi/highlight.ts";

const [dark, teal, blue] = [
  [14, 18, 19],
  [14, 75, 92],
  [15, 133, 165],
] as const;
type Entry = [text: string, colour: readonly [number, number, number], x?: number, y?: number];

/** Texts below each other, unless they say where they are. */
const screen = (...entries: Entry[]): Painted[] =>
  entries.map(([text, colour, x = 70, y], at) => ({
    item: { text, confidence: 0.9, rect: { x, y: y ?? 100 + 60 * at, width: 100, height: 20 } },
    colour,
  }));

describe("what the highlight of an app is learnt from", () => {
  it("a highlight that goes to the next entry", () => {
    const highlight = new Highlight();
    const before = screen(["Movies", blue], ["Music", dark], ["Games", dark]);
    const after = screen(["Movies", dark], ["Music", blue], ["Games", dark]);
    expect(highlight.find(after)).toBeUndefined();
    highlight.learn(before, after, "DOWN");
    expect(highlight.find(after)?.text).toBe("Music");
    expect(highlight.find(before)?.text).toBe("Movies");
    expect(highlight.find(screen(["Movies", dark], ["Music", dark]))).toBeUndefined();
  });

  it("a list that moves under a highlight that stands still", () => {
    const highlight = new Highlight();
    const after = screen(["Music", blue], ["Games", dark], ["Radio", dark]);
    highlight.learn(screen(["Movies", blue], ["Music", dark], ["Games", dark]), after, "DOWN");
    expect(highlight.find(after)?.text).toBe("Music");
  });

  it("two entries, by the way that the arrow goes", () => {
    const [yes, no] = [screen(["Yes", blue], ["No", dark]), screen(["Yes", dark], ["No", blue])];
    for (const [before, after, arrow] of [
      [yes, no, "DOWN"],
      [no, yes, "UP"],
    ] as const) {
      const highlight = new Highlight();
      highlight.learn(before, after, arrow);
      expect(highlight.find(after)?.text).toBe(arrow === "DOWN" ? "No" : "Yes");
    }
  });

  it("a focus that came from an icon without a text, or went to one", () => {
    const [on, off] = [
      screen(["Movies", blue], ["Music", dark], ["Games", dark]),
      screen(["Movies", dark], ["Music", dark], ["Games", dark]),
    ];
    for (const [before, after] of [
      [on, off],
      [off, on],
    ] as const) {
      const highlight = new Highlight();
      highlight.learn(before, after, "DOWN");
      expect(highlight.find(on)?.text).toBe("Movies");
      expect(highlight.find(off)).toBeUndefined();
    }
  });

  it("an icon that had it, while the menu below showed it too", () => {
    const highlight = new Highlight();
    const menu: Entry[] = [
      ["Movies", blue],
      ["Music", dark],
      ["Games", dark],
      ["Radio", dark],
    ];
    const below = screen(["gear", dark], ...menu);
    highlight.learn(screen(["gear", blue], ...menu), below, "DOWN");
    expect(highlight.find(below)?.text).toBe("Movies");
  });

  it("a control with a highlight of its own, once another one is known", () => {
    const highlight = new Highlight();
    const list = screen(["General", dark], ["Weather", blue], ["Standard", dark]);
    highlight.learn(screen(["General", blue], ["Weather", dark], ["Standard", dark]), list, "DOWN");
    const bright = [40, 190, 235] as const;
    const below = screen(["General", dark], ["Weather", teal], ["Standard", bright]);
    highlight.learn(list, below, "DOWN");
    expect(highlight.find(below)?.text).toBe("Standard");
    expect(highlight.find(list)?.text).toBe("Weather");
  });

  it("not a clock that goes on, a text that is replaced, or another screen", () => {
    const highlight = new Highlight();
    const clock = (text: string): Entry => [text, blue, 1_000, 20];
    highlight.learn(
      screen(["Movies", dark], ["Music", dark], clock("5:50 PM")),
      screen(["Movies", dark], ["Music", dark], clock("5:51 PM")),
      "DOWN",
    );
    const other = screen(["File manager", blue], ["Add-ons", dark]);
    highlight.learn(screen(["Movies", blue], ["Music", dark]), other, "RIGHT");
    expect(highlight.find(other)).toBeUndefined();
  });
});

describe("where the focus is", () => {
  const highlight = new Highlight();
  highlight.learn(
    screen(["Movies", blue], ["Music", dark], ["Games", dark]),
    screen(["Movies", dark], ["Music", blue], ["Games", dark]),
    "DOWN",
  );

  it("the name, of the texts in one entry", () => {
    const entry = screen(["2", blue, 20, 100], ["Beta Sports", blue, 70, 102], ["3", dark], ["Gamma", dark]);
    expect(highlight.find(entry)?.text).toBe("Beta Sports");
  });

  it("unknown, while two entries have the highlight", () => {
    expect(highlight.find(screen(["Movies", blue], ["Music", dark], ["Games", blue]))).toBeUndefined();
  });
});

it("takes the colour behind a text from around its letters, and that of a picture from its edge", () => {
  const [width, height] = [60, 40];
  const bytes = new Uint8Array(width * height * 3).fill(10);
  for (let y = 5; y < 35; y++)
    for (let x = 5; x < 55; x++) bytes.set(y >= 15 && y < 25 ? [255, 255, 255] : blue, (y * width + x) * 3);
  const text = { text: "Movies", confidence: 1, rect: { x: 10, y: 15, width: 40, height: 10 } };
  const picture = {
    text: "gear",
    confidence: 1,
    isPicture: true as const,
    rect: { x: 5, y: 5, width: 50, height: 30 },
  };
  const colours = painted([text, picture], { bytes, width, height }).map(({ colour }) => colour);
  expect(colours).toEqual([blue, blue]);
});
