import { beforeAll, describe, expect, it } from "vitest";
import { storable } from "#mcp-server/services/records/executions/storable.ts";
import { compileExpression, holds } from "#mcp-server/services/values/celExpressions.ts";
import { readNumber } from "#mcp-server/services/values/exactNumbers.ts";
import {
  holds as holdsPatiently,
  loadExpressions,
  settled,
} from "#mcp-server/services/values/expressions.ts";
import { placeholdersIn } from "#mcp-server/services/values/placeholders.ts";
import { resolveText, resolveValue, resolveValues } from "#mcp-server/services/values/values.ts";

const coded = (code: string) => expect.objectContaining({ code });

beforeAll(loadExpressions);

const scope = {
  name: "Anna",
  count: 3,
  on: true,
  nothing: null,
  list: [{ id: 7 }, { id: 8 }],
  get: { output: { body: { items: ["a", "b"] }, "content-type": "text/html" } },
};

describe("placeholders", () => {
  it("keep the type of a value that is the whole string", () => {
    expect(resolveValues({ a: "{{count}}", b: "{{ on }}", c: "{{list}}", d: "{{nothing}}" }, scope)).toEqual({
      a: 3,
      b: true,
      c: [{ id: 7 }, { id: 8 }],
      d: null,
    });
  });

  it("are written out inside a longer string, objects as JSON", () => {
    expect(resolveText("{{name}} has {{count}}: {{list}}{{nothing}}", scope)).toBe(
      'Anna has 3: [{"id":7},{"id":8}]',
    );
  });

  it("are filled at any depth and reach into outputs by path and index", () => {
    const value = {
      deep: [{ x: "{{get.output.body.items[1]}}", y: "{{list[0].id}}", z: "{{get.output.content-type}}" }],
    };
    expect(resolveValues(value, scope)).toEqual({ deep: [{ x: "b", y: 7, z: "text/html" }] });
  });

  it("name all that is unknown at once, with the nearest", () => {
    const value = { a: "{{nam}}", b: ["x {{get.output.missing}}"], c: "{{name}}" };
    expect(() => resolveValues(value, scope)).toThrow(
      expect.objectContaining({
        code: "UNKNOWN_VARIABLE",
        message: "Unknown: {{nam}}, {{get.output.missing}}.",
        details: expect.objectContaining({ nearest: expect.arrayContaining(["name"]) }),
      }),
    );
  });

  it.each([
    ["{{count + 1}}", 4],
    ["{{items[count - 2].id}}", 8],
    ["{{items.map(one, one.id * 2)}}", [14, 16]],
    ["{{items.filter(one, one.id > 7)}}", [{ id: 8 }]],
    ["{{name + '!'}}", "Anna!"],
    ["{{double('12.5') * 2}}", 25],
    ["{{count-1}}", 2],
    ["{{size(get.output.body.items)}}", 2],
    ["{{on ? 'yes' : 'no'}}", "yes"],
    ["{{items[loop.index]}} of {{size(items)}}", '{"id":8} of 2'],
  ])("compute %s", (text, value) => {
    expect(resolveValue(text, { ...scope, items: scope.list, loop: { index: 1 } })).toEqual(value);
  });

  it.each([
    "{{}}",
    "{{a b}}",
    "{{1x}}",
    "{{list[count]}}",
    "{{1.0 / 0.0}}",
  ])("that are no expression or one that fails are refused: %s", (text) => {
    expect(() => resolveValue(text, scope)).toThrow(coded("INVALID_INPUT"));
  });

  it("end within a deadline, whatever they make of their data", () => {
    const text = "x".repeat(20_000);
    const grows = "{{text.replace('x', text).replace('x', text).size()}}";
    expect(() => resolveValue(grows, { text })).toThrow(coded("INVALID_INPUT"));
    const twice = { text: "x".repeat(600_000) };
    expect(() => resolveValue("{{text}}{{text}}", twice)).toThrow(coded("INVALID_INPUT"));
  });

  it.each([
    "{{constructor}}",
    "{{name.length}}",
    "{{__proto__}}",
    "{{list[9]}}",
    "{{nobody + 1}}",
  ])("do not resolve %s to anything", (text) => {
    expect(() => resolveValue(text, scope)).toThrow(coded("UNKNOWN_VARIABLE"));
  });

  it("are not filled a second time", () => {
    expect(resolveText("say {{text}}", { text: "{{name}}", name: "Anna" })).toBe("say {{name}}");
  });

  it("leave secrets where they stand, also next to others", () => {
    expect(resolveText("{{secret.TOKEN}} of {{name}}", scope)).toBe("{{secret.TOKEN}} of Anna");
    expect(placeholdersIn(["{{secret.TOKEN}}", "{{name}} {{ name }}"])).toEqual(["name"]);
  });
});

