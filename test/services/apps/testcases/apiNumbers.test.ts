import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { apiTests, type Given } from "./apiBench.ts";
import { chain, runSaved, testcase } from "./testcaseBench.ts";

const { bench, folder, ask, answering: serving } = apiTests();
const run = (blocks: readonly Given[], more: Given = {}) =>
  runSaved(bench(), testcase({ ...chain(blocks), ...more }));
const passes = async (blocks: readonly Given[], more: Given = {}) =>
  expect((await run(blocks, more)).status).toBe("passed");
/** Answers with these bytes, and keeps what it was sent. */
async function answering(body: string | Uint8Array, headers: Record<string, string> = {}) {
  const sent: string[] = [];
  const url = await serving((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      sent.push(Buffer.concat(parts).toString("utf8"));
      response.writeHead(200, { "content-type": "application/json", ...headers }).end(body);
    });
  });
  return { url, sent };
}

const big = "{{9007199254740993}}";
const answer =
  '{"id":9007199254740993,"even":9007199254740992,"price":1.0,"e":1e2,"zero":-0,"long":0.10000000000000000000001,' +
  '"sum":0.30000000000000004,"ids":[9007199254740993,9007199254740992],"step":0.3,"huge":123456789012345678901234567890}';
const id = "$.id";

describe("a number beyond a double", () => {
  it.each<[string, Given]>([
    ["equals", { json_path: id, equals: big }],
    ["an even one", { json_path: "$.even", equals: "{{9007199254740992}}" }],
    ["its type", { json_path: id, type: "integer" }],
    ["a pattern", { json_path: id, matches: "^9007199254740993$" }],
    ["1.0 and 1", { json_path: "$.price", equals: 1, type: "integer" }],
    ["1e2 and 100", { json_path: "$.e", equals: 100 }],
    ["-0 and 0", { json_path: "$.zero", equals: 0 }],
    ["a long decimal", { json_path: "$.long", equals: "{{0.10000000000000000000001}}" }],
    ["a list", { json_path: "$.ids", equals: [big, "{{9007199254740992}}"] }],
    ["const", { json_path: id, json_schema: { const: big } }],
    ["enum", { json_path: id, json_schema: { enum: [1, big] } }],
    ["a const in a list", { json_path: "$.ids", json_schema: { prefixItems: [{ const: big }] } }],
    ["const of a list", { json_path: "$.ids", json_schema: { const: [big, "{{9007199254740992}}"] } }],
    ["contains", { json_path: "$.ids", json_schema: { contains: { const: big }, uniqueItems: true } }],
    ["minimum", { json_path: id, json_schema: { type: "integer", minimum: big } }],
    ["exclusiveMinimum", { json_path: id, json_schema: { exclusiveMinimum: "{{9007199254740992}}" } }],
    ["multipleOf", { json_path: "$.step", json_schema: { multipleOf: 0.1 } }],
    ["multipleOf of a big one", { json_path: id, json_schema: { multipleOf: 3, type: "integer" } }],
    [
      "beyond 64 bits",
      { json_path: "$.huge", equals: "{{123456789012345678901234567890}}", type: "integer" },
    ],
  ])("is compared as it is written: %s", async (_, check) => {
    const { url } = await answering(answer);
    await passes([ask(url, { checks: [check] })]);
  });

  it.each<[string, Given, string]>([
    ["equals", { json_path: id, equals: "{{9007199254740992}}" }, "9007199254740993"],
    ["a long decimal", { json_path: "$.long", equals: 0.1 }, "0.10000000000000000000001"],
    ["a sum", { json_path: "$.sum", equals: 0.3 }, "0.30000000000000004"],
    ["1.0 and 2", { json_path: "$.price", equals: 2 }, "1.0"],
    ["1e2", { json_path: "$.e", equals: 101 }, "1e2"],
    ["-0", { json_path: "$.zero", equals: 1 }, "-0"],
    ["a text", { json_path: id, equals: "9007199254740993" }, "9007199254740993"],
    ["a list", { json_path: "$.ids", equals: [big, big] }, "[9007199254740993,9007199254740992]"],
    ["const", { json_path: id, json_schema: { const: "{{9007199254740992}}" } }, "9007199254740993"],
    ["enum", { json_path: id, json_schema: { enum: ["{{9007199254740994}}"] } }, "9007199254740993"],
    ["maximum", { json_path: id, json_schema: { maximum: "{{9007199254740992}}" } }, "9007199254740993"],
    ["minimum", { json_path: id, json_schema: { minimum: "{{9007199254740994}}" } }, "9007199254740993"],
    ["multipleOf", { json_path: id, json_schema: { multipleOf: 2 } }, "9007199254740993"],
    ["integer", { json_path: "$.long", json_schema: { type: "integer" } }, "0.10000000000000000000001"],
    [
      "contains",
      { json_path: "$.ids", json_schema: { contains: { const: "{{9007199254740994}}" } } },
      "9007199254740993",
    ],
  ])("is not taken for its neighbour: %s", async (_, check, found) => {
    const { url } = await answering(answer);
    const reply = await run([ask(url, { checks: [check] })]);
    expect(reply).toMatchObject({ status: "failed", reason: { code: "VERIFICATION_FAILED" } });
    expect(reply.failed_step?.found).toContain(found);
  });

  it("is unique where doubles would be alike, and not where it is written in two ways", async () => {
    const unique = { json_path: "$", json_schema: { uniqueItems: true } };
    const apart = await answering("[9007199254740993, 9007199254740992]");
    await passes([ask(apart.url, { checks: [unique] })]);
    const alike = await answering("[100, 1e2]");
    expect(await run([ask(alike.url, { checks: [unique] })])).toMatchObject({ status: "failed" });
  });

  it("goes on through variables, sums, calls and texts into the next request", async () => {
    const { url, sent } = await answering(answer);
    const reply = await run(
      [
        ask(url, { expect_status: 200 }),
        {
          id: "keep",
          type: "set",
          values: { kept: "{{ask.output.body.id}}", next: "{{ask.output.body.id + 1}}" },
        },
        ask(url, {
          ...{ id: "send", method: "POST", expect_status: 200 },
          body: {
            id: "{{kept}}",
            next: "{{next}}",
            text: "no. {{kept}}",
            all: "{{ask.output.body.ids}}",
            one: "{{ask.output.body.price}}",
          },
        }),
        ask(`${url}/?id={{kept}}`, {
          id: "form",
          method: "POST",
          expect_status: 200,
          form: { id: "{{kept}}" },
        }),
        {
          id: "same",
          type: "condition",
          expression: "ask.output.body.id == 9007199254740993 && kept != 9007199254740992",
        },
        { id: "more", type: "condition", expression: "ask.output.body.ids.exists(x, x == 9007199254740993)" },
        { id: "huge", type: "condition", expression: "ask.output.body.huge > ask.output.body.id" },
      ],
      { variables: { kept: 0, next: 0 } },
    );
    expect(reply.reason).toBeUndefined();
    expect(reply).toMatchObject({ status: "passed" });
    for (const part of [
      '"id":9007199254740993',
      '"next":9007199254740994',
      '"text":"no. 9007199254740993"',
      '"all":[9007199254740993,9007199254740992]',
      '"one":1.0',
    ])
      expect(sent[1]).toContain(part);
    expect(sent[2]).toBe("id=9007199254740993");
    expect(reply.steps[0]?.output).toMatchObject({ body: { id: "9007199254740993", price: 1 } });
  });

  it("is false where an expression compares it with its neighbour", async () => {
    const { url } = await answering(answer);
    const gate = { id: "gate", type: "condition", expression: "ask.output.body.id == 9007199254740992" };
    expect(await run([ask(url), gate])).toMatchObject({
      status: "failed",
      reason: { message: expect.stringContaining("9007199254740993") },
    });
  });

  it("that no expression can hold is said where it is read, and nowhere else", async () => {
    const { url } = await answering(answer);
    const gate = (expression: string) => ({ id: "gate", type: "condition", expression });
    await passes([ask(url), gate("ask.output.body.price == 1")]);
    expect(await run([ask(url), gate("ask.output.body.long != 0.1")])).toMatchObject({
      status: "error",
      reason: { code: "INVALID_INPUT", message: expect.stringContaining("0.10000000000000000000001") },
    });
  });

  it("comes from a row of a file, an input, and a variable", async () => {
    const { url } = await answering(answer);
    await writeFile(join(folder(), "ids.csv"), "id\n9007199254740993\n");
    const check = ask(url, { checks: [{ json_path: id, equals: "{{id}}" }] });
    const inputs = [{ name: "id" }];
    await passes([check], { inputs, types: { id: "number" }, for_each: "ids.csv" });
    await passes([check], { inputs: [{ name: "id", default: big }] });
    await passes([check], { inputs, for_each: [{ id: big }] });
    await passes([check], { variables: { id: big } });
  });

  it("that a call has lost digits of is refused, with how to write it", async () => {
    const { url } = await answering(answer);
    const check = { json_path: id, equals: 2 ** 53 };
    await expect(run([ask(url, { checks: [check] })])).rejects.toMatchObject({
      message: expect.stringContaining("{{9007199254740993}}"),
    });
  });
});

