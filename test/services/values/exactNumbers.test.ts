import { describe, expect, it } from "vitest";
import {
  compareNumbers,
  ExactNumber,
  isBeyondDouble,
  isMultipleOf,
  isWhole,
  jsonText,
  parseJson,
  readNumber,
  sameJson,
  sameNumber,
  withPlainNumbers,
} from "#mcp-server/services/values/exactNumbers.ts";

const exact = (text: string) => new ExactNumber(text);

describe("numbers as they are written", () => {
  it.each([
    "9007199254740993",
    "1.0",
    "1e2",
    "-0",
    "1.50",
    "-0.0000001",
    "100000000000000000000",
    "0.1000000000000000000000000001",
    "1E400",
    "12",
  ])("keeps %s", (text) => {
    expect(jsonText(parseJson(`{"a":[${text}]}`))).toBe(`{"a":[${text}]}`);
  });

  it.each([["[1"], ["[1.0"]])("refuses what is nested too deep: %s", (start) => {
    const nested = (levels: number) => `${`${start},`.repeat(levels)}1${"]".repeat(levels)}`;
    expect(parseJson(nested(500))).toHaveLength(2);
    for (const levels of [501, 100_000])
      expect(() => parseJson(nested(levels))).toThrow("nested deeper than 500 levels");
  });

  it.each([
    ["1.0", "1", 0],
    ["1e2", "100", 0],
    ["-0", "0", 0],
    ["9007199254740993", "9007199254740992", 1],
    ["0.1", "0.10000000000000000000001", -1],
    ["-2", "1", -1],
    ["-20", "-3", -1],
    ["1e400", "9e399", 1],
    ["0.30000000000000004", "0.3", 1],
    ["120", "12", 1],
  ])("compares %s with %s", (a, b, sign) => {
    expect(Math.sign(compareNumbers(exact(a), exact(b)))).toBe(sign);
    expect(Math.sign(compareNumbers(readNumber(b), readNumber(a))) + 0).toBe(-sign + 0);
  });

  const integers = Array.from({ length: 40 }, (_, at) => (-7n) ** BigInt(at) - BigInt(at * 10 ** 9));
  const pairs = integers.flatMap((a) => integers.map((b) => [a, b] as const));

  it("compares as integers do, whatever the digits", () => {
    const ours = pairs.map(([a, b]) =>
      Math.sign(compareNumbers(readNumber(String(a)), readNumber(String(b)))),
    );
    expect(ours).toEqual(pairs.map(([a, b]) => Number(a > b) - Number(a < b)));
    const divided = pairs.filter(([, b]) => b !== 0n);
    expect(divided.map(([a, b]) => isMultipleOf(readNumber(String(a)), readNumber(String(b))))).toEqual(
      divided.map(([a, b]) => a % b === 0n),
    );
    expect(integers.every((one) => isWhole(readNumber(String(one))))).toBe(true);
  });

  it("judges multiples of decimals", () => {
    expect(isMultipleOf(0.3, 0.1)).toBe(true);
    expect(isMultipleOf(19.99, 0.01)).toBe(true);
    expect(isMultipleOf(readNumber("9007199254740993"), 2)).toBe(false);
    expect(() => isMultipleOf(readNumber("1e100000"), 7)).toThrow(RangeError);
  });

  it("compares whole values", () => {
    const value = parseJson('{"a":[9007199254740993,1.0],"b":{"c":null}}');
    expect(sameJson(value, parseJson('{"b":{"c":null},"a":[9007199254740993,1]}'))).toBe(true);
    expect(sameJson(value, parseJson('{"b":{"c":null},"a":[9007199254740992,1]}'))).toBe(false);
    expect(sameJson([1], { 0: 1 })).toBe(false);
    expect(sameJson(exact("5"), {})).toBe(false);
    expect(sameNumber(exact("5.0"), 5)).toBe(true);
  });

  it("gives those who know doubles only a number they hold, else the digits", () => {
    expect(withPlainNumbers(parseJson("[1.0,9007199254740993]"))).toEqual([1, "9007199254740993"]);
    expect(JSON.stringify(parseJson("[1e2,9007199254740993]"))).toBe('[100,"9007199254740993"]');
    expect(JSON.stringify(parseJson("[1e400,-1e400]"))).toBe('["1e400","-1e400"]');
  });

  it.each([
    ["1e400", true],
    ["-1e400", true],
    ["9007199254740993", true],
    ["0.1", false],
    ["1e2", false],
    ["no number", false],
  ])("says whether a double loses digits of %s", (text, lost) => {
    expect(isBeyondDouble(text)).toBe(lost);
  });
});
