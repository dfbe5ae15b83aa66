import type { BetaMessageParam } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import { afterEach, expect, test } from "vitest";
import { calls, says, thinks, together } from "../../fixtures/messagesApi/reply.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { ask, clientOf, postTo, tool } from "./client.ts";

let api: MessagesApi | undefined;
afterEach(() => api?.close());

const opus = "claude-opus-5-5";
const bound = /bound to a different conversation/;
const drop = {
  thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
  betas: ["thinking-binding-controls-2026-08-01"],
} as const;

/** Two turns with thinking, and a question after them. */
async function conversation(model = opus) {
  api = await startMessagesApi({ respond: () => together(thinks("Hm."), says("ok")) });
  const client = clientOf(api.url);
  const given = { model, max_tokens: 1_000, system: "Be brief.", tools: [tool("press_key")] };
  const messages: BetaMessageParam[] = [];
  const say = async (text: string) => {
    messages.push({ role: "user", content: text });
    const { content } = await client.beta.messages.create({ ...given, messages });
    messages.push({ role: "assistant", content });
  };
  await say("one");
  await say("two");
  const send = (more: object, list: readonly BetaMessageParam[] = messages) =>
    client.beta.messages.create({
      ...given,
      messages: [...list, { role: "user", content: "three" }],
      ...more,
    });
  return { messages, send };
}

/** The list with one message bare of its thinking. */
const bareAt = (list: readonly BetaMessageParam[], index: number): BetaMessageParam[] =>
  list.map((message, place) => {
    if (place !== index || message.role !== "assistant" || !Array.isArray(message.content)) return message;
    const content = message.content.filter(({ type }) => type !== "thinking");
    return { role: "assistant", content };
  });

const at = (list: readonly BetaMessageParam[], index: number, message: BetaMessageParam) =>
  list.map((one, place) => (place === index ? message : one));

test("thinking goes back as it came, or leaves from its beginning or its end", async () => {
  const { messages, send } = await conversation();
  await send({});
  await send({ max_tokens: 500, tool_choice: { type: "none" } });
  await send({}, bareAt(messages, 1));
  await send({}, bareAt(messages, 3));
});

test.each<
  [string, (list: BetaMessageParam[]) => object, ((list: BetaMessageParam[]) => BetaMessageParam[])?]
>([
  ["the system", () => ({ system: "Be long." })],
  ["a tool", () => ({ tools: [tool("press_key", "Other words.")] })],
  ["a further tool", () => ({ tools: [tool("press_key"), tool("tap")] })],
  ["an earlier message", () => ({}), (list) => at(list, 0, { role: "user", content: "other" })],
  ["a message that is left out", () => ({}), (list) => list.slice(2)],
])("thinking after a change of %s is refused, and dropped when asked", async (_, more, change) => {
  const { messages, send } = await conversation();
  const list = change?.(messages) ?? messages;
  await expect(send(more(messages), list)).rejects.toThrow(bound);
  const reply = await send({ ...more(messages), ...drop }, list);
  expect(reply.input_transformations?.length).toBeGreaterThan(0);
});

test("thinking that left does not come back", async () => {
  const { messages, send } = await conversation();
  const { content } = await send({}, bareAt(messages, 1));
  const later: BetaMessageParam[] = [
    ...messages,
    { role: "user", content: "three" },
    { role: "assistant", content },
  ];
  await expect(send({}, later)).rejects.toThrow(bound);
});

test.each([
  "claude-opus-5",
  "claude-fable-5",
  "claude-mythos-5",
  "claude-opus-4-7",
])("%s has no preserved thinking and takes any", async (model) => {
  const { send } = await conversation(model);
  await send({ system: "Be long." });
});

test("claude-mythos-5-1 refuses thinking after a change too", async () => {
  const { send } = await conversation("claude-mythos-5-1");
  await expect(send({ system: "Be long." })).rejects.toThrow(bound);
});

test("thinking counts to max_tokens, also when none is shown", async () => {
  api = await startMessagesApi({ respond: () => says("a word or two"), thinkingTokens: 50 });
  const reply = (max_tokens: number, more: object = {}) =>
    clientOf(api?.url ?? "").beta.messages.create(ask("go", { model: opus, max_tokens, ...more }));
  expect(await reply(50)).toMatchObject({
    stop_reason: "max_tokens",
    content: [{ type: "thinking", thinking: "" }],
    usage: { output_tokens: 50, output_tokens_details: { thinking_tokens: 50 } },
  });
  expect((await reply(200)).stop_reason).toBe("end_turn");
  expect((await reply(10, { model: "claude-haiku-5-5", thinking: { type: "disabled" } })).stop_reason).toBe(
    "end_turn",
  );
});

test("max_tokens cuts a call in the middle of its input", async () => {
  api = await startMessagesApi({ respond: () => calls("press_key", { key: "HOME ".repeat(40) }) });
  const stream = clientOf(api.url).beta.messages.stream(
    ask("go", { max_tokens: 20, tools: [tool("press_key")] }),
  );
  let json = "";
  stream.on("streamEvent", (event) => {
    if (event.type === "content_block_delta" && event.delta.type === "input_json_delta")
      json += event.delta.partial_json;
  });
  expect((await stream.finalMessage()).stop_reason).toBe("max_tokens");
  expect(() => JSON.parse(json)).toThrow();
});

const go = { max_tokens: 10, messages: [{ role: "user", content: "go" }] };
test.each<[string, object, string]>([
  ["thinking turned off", { model: opus, thinking: { type: "disabled" } }, "thinking.type.disabled"],
  [
    "off, with what is lowest",
    { model: "claude-sonnet-5-5", thinking: { type: "disabled" } },
    "between_tools",
  ],
  [
    "a budget",
    { model: opus, thinking: { type: "enabled", budget_tokens: 1_024 }, max_tokens: 2_000 },
    "thinking.type.enabled",
  ],
  [
    "adaptive on an older model",
    { model: "claude-haiku-4-5", thinking: { type: "adaptive" } },
    "adaptive thinking is not supported",
  ],
  ["binding without its beta", { model: opus, thinking: drop.thinking }, "block_binding: Extra inputs"],
  [
    "more with between_tools",
    { model: "claude-sonnet-5-5", thinking: { type: "between_tools", display: "omitted" } },
    "Extra inputs",
  ],
  [
    "a tool that is forced",
    { model: opus, tools: [tool("tap")], tool_choice: { type: "any" } },
    'type \\"tool\\" and \\"any\\"',
  ],
  [
    "an unknown effort",
    { model: "claude-sonnet-4-6", output_config: { effort: "xhigh" } },
    "output_config.effort",
  ],
  [
    "more than a reply can be",
    { model: "claude-haiku-4-5", max_tokens: 70_000 },
    "maximum allowed number of output tokens",
  ],
])("%s is refused", async (_, given, words) => {
  api = await startMessagesApi({ respond: () => says("ok") });
  expect((await postTo(api, { ...go, ...given })).error).toContain(words);
});