describe("secrets in data from outside", () => {
  const page = { read: { output: { text: "{{secret.PASSWORD}}", start: "{{sec", end: "ret.PASSWORD}}" } } };

  it("are refused when an output holds a placeholder", () => {
    expect(() => resolveValue("{{read.output.text}}", page)).toThrow(coded("INVALID_INPUT"));
    expect(() => resolveValue("{{read.output}}", page)).toThrow(coded("INVALID_INPUT"));
  });

  it("are refused when two outputs spell one together", () => {
    expect(() => resolveText("{{read.output.start}}{{read.output.end}}", page)).toThrow(
      coded("INVALID_INPUT"),
    );
  });

  it("are refused when an output completes the author's text into another secret", () => {
    const data = { read: { output: { name: "PASSWORD" } } };
    expect(() => resolveText("{{secret.{{read.output.name}}}}", data)).toThrow(coded("INVALID_INPUT"));
  });

  it("are refused when an expression puts one together of outputs", () => {
    expect(() => resolveValue("{{read.output.start + read.output.end}}", page)).toThrow(
      coded("INVALID_INPUT"),
    );
    const login = { login: "{{secret.PASSWORD}}", on: true };
    expect(resolveValue("{{on ? login : ''}}", login)).toBe("{{secret.PASSWORD}}");
  });

  it("are the author's own when a variable holds them", () => {
    expect(resolveValue("{{login}}", { login: "{{secret.PASSWORD}}" })).toBe("{{secret.PASSWORD}}");
    expect(resolveText("Bearer {{login}}", { login: "{{secret.PASSWORD}}" })).toBe(
      "Bearer {{secret.PASSWORD}}",
    );
  });
});

describe("literal braces", () => {
  const scope = { name: "Ada", env: { url: "http://staging" } };

  it("stand behind a backslash, also next to placeholders and in lists", () => {
    expect(resolveValue(String.raw`\{{name}} is {{name}}`, scope)).toBe("{{name}} is Ada");
    expect(resolveValues({ list: [String.raw`\{{ anything at all! }}`] }, scope)).toEqual({
      list: ["{{ anything at all! }}"],
    });
    expect(placeholdersIn(String.raw`\{{name}} {{env.url}}`)).toEqual(["env.url"]);
  });

  it("are not those of a secret, which would be filled in", () => {
    expect(() => resolveValue(String.raw`\{{secret.PIN}}`, scope)).toThrow("cannot be written as text");
  });

  it("are named where a variable is unknown", () => {
    expect(() => resolveValue("{{nam}}", scope)).toThrow(
      expect.objectContaining({
        code: "UNKNOWN_VARIABLE",
        hint: expect.stringContaining(String.raw`\{{nam}}`),
      }),
    );
    expect(() => resolveValue("{{env.uri}}", scope)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_VARIABLE", hint: expect.stringContaining("labwright.yaml") }),
    );
  });
});

