import type { BetaMessageParam } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { calls, error, says } from "../../fixtures/messagesApi/reply.ts";
import type { MessagesApi } from "../../fixtures/messagesApi/server.ts";
import { clientOf, openStandin, pngOf, tool } from "./client.ts";

/** It counts as o200k does, so that every figure can be computed by hand. */
const model = "claude-sonnet-4-6";

/** A text of exactly so many o200k tokens: each word is one. */
const words = (count: number, first = "go") => first + " go".repeat(count - 1);
const tokens = (text: string) => encode(text).length;
const minute = 60_000;
const automatic = { cache_control: { type: "ephemeral" as const } };
const systemBlock = (text: string, ttl?: "5m" | "1h") => ({
  type: "text" as const,
  text,
  cache_control: { type: "ephemeral" as const, ...(ttl && { ttl }) },
});
const user = (content: string): BetaMessageParam => ({ role: "user", content });
const assistant = (content: string): BetaMessageParam => ({ role: "assistant", content });

let api: MessagesApi;
let time: number;
let reply = says("ok");
beforeEach(async () => {
  time = 0;
  reply = says("ok");
  const opened = await openStandin({
    respond: () => reply,
    now: () => time,
    keys: ["test-key", "other-key"],
    floors: { "claude-sonnet-4-5": 512, "claude-haiku-4-5": 4_096 },
  });
  api = opened.api;
});
afterEach(() => api.close());

type Given = { system?: string | ReturnType<typeof systemBlock>[]; messages?: BetaMessageParam[] } & Record<
  string,
  unknown
>;

/** [read, written, neither] of one request. */
async function send(given: Given, apiKey = "test-key"): Promise<[number, number, number]> {
  const { usage } = await clientOf(api.url, { apiKey }).beta.messages.create({
    model,
    max_tokens: 100,
    messages: [user("go")],
    ...given,
  });
  return [usage.cache_read_input_tokens ?? 0, usage.cache_creation_input_tokens ?? 0, usage.input_tokens];
}

test("the words of these tests are one token each", () => {
  expect(tokens(words(2_000))).toBe(2_000);
  expect(tokens(words(7, "stop"))).toBe(7);
});

test("a conversation of three turns reads what the turn before wrote", async () => {
  const press = tool("press_key");
  const toolTokens = tokens(JSON.stringify(press));
  const base = { tools: [press], system: [systemBlock(words(2_000))], ...automatic };
  const first = [user(words(60))];
  const use = { type: "tool_use" as const, id: "toolu_1", name: "press_key", input: { key: "HOME" } };
  const callTokens = tokens(JSON.stringify({ name: use.name, input: use.input }));
  const second: BetaMessageParam[] = [
    ...first,
    { role: "assistant", content: [use] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: words(100) }] },
  ];
  const third = [...second, assistant(words(30)), user(words(40))];

  const one = toolTokens + 2_000 + 60;
  const two = one + callTokens + 100;
  expect(await send({ ...base, messages: first })).toEqual([0, one, 0]);
  expect(await send({ ...base, messages: second })).toEqual([one, callTokens + 100, 0]);
  expect(await send({ ...base, messages: third })).toEqual([two, 70, 0]);
  expect(await send({ ...base, messages: [user("stop")] })).toEqual([toolTokens + 2_000, 1, 0]);
});

test("the usage of a stream is that of its beginning, with the output at its end", async () => {
  const client = clientOf(api.url);
  reply = calls("press_key", { key: "HOME" });
  const params = { model, max_tokens: 100, system: [systemBlock(words(1_500))], messages: [user(words(10))] };
  const { usage } = await client.beta.messages.stream(params).finalMessage();
  expect(usage).toMatchObject({
    input_tokens: 10,
    cache_creation_input_tokens: 1_500,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 1_500, ephemeral_1h_input_tokens: 0 },
    output_tokens: tokens('{"name":"press_key"}') + tokens('{"key":"HOME"}'),
  });
  expect(api.requests[0]?.usage.output_tokens).toBe(usage.output_tokens);
});

