import { describe, expect, it } from "vitest";
import { linesOfTsv } from "#controllers/vision/textEngine.ts";
import { lineOf, surest, textsOf } from "#controllers/vision/textLines.ts";
import { distanceWithin, findRepaired, findText } from "#controllers/vision/textMatch.ts";

const word = (text: string, x: number, y: number, confidence = 0.9) => ({
  text,
  confidence,
  rect: { x, y, width: text.length * 10, height: 20 },
});
const texts = [
  lineOf([word("Channel", 0, 0), word("O1O", 80, 0)]),
  lineOf([word("TV", 0, 40), word("shows", 30, 40)]),
];

describe("what was read is compared", () => {
  it("with repairs only where they are asked for, and names them", async () => {
    const wanted = { text: "Channel 010", match: "same" as const };
    expect(await findText({ ...wanted, repair: false }, texts)).toBeUndefined();
    expect(await findText({ ...wanted, repair: true }, texts)).toMatchObject({
      note: 'repaired: it reads "O" for "0"',
    });
    expect(await findRepaired("exact", "Channel 010", texts)).toBeUndefined();
  });

  it("fuzzily within the distance that is stated", async () => {
    const wanted = { text: "TV shaws", match: "fuzzy" as const, repair: false };
    expect(await findText({ ...wanted, distance: 0 }, texts)).toBeUndefined();
    expect(await findText({ ...wanted, distance: 1 }, texts)).toMatchObject({ line: { text: "TV shows" } });
    expect(distanceWithin("set", "settings")).toBeGreaterThan(0);
    expect(distanceWithin("set", "a set of things")).toBe(0);
    expect(distanceWithin("kitten", "sitting")).toBe(3);
  });
});

describe("lines", () => {
  it("are apart where a gap is wide, and a paragraph where they stand below each other", () => {
    const across = lineOf([word("Movies", 0, 0), word("Music", 200, 0)]);
    const below = lineOf([word("and", 0, 26), word("more", 40, 26)]);
    const found = textsOf([across, below]).map(({ text }) => text);
    expect(found).toEqual(["Movies", "Music", "and more", "Movies Music", "Movies and more"]);
  });

  it("count as read in the language that is surest", () => {
    const [eng, fra] = [[lineOf([word("Reglages", 0, 0, 0.7)])], [lineOf([word("Réglages", 0, 0, 0.95)])]];
    expect(surest([eng, fra]).map(({ text }) => text)).toEqual(["Réglages"]);
  });

  it("come from the table of the program", () => {
    const row = (line: number, at: number, text: string, sure: number) =>
      ["5", "1", "1", "1", line, at, at * 10, 5, 9, 12, sure, text].join("\t");
    const table = ["level\tpage", row(1, 1, "Sign", 96), row(1, 2, "in", 90), row(2, 1, "|", 20)].join("\n");
    expect(linesOfTsv(table)).toMatchObject([
      { text: "Sign in", rect: { x: 10, y: 5, width: 19, height: 12 } },
    ]);
  });
});
