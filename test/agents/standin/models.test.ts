import { afterAll, beforeAll, expect, test } from "vitest";
import { factsOf } from "#agent-client/model/facts.ts";
import priceFile from "#agent-client/model/models.json" with { type: "json" };
import { getModel, knownModels } from "../../fixtures/messagesApi/models.ts";
import { says } from "../../fixtures/messagesApi/reply.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { postTo, tool } from "./client.ts";

let api: MessagesApi;
beforeAll(async () => {
  api = await startMessagesApi({ respond: () => says("ok") });
});
afterAll(() => api.close());

const priced = priceFile.models.map(({ model }) => model);
const go = { role: "user", content: "go" };
const forced = { tools: [tool("tap")], tool_choice: { type: "any" } };
const enabled = { max_tokens: 2_000, thinking: { type: "enabled", budget_tokens: 1_024 } };
const systemMessage = { messages: [go, { role: "system", content: "Be brief." }] };
const prefilled = { messages: [go, { role: "assistant", content: "hm" }] };
const compaction = { compaction: { type: "summarize" } };
const effort = (level: string) => ({ output_config: { effort: level } });
const send = (model: string, more: object) =>
  postTo(api, { model, max_tokens: 10, messages: [go], ...more }, { "anthropic-beta": "compact-2026-09-04" });

test("the stand-in knows the models of the price file, and no others", () => {
  expect(knownModels.map(({ id }) => id).sort()).toEqual([...priced].sort());
});

test.each(priced)("the price file and the stand-in have the same facts of %s", (id) => {
  const { pictures, ...known } = getModel(id);
  const facts = factsOf(id);
  expect(facts).toMatchObject({
    thinks_by_default: known.thinks,
    thinking: known.thinking,
    context_tokens: known.context,
    output_tokens: known.output,
    effort_levels: known.effort,
    inline_tools: known.toolChanges,
    toolsets: known.toolsets,
    compaction: known.compacts,
    pictures: {
      per_request: pictures.count,
      edge_pixels: pictures.edge,
      visual_tokens: pictures.tokens,
    },
  });
  // The price file has null where no document names the floor; the stand-in assumes one.
  expect([known.floor, null]).toContain(facts.cache_floor_tokens);
});

test.each<[string, string, object, string]>([
  ["claude-fable-5", "no thinking", { thinking: { type: "disabled" } }, "thinking.type.disabled"],
  ["claude-mythos-5", "a budget", enabled, "thinking.type.enabled"],
  ["claude-mythos-5-1", "a tool that is forced", forced, "tool_choice"],
  ["claude-opus-4-7", "a budget", enabled, "thinking.type.enabled"],
  ["claude-opus-4-7", "a system message", systemMessage, "role 'system' is not supported"],
  ["claude-opus-4-6", "the effort xhigh", effort("xhigh"), "output_config.effort"],
  ["claude-opus-4-6", "a prefilled reply", prefilled, "prefill"],
  ["claude-opus-4-5", "adaptive thinking", { thinking: { type: "adaptive" } }, "adaptive thinking"],
  ["claude-opus-4-5", "the effort max", effort("max"), "output_config.effort"],
  ["claude-opus-4-5", "a reply of more than 64,000", { max_tokens: 64_001 }, "max_tokens"],
  ["claude-opus-4-5", "a compaction", compaction, "compaction is not supported"],
])("%s refuses %s", async (model, _, more, words) => {
  const { status, error } = await send(model, more);
  expect(error).toContain(words);
  expect(status).toBe(400);
});

test.each<[string, string, object]>([
  ["claude-fable-5", "a tool that is forced", forced],
  ["claude-mythos-5", "a system message", systemMessage],
  ["claude-mythos-5-1", "a compaction", compaction],
  ["claude-opus-4-7", "no thinking", { thinking: { type: "disabled" } }],
  ["claude-opus-4-6", "a budget", enabled],
  ["claude-opus-4-6", "a compaction", compaction],
  ["claude-opus-4-5", "the effort high", effort("high")],
  ["claude-opus-4-5", "a prefilled reply", prefilled],
])("%s takes %s", async (model, _, more) => {
  expect(await send(model, more)).toEqual({ status: 200, error: "" });
});