describe("the floor", () => {
  test.each([
    [model, 1_024],
    ["claude-sonnet-4-5", 512],
    ["claude-haiku-4-5", 4_096],
  ])("of %s is %d tokens: nothing below it is cached", async (of, floor) => {
    const below = { model: of, system: [systemBlock(words(floor - 1))] };
    expect(await send(below)).toEqual([0, 0, floor]);
    expect(await send(below)).toEqual([0, 0, floor]);
    const at = { model: of, system: [systemBlock(words(floor))] };
    expect(await send(at)).toEqual([0, floor, 1]);
    expect(await send(at)).toEqual([floor, 0, 1]);
  });

  test("is passed by the conversation when the system is too short", async () => {
    const given = { system: [systemBlock(words(600))], ...automatic };
    expect(await send({ ...given, messages: [user(words(500))] })).toEqual([0, 1_100, 0]);
    expect(await send({ ...given, messages: [user(words(500, "stop"))] })).toEqual([0, 1_100, 0]);
  });
});

describe("the life of an entry", () => {
  const short = { system: [systemBlock(words(1_200))] };
  const long = { system: [systemBlock(words(1_200), "1h")] };

  test("is five minutes after it was read last", async () => {
    await send(short);
    time += 4 * minute;
    expect(await send(short)).toEqual([1_200, 0, 1]);
    time += 4 * minute;
    expect(await send(short)).toEqual([1_200, 0, 1]);
    time += 5 * minute;
    expect(await send(short)).toEqual([0, 1_200, 1]);
  });

  test("is an hour where that was asked", async () => {
    await send(long);
    expect(api.requests[0]?.usage.cache_creation).toEqual({
      ephemeral_5m_input_tokens: 0,
      ephemeral_1h_input_tokens: 1_200,
    });
    time += 59 * minute;
    expect(await send(long)).toEqual([1_200, 0, 1]);
    time += 60 * minute;
    expect(await send(long)).toEqual([0, 1_200, 1]);
  });

  test("begins anew when it is read, also where the request that reads it goes on behind it", async () => {
    const start = [user(words(1_200))];
    await send({ ...automatic, messages: start });
    time += 4 * minute;
    expect(await send({ ...automatic, messages: [...start, assistant("go"), user("go")] })).toEqual([
      1_200, 2, 0,
    ]);
    time += 4 * minute;
    const other = [...start, assistant("stop"), user("stop")];
    expect(await send({ ...automatic, messages: other })).toEqual([1_200, 2, 0]);
  });

  test("of an hour is not made shorter by one who asks for less", async () => {
    await send(long);
    await send(short);
    time += 30 * minute;
    expect(await send(short)).toEqual([1_200, 0, 1]);
  });

  test("is kept apart in one request", async () => {
    await send({ ...long, ...automatic, messages: [user(words(300))] });
    expect(api.requests[0]?.usage.cache_creation).toEqual({
      ephemeral_5m_input_tokens: 300,
      ephemeral_1h_input_tokens: 1_200,
    });
  });
});

describe("what is not a hit", () => {
  const given = { tools: [tool("press_key")], system: [systemBlock(words(1_200))] };
  const cached = tokens(JSON.stringify(tool("press_key"))) + 1_200;
  beforeEach(() => send(given));

  test.each([
    ["another text of the system", { ...given, system: [systemBlock(words(1_200, "stop"))] }],
    ["another tool", { ...given, tools: [tool("tap")] }],
    ["another model", { ...given, model: "claude-opus-5-5" }],
  ])("%s", async (_, other) => {
    expect((await send(other))[0]).toBe(0);
  });

  test("another key", async () => {
    expect((await send(given, "other-key"))[0]).toBe(0);
    expect((await send(given))[0]).toBe(cached);
  });

  test("a change of tool_choice, for the messages only", async () => {
    const talk = { ...given, ...automatic, messages: [user(words(100))] };
    await send(talk);
    expect(await send({ ...talk, tool_choice: { type: "none" } })).toEqual([cached, 100, 0]);
  });

  test("a request that failed wrote nothing", async () => {
    const other = { system: [systemBlock(words(1_500, "stop"))] };
    const respond = () => error(529, "overloaded_error");
    const { api: failing, client } = await openStandin({ respond });
    const params = { model, max_tokens: 10, messages: [user("go")], ...other };
    await expect(client.beta.messages.create(params)).rejects.toThrow();
    await expect(client.beta.messages.create(params)).rejects.toThrow();
    expect(failing.requests.map(({ usage }) => usage.cache_read_input_tokens)).toEqual([0, 0]);
    await failing.close();
  });
});