describe("an answer", () => {
  const text = '{"name":"Ünïcødé"}';
  const check = { json_path: "$.name", equals: "Ünïcødé" };
  it.each<[string, Uint8Array, Record<string, string>]>([
    ["gzip", gzipSync(text), { "content-encoding": "gzip" }],
    ["x-gzip, twice", gzipSync(gzipSync(text)), { "content-encoding": "gzip, X-GZIP" }],
    ["br", brotliCompressSync(text), { "content-encoding": "br" }],
    ["deflate", deflateSync(text), { "content-encoding": "deflate" }],
    ["raw deflate", deflateRawSync(text), { "content-encoding": "deflate" }],
    ["iso-8859-1", Buffer.from(text, "latin1"), { "content-type": "application/json; charset=iso-8859-1" }],
    [
      "utf-16",
      Buffer.from(`\ufeff${text}`, "utf16le"),
      { "content-type": 'application/json;charset="UTF-16"' },
    ],
    ["utf-16be by its mark", Buffer.from(`\ufeff${text}`, "utf16le").swap16(), {}],
    ["utf-8 with a mark", Buffer.from(`\ufeff${text}`), {}],
  ])("is decoded: %s", async (_, body, headers) => {
    const { url } = await answering(body, headers);
    await passes([ask(url, { checks: [check] })]);
  });

  it("in Shift JIS is read", async () => {
    const body = Uint8Array.from([0x22, 0x93, 0xfa, 0x96, 0x7b, 0x22]);
    const { url } = await answering(body, { "content-type": "application/json; charset=Shift_JIS" });
    await passes([ask(url, { checks: [{ json_path: "$", equals: "日本" }] })]);
  });

  it.each<[string, string | Uint8Array, Record<string, string>, RegExp]>([
    [
      "bad gzip",
      "not gzip",
      { "content-encoding": "gzip" },
      /not valid gzip: incorrect header check \(status 200\)/,
    ],
    [
      "half a gzip",
      gzipSync(text).subarray(0, 20),
      { "content-encoding": "gzip" },
      /not valid gzip: unexpected end/,
    ],
    ["zstd", "x", { "content-encoding": "zstd" }, /content-encoding is zstd; only gzip, x-gzip, br, deflate/],
    ["an unknown charset", "x", { "content-type": "text/plain; charset=klingon" }, /"klingon"/],
    [
      "too much",
      gzipSync(Buffer.alloc(11_000_000)),
      { "content-encoding": "gzip" },
      /longer than 10000000 bytes/,
    ],
  ])("that is %s is said", async (_, body, headers, message) => {
    const { url } = await answering(body, headers);
    expect(await run([ask(url, { checks: [check] })])).toMatchObject({
      reason: { code: "INVALID_RESPONSE", message: expect.stringMatching(message) },
    });
  });

  it("of JSON that is sent as text is read as JSON by checks that ask for it", async () => {
    const { url } = await answering('{"id":5}', { "content-type": "text/plain" });
    const checks = [
      { json_path: "$.id", equals: 5 },
      { json_schema: { required: ["id"] } },
      { json_path: "$", type: "object" },
      { json_path: "$", equals: '{"id":5}' },
    ];
    await passes([ask(url, { checks })]);
  });

  it("that is no JSON names its status and content type", async () => {
    const html = await answering("<h1>Sign in</h1>", { "content-type": "text/html" });
    const broken = await answering('{"id":', {});
    for (const { url } of [html, broken])
      expect(await run([ask(url, { checks: [{ json_path: "$.id", equals: 5 }] })])).toMatchObject({
        status: "failed",
        failed_step: {
          expected: "a body that is JSON",
          found: expect.stringMatching(/\(status 200, content type (text\/html|application\/json)\)$/),
        },
      });
  });
});

