import type { BetaMessageParam } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import { afterEach, expect, test } from "vitest";
import { says, thinks, together } from "../../fixtures/messagesApi/reply.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { ask, clientOf, postTo } from "./client.ts";

let api: MessagesApi | undefined;
afterEach(() => api?.close());

const model = "claude-opus-5-5";
const betas = ["compact-2026-09-04"];
const header = { "anthropic-beta": betas.join() };
const compaction = { type: "summarize" as const };
const said: BetaMessageParam[] = [
  { role: "user", content: "Press HOME ".repeat(50) },
  { role: "assistant", content: "Pressed." },
];

async function open(summary?: string | null) {
  api = await startMessagesApi({
    respond: () => together(thinks("Hm."), says("ok")),
    ...(summary !== undefined && { summary }),
  });
  return clientOf(api.url);
}

test("a conversation is summed up in a block that stands for it", async () => {
  const client = await open("HOME was pressed.");
  const reply = await client.beta.messages.create({
    ...ask("", { model, betas, compaction }),
    messages: said,
  });
  expect(reply).toMatchObject({
    stop_reason: "compaction",
    content: [{ type: "compaction", content: "HOME was pressed." }],
    usage: { input_tokens: 0, output_tokens: 0, iterations: [{ type: "compaction" }] },
  });
  const [paid] = reply.usage.iterations ?? [];
  expect(paid?.input_tokens).toBeGreaterThan(100);
  const block: BetaMessageParam = { role: "assistant", content: reply.content };
  const next: BetaMessageParam = { role: "user", content: "And now BACK" };
  const after = await client.beta.messages.create({ ...ask("", { model, betas }), messages: [block, next] });
  expect(after.usage.input_tokens).toBeLessThan(20);
  // Streamed it is the same.
  const stream = client.beta.messages.stream({ ...ask("", { model, betas, compaction }), messages: said });
  expect((await stream.finalMessage()).content).toEqual(reply.content);
});

test("a summary that comes to nothing is a reply without content", async () => {
  const client = await open(null);
  const reply = await client.beta.messages.create({
    ...ask("", { model, betas, compaction }),
    messages: said,
  });
  expect([reply.content, reply.stop_reason]).toEqual([[], "end_turn"]);
});

const block = (content: string, signature: string) => ({
  role: "assistant",
  content: [{ type: "compaction", content, signature }],
});
const go = { role: "user", content: "go" };
const asks = { model, max_tokens: 1_000, messages: said, compaction };
test.each<[string, object, string, Record<string, string>?]>([
  ["without its beta", asks, "compaction: Extra inputs", {}],
  ["by a model that has none", { ...asks, model: "claude-haiku-4-5" }, "not supported on this model"],
  ["with context_management", { ...asks, context_management: { edits: [] } }, "context_management"],
  ["with stop sequences", { ...asks, stop_sequences: ["x"] }, "stop_sequences"],
  [
    "with a call that is not answered",
    {
      ...asks,
      messages: [go, { role: "assistant", content: [{ type: "tool_use", id: "a", name: "tap", input: {} }] }],
    },
    "compaction_incomplete_turn",
  ],
  [
    "of a block with another signature",
    { ...asks, compaction: null, messages: [block("made up", "AAAA"), go] },
    "compaction_signature_invalid",
  ],
  [
    "of a block that is not the first",
    { ...asks, compaction: null, messages: [go, block("made up", "AAAA"), go] },
    "compaction_block_misplaced",
  ],
  [
    "of two blocks",
    { ...asks, compaction: null, messages: [block("a", "AAAA"), go, block("b", "AAAA"), go] },
    "compaction_block_ambiguous",
  ],
])("is refused %s", async (_, body, words, headers = header) => {
  await open();
  expect((await postTo(api ?? never(), body, headers)).error).toContain(words);
});

const never = (): never => {
  throw new Error("it was not opened");
};
