import { beforeAll, describe, expect, it } from "vitest";
import { loadExpressions } from "../../../mcp-server/src/services/values/expressions.ts";
import { placeholdersIn } from "../../../mcp-server/src/services/values/placeholders.ts";
import { resolveText, resolveValue, resolveValues } from "../../../mcp-server/src/services/values/values.ts";

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
    expect(() => resolveValue(text, scope)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  });

  it("end within a deadline, whatever they make of their data", () => {
    const text = "x".repeat(20_000);
    const grows = "{{text.replace('x', text).replace('x', text).size()}}";
    expect(() => resolveValue(grows, { text })).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    const twice = { text: "x".repeat(600_000) };
    expect(() => resolveValue("{{text}}{{text}}", twice)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT" }),
    );
  });

  it.each([
    "{{constructor}}",
    "{{name.length}}",
    "{{__proto__}}",
    "{{list[9]}}",
    "{{nobody + 1}}",
  ])("do not resolve %s to anything", (text) => {
    expect(() => resolveValue(text, scope)).toThrow(expect.objectContaining({ code: "UNKNOWN_VARIABLE" }));
  });

  it("are not filled a second time", () => {
    expect(resolveText("say {{text}}", { text: "{{name}}", name: "Anna" })).toBe("say {{name}}");
  });

  it("leave secrets where they stand, also beside others", () => {
    expect(resolveText("{{secret.TOKEN}} of {{name}}", scope)).toBe("{{secret.TOKEN}} of Anna");
    expect(placeholdersIn(["{{secret.TOKEN}}", "{{name}} {{ name }}"])).toEqual(["name"]);
  });
});

describe("secrets in data from outside", () => {
  const page = { read: { output: { text: "{{secret.PASSWORD}}", start: "{{sec", end: "ret.PASSWORD}}" } } };

  it("are refused when an output holds a placeholder", () => {
    expect(() => resolveValue("{{read.output.text}}", page)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT" }),
    );
    expect(() => resolveValue("{{read.output}}", page)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT" }),
    );
  });

  it("are refused when two outputs spell one together", () => {
    expect(() => resolveText("{{read.output.start}}{{read.output.end}}", page)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT" }),
    );
  });

  it("are refused when an output completes the author's text into another secret", () => {
    const data = { read: { output: { name: "PASSWORD" } } };
    expect(() => resolveText("{{secret.{{read.output.name}}}}", data)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT" }),
    );
  });

  it("are refused when an expression puts one together of outputs", () => {
    expect(() => resolveValue("{{read.output.start + read.output.end}}", page)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT" }),
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

describe("braces that are meant themselves", () => {
  const scope = { name: "Ada", env: { url: "http://staging" } };

  it("stand behind a backslash, also beside placeholders and in lists", () => {
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