describe("the environment of a run", () => {
  it("gives its variables under env, and a name that it lacks is an error that says where they come from", async () => {
    const { url } = await answering('{"text":"{{name}}"}');
    const block = ask("{{env.url}}/", {
      checks: [{ json_path: "$.text", equals: String.raw`\{{name}}` }],
    });
    const environments = { staging: { variables: { url } }, empty: { variables: {} } };
    const own = bench({ environments });
    const test = testcase(chain([block]));
    expect(await runSaved(own, test, { environment: "staging" })).toMatchObject({ status: "passed" });
    expect(await runSaved(own, test, { environment: "empty" })).toMatchObject({
      status: "error",
      reason: { code: "UNKNOWN_VARIABLE", message: expect.stringContaining("labwright.yaml") },
    });
  });

  it("has secrets, of which a missing one stops the tests that need it and nothing else", async () => {
    const { url, sent } = await answering("{}");
    const own = bench({ secrets: { THERE: "is-there", EMPTY: "" } });
    const post = (name: string) =>
      testcase(chain([ask(url, { method: "POST", expect_status: 200, body: `{{secret.${name}}}` })]));
    await expect(runSaved(own, post("EMPTY"))).rejects.toMatchObject({
      message: expect.stringContaining('"EMPTY" has no value'),
    });
    expect(await runSaved(own, post("THERE"))).toMatchObject({ status: "passed" });
    expect(sent).toEqual(["is-there"]);
  });
});