const celScope = {
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
    expect(holds(source, celScope)).toBe(expected);
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
    expect(() => holds("coutn == 2", celScope)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_VARIABLE", message: "Unknown: {{coutn}}." }),
    );
  });

  it("do not see what a prototype has", () => {
    expect(() => holds("toString == null", celScope)).toThrow(coded("UNKNOWN_VARIABLE"));
    expect(holds("has(get.output.constructor)", celScope)).toBe(false);
  });

  it.each([
    ["count == 2 &&\n  name ~ 1", "2:"],
    ["1 +", "1:"],
    ["count + 'a' == 'b'", "1:6"],
    ["name.matches('[')", "1:5"],
  ])("say where %j is wrong", (source, place) => {
    expect(() => holds(source, celScope)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining(` at ${place}`) }),
    );
  });

  it.each([
    ["get.output.body.user.name == 'x'", /user\.name is missing: get\.output\.body\.user is an object/],
    ["get.output.status + 'a' == 'b'", /get\.output\.status is \d+/],
  ])("of %j find what the data lacks", (source, message) => {
    expect(() => holds(source, celScope)).toThrow(
      expect.objectContaining({ code: "VERIFICATION_FAILED", message: expect.stringMatching(message) }),
    );
  });

  it("say which output a block has not", () => {
    expect(() => holds("loop.index + get.output.nothing", celScope)).toThrow(
      expect.objectContaining({
        code: "INVALID_INPUT",
        message: expect.stringMatching(
          /no block gives: get\.output\.nothing is missing: get\.output is an object/,
        ),
      }),
    );
  });

  it("refuse a result that is neither true nor false", () => {
    expect(() => holds("count + 1", celScope)).toThrow(coded("INVALID_INPUT"));
  });

  it("answer an evil pattern, since the engine does not backtrack", () => {
    expect(holds("text.matches('(a+)+$')", { text: `${"a".repeat(5_000)}!` })).toBe(false);
  });

  it.each([
    ["a long text", `count == ${"1".repeat(2_100)}`],
    ["deep brackets", `${"(".repeat(60)}1${")".repeat(60)} == 1`],
    ["a deep tree", `true${" && (true".repeat(45)}${")".repeat(45)}`],
  ])("refuse %s", (_what, source) => {
    expect(() => compileExpression(source)).toThrow(coded("INVALID_INPUT"));
  });

  it("refuse macros that together would visit too much", async () => {
    const list = Array.from({ length: 2_000 }, (_, index) => index);
    expect(() => holds("xs.all(a, xs.all(b, a + b >= 0))", { xs: list })).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining("would visit") }),
    );
    expect(await holdsPatiently("xs.all(a, a >= 0)", { xs: list })).toBe(true);
  });

  it("are evaluated in a thread when they take long, and come to the same, also within a template", async () => {
    const xs = Array.from({ length: 40_000 }, (_, index) => readNumber(`${index}.0`));
    const template = "{{xs.filter(x, x >= 39999.0)}}";
    expect(await settled(() => resolveValue(template, { xs }))).toEqual([39_999]);
    expect(await holdsPatiently("xs.exists(x, x < 0.0)", { xs })).toBe(false);
    await expect(holdsPatiently("xs.exists(x, y)", { xs })).rejects.toMatchObject({
      code: "UNKNOWN_VARIABLE",
    });
  });

  it.each([
    ["texts", `size(['aa']${".map(x, x + x)".repeat(24)}[0]) > 0`],
    ["replacing", `['a']${".map(x, x.replace('a', 'aaaaaaaaaaaaaaaa'))".repeat(12)}[0] != ''`],
    ["joining", `['aaaaaaaaaa']${".map(x, [x, x, x, x, x, x].join(x))".repeat(10)}[0] != ''`],
  ])("grow no %s beyond a million characters", async (_what, source) => {
    await expect(holdsPatiently(source, {})).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("1000000"),
    });
  });
});

describe("values that grow", () => {
  const texts = Array.from({ length: 2_000 }, () => "x".repeat(1_000));

  it("are refused where an expression gives too many, also of empty texts", async () => {
    const list = Array.from({ length: 40_000 }, () => "");
    expect(await settled(() => resolveValue("{{[list, list]}}", { list }))).toHaveLength(2);
    await expect(settled(() => resolveValue("{{[list, list, list]}}", { list }))).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("100000 values"),
    });
  });

  it("are refused where one step fills in the same data again and again", () => {
    for (const one of ["{{texts}}", "{{texts[0]}} {{texts[1]}}"]) {
      const body = Array.from({ length: 6_000 }, () => one);
      expect(() => resolveValue(body, { texts })).toThrow(
        expect.objectContaining({
          code: "INVALID_INPUT",
          message: expect.stringContaining("10000000 characters"),
        }),
      );
      expect(resolveValue(body.slice(0, 4), { texts })).toHaveLength(4);
    }
  });

  it("are stored only in part, and say so", () => {
    let value: unknown = "x".repeat(100);
    for (let depth = 0; depth < 4; depth++) value = Array.from({ length: 100 }, () => value);
    const text = JSON.stringify(storable(value));
    expect(text).toContain("[99 more]");
    expect(text.length).toBeLessThan(3_000_000);
  });
});