test("an entry is found within twenty blocks before a breakpoint, its own counted, and not further", async () => {
  const start = [user(words(1_100))];
  const longer = (blocks: number, word: string): BetaMessageParam[] => {
    const text = { type: "text" as const, text: word };
    return [
      ...start,
      assistant("go"),
      { role: "user", content: Array.from({ length: blocks - 1 }, () => text) },
    ];
  };
  await send({ ...automatic, messages: start });
  expect(await send({ ...automatic, messages: longer(19, "go") })).toEqual([1_100, 19, 0]);
  expect(await send({ ...automatic, messages: longer(20, "stop") })).toEqual([0, 1_120, 0]);
});

test("a breakpoint inside of a tool's result holds to its end", async () => {
  const text = { type: "text" as const, text: words(1_500), cache_control: { type: "ephemeral" as const } };
  const messages: BetaMessageParam[] = [
    user("go"),
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "press_key", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [text] }] },
    user(words(10)),
  ];
  const [read, written, rest] = await send({ messages });
  expect([read, rest]).toEqual([0, 10]);
  expect(await send({ messages })).toEqual([written, 0, 10]);
});

test("a picture counts by what its model sees of it, and a text that is too long to count by its letters", async () => {
  const count = async (content: BetaMessageParam["content"], model = "claude-opus-4-8") => {
    const messages = [{ role: "user" as const, content: content ?? "" }];
    return (await clientOf(api.url).beta.messages.countTokens({ model, messages })).input_tokens;
  };
  const image = (media_type: "image/png" | "image/jpeg", bytes: Buffer) => ({
    type: "image" as const,
    source: { type: "base64" as const, media_type, data: bytes.toString("base64") },
  });
  // Sizes and tokens as platform.claude.com, Vision has them.
  const png = (width: number, height: number) =>
    image("image/png", Buffer.from(pngOf(width, height), "base64"));
  const older = "claude-haiku-4-5";
  expect(await count([png(1_000, 1_000)])).toBe(1_296);
  expect(await count([png(1_920, 1_080)])).toBe(2_691);
  expect(await count([png(1_920, 1_080)], older)).toBe(1_560);
  const jpeg = Buffer.from(`ffd8ffe000040000ffc0001108${"03e8"}${"03e8"}0300`, "hex");
  expect(await count([image("image/jpeg", jpeg)], older)).toBe(1_296);
  // One whose size cannot be read is the largest.
  expect(await count([image("image/jpeg", Buffer.from("ffd8ffe000104a46", "hex"))], older)).toBe(1_568);
  expect(await count("a".repeat(2_000_000), "claude-sonnet-4-6")).toBe(500_000);
});

test("a text has 30 % more tokens by the newer tokenizer", async () => {
  const count = async (model: string) =>
    (await clientOf(api.url).beta.messages.countTokens({ model, messages: [user(words(100))] })).input_tokens;
  expect([await count("claude-haiku-4-5"), await count("claude-opus-5-5")]).toEqual([100, 130]);
});

test("tokens are counted without a model", async () => {
  const client = clientOf(api.url);
  const params = { model, system: words(30), messages: [user(words(12))], tools: [tool("press_key")] };
  const counted = await client.beta.messages.countTokens(params);
  expect(counted.input_tokens).toBe(42 + tokens(JSON.stringify(tool("press_key"))));
  expect(await client.messages.countTokens({ model, messages: [{ role: "user", content: "go" }] })).toEqual({
    input_tokens: 1,
  });
  expect(api.requests).toEqual([]);
});
