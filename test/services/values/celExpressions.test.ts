import { describe, expect, it } from "vitest";
import { compileExpression, holds } from "../../../mcp-server/src/services/values/celExpressions.ts";

const scope = {
  count: 2,
  price: 2.5,
  name: "Anna",
  nothing: null,
  get: { output: { status: 200, body: { items: [1, 2, 3], user: { age: 30 } } } },
  loop: { index: 1 },
};

describe("expressions", () => {
  it.each([
    ["count == 2", true],
    ["count + 1 == 3", true],
    ["count % 2 == 0", true],
    ["price * 2 == 5.0", true],
    ["count * price == 5", true],
    ["1 + price > 3", true],
    ["7 / 2 == 3", true],
    ["loop.index < 3", true],
    ["loop.index == 1 && name == 'loop.index'", false],
    ["'loop' == \"loop\" && get.output.status == 200", true],
    ["get.output.body.items.size() == 3 && get.output.body.items[1] == 2", true],
    ["get.output.body.items.exists(x, x > 2)", true],
    ["has(get.output.body.user.name)", false],
    ["nothing == null", true],
    ["name.startsWith('An') && name.matches('^A.*a$') && name in ['Anna', 'Bob']", true],
    ["name.lowerAscii() == 'anna'", true],
  ])("%s is %s", (source, expected) => {
    expect(holds(source, scope)).toBe(expected);
  });

  it.each([
    ["list[1] == 4 && list.size() == 2", { list: [3, 4] }, true],
    ["map.a == 1 && type(map.a) == int", { map: { a: 1 } }, true],
    ["type == 'card'", { type: "card" }, true],
    ["string + 'b' == 'ab'", { string: "a" }, true],
    ["int + 1 == 3", { int: 2 }, true],
    ["type(2) == int", {}, true],
  ])("take a variable that has the name of a type: %s", (source, own, expected) => {
    expect(holds(source, own)).toBe(expected);
  });

  it("say which names they read", () => {
    expect(
      compileExpression("loop.index < count && xs.exists(x, x.a == get.output.b) && type(y) == int").names,
    ).toEqual(["count", "get", "loop", "xs", "y"]);
  });

  it("name an unknown variable with the nearest", () => {
    expect(() => holds("coutn == 2", scope)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_VARIABLE", message: "Unknown: {{coutn}}." }),
    );
  });

  it("do not see what a prototype has", () => {
    expect(() => holds("toString == null", scope)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_VARIABLE" }),
    );
    expect(holds("has(get.output.constructor)", scope)).toBe(false);
  });

  it.each([
    ["count == 2 &&\n  name ~ 1", "2:"],
    ["1 +", "1:"],
    ["count + 'a' == 'b'", "1:6"],
    ["name.matches('[')", "1:5"],
  ])("say where %j is wrong", (source, place) => {
    expect(() => holds(source, scope)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining(` at ${place}`) }),
    );
  });

  it.each([
    ["get.output.body.user.name == 'x'", /user\.name is missing: get\.output\.body\.user is an object/],
    ["get.output.status + 'a' == 'b'", /get\.output\.status is \d+/],
  ])("of %j find what the data lacks", (source, message) => {
    expect(() => holds(source, scope)).toThrow(
      expect.objectContaining({ code: "VERIFICATION_FAILED", message: expect.stringMatching(message) }),
    );
  });

  it("say which output a block has not", () => {
    expect(() => holds("loop.index + get.output.nothing", scope)).toThrow(
      expect.objectContaining({
        code: "INVALID_INPUT",
        message: expect.stringMatching(
          /no block gives: get\.output\.nothing is missing: get\.output is an object/,
        ),
      }),
    );
  });

  it("refuse a result that is neither true nor false", () => {
    expect(() => holds("count + 1", scope)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  });

  it("answer an evil pattern, since the engine does not backtrack", () => {
    expect(holds("text.matches('(a+)+$')", { text: `${"a".repeat(5_000)}!` })).toBe(false);
  });

  it.each([
    ["a long text", `count == ${"1".repeat(2_100)}`],
    ["deep brackets", `${"(".repeat(60)}1${")".repeat(60)} == 1`],
    ["a deep tree", `true${" && (true".repeat(45)}${")".repeat(45)}`],
  ])("refuse %s", (_what, source) => {
    expect(() => compileExpression(source)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  });

  it("refuse macros that together would visit too much", () => {
    const list = Array.from({ length: 2_000 }, (_, index) => index);
    expect(() => holds("xs.all(a, xs.all(b, a + b >= 0))", { xs: list })).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining("would visit") }),
    );
    expect(holds("xs.all(a, a >= 0)", { xs: list })).toBe(true);
  });
});
