import { settingsSchema } from "@labwright/agent-client/settings";
import { describe, expect, test } from "vitest";
import { longFrom } from "#agent-client/loop/shorten.ts";
import { factsOf } from "#agent-client/model/facts.ts";
import { openModels } from "#agent-client/model/models.ts";
import { cacheLines, costLine, noUsage, spentOn } from "#agent-client/model/usage.ts";

const million = 1_000_000;
const used = (given: Partial<typeof noUsage>) => ({ ...noUsage, ...given });
const price = (model: string) => factsOf(model).price ?? { input: Number.NaN, output: Number.NaN };
const cost = (model: string, given: Partial<typeof noUsage>) => spentOn(used(given), price(model)).cost_usd;

describe("a million tokens cost", () => {
  // Read from the pages that models.json names: in, out, written for five minutes, read.
  test.each([
    ["claude-fable-5-1", 10, 50, 12.5, 0.25],
    ["claude-opus-5-5", 4, 20, 5, 0.2],
    ["claude-sonnet-5-5", 2, 10, 2.5, 0.1],
    ["claude-haiku-4-5-20251001", 1, 5, 1.25, 0.1],
  ])("with %s what its page says", (model, input, output, written, read) => {
    expect(cost(model, { input_tokens: million })).toBeCloseTo(input, 9);
    expect(cost(model, { output_tokens: million })).toBeCloseTo(output, 9);
    expect(cost(model, { cache_creation_input_tokens: million })).toBeCloseTo(written, 9);
    expect(cost(model, { cache_read_input_tokens: million })).toBeCloseTo(read, 9);
  });

  test("more with claude-haiku-5-5 in a request with a prompt of more than 100,000, output too", () => {
    const short = { input_tokens: 40_000, cache_read_input_tokens: 60_000, output_tokens: 1_000 };
    expect(cost("claude-haiku-5-5", short)).toBeCloseTo(0.04 * 0.1 + 0.06 * 0.01 + 0.001 * 0.5, 12);
    const long = { ...short, input_tokens: 40_001 };
    expect(cost("claude-haiku-5-5", long)).toBeCloseTo(0.040001 * 0.5 + 0.06 * 0.05 + 0.001 * 2.5, 12);
  });

  test("and a conversation with it is shortened before that", () => {
    expect(longFrom(factsOf("claude-haiku-5-5"))).toBeLessThanOrEqual(100_000);
    expect(longFrom(factsOf("claude-opus-5-5"))).toBeGreaterThan(100_000);
  });

  test("what the settings say, with the usual factors where they say nothing of the cache", () => {
    const settings = settingsSchema.parse({ models: [{ model: "other", price: { input: 3, output: 6 } }] });
    const [endpoint] = openModels({ settings, env: { ANTHROPIC_API_KEY: "k" }, keyFile: "" }).current();
    const facts = endpoint?.facts.price ?? price("none");
    expect(spentOn(used({ cache_creation_input_tokens: million }), facts).cost_usd).toBeCloseTo(3.75, 9);
    expect(spentOn(used({ cache_read_input_tokens: million }), facts).cost_usd).toBeCloseTo(0.3, 9);
  });
});

test("the model is that of DEFAULT_MODEL, with the key of ANTHROPIC_API_KEY, and one of the settings comes before it", () => {
  const env = { ANTHROPIC_API_KEY: "sk-1", DEFAULT_MODEL: "claude-opus-5-5" };
  const open = (models: object[]) =>
    openModels({ settings: settingsSchema.parse({ models }), env, keyFile: "" }).current();
  expect(open([]).map(({ model, client }) => [model, Reflect.get(client, "apiKey")])).toEqual([
    ["claude-opus-5-5", "sk-1"],
  ]);
  expect(open([{ model: "other" }]).map(({ model }) => model)).toEqual(["other"]);
});

test("a model that no one knows has no price, and says of which day our prices are", () => {
  expect(factsOf("claude-of-tomorrow").price).toBeUndefined();
  expect(factsOf("claude-opus-5-5-turbo").price).toBeUndefined();
  expect(costLine("turn 1", { usage: noUsage })).toMatch(/unknown \(prices of \d{4}-\d{2}-\d{2}\)/);
  expect(cacheLines(used({ cache_read_input_tokens: 5 }), undefined)).toEqual([
    "[CACHE] Read 5 tokens from cache",
  ]);
});
