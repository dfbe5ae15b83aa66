import { type SessionEnded, type Usage, usageSchema } from "../events.ts";
import { factsDate, type Price } from "./facts.ts";

const each = (count: (name: keyof Usage) => number): Usage =>
  usageSchema.parse(Object.fromEntries(usageSchema.keyof().options.map((name) => [name, count(name)])));

export const noUsage = each(() => 0);

export const addUsage = (a: Usage, b: Usage): Usage => each((name) => a[name] + b[name]);

/** Everything that was sent, cached or not. */
export const inputOf = (usage: Usage): number =>
  usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;

type Counters = { [name in keyof Usage]?: number | null };

/** The counters of a reply; those that an endpoint does not give are 0. A compaction is counted apart from the rest. */
export const usageOf = ({
  iterations,
  ...reply
}: Counters & { iterations?: readonly (Counters & { type: string })[] | null }): Usage =>
  [reply, ...(iterations ?? []).filter(({ type }) => type === "compaction")]
    .map((counters) => each((name) => counters[name] ?? 0))
    .reduce(addUsage);

/** Times the price of input, where a price says nothing of the cache. */
const cacheWriteFactor = 1.25;
const cacheReadFactor = 0.1;
const million = 1_000_000;

/** What requests used and cost, in US dollars. Without a price both costs are absent. */
export type Spent = Pick<SessionEnded, "usage" | "cost_usd" | "saved_usd">;

export const nothingSpent: Spent = { usage: noUsage, cost_usd: 0, saved_usd: 0 };

export function addSpent(a: Spent, b: Spent): Spent {
  const usage = addUsage(a.usage, b.usage);
  if (a.cost_usd === undefined || b.cost_usd === undefined) return { usage };
  return { usage, cost_usd: a.cost_usd + b.cost_usd, saved_usd: (a.saved_usd ?? 0) + (b.saved_usd ?? 0) };
}

/** The same end after requests besides its own. */
export function withSpent({ usage, cost_usd, saved_usd, ...end }: SessionEnded, more: Spent): SessionEnded {
  const own = { usage, ...(cost_usd !== undefined && { cost_usd, saved_usd }) };
  return { ...end, ...addSpent(own, more) };
}

/**
 * One request, by the tier of the price that its prompt is in. `saved_usd` is what the same tokens had cost without a cache,
 * less `cost_usd`; it is negative while a cache was only written.
 */
export function spentOn(usage: Usage, of: Price | undefined): Spent {
  if (of === undefined) return { usage };
  const { above, ...usual } = of;
  const price = above !== undefined && inputOf(usage) > above.tokens ? above : usual;
  const { input, cache_write = input * cacheWriteFactor, cache_read = input * cacheReadFactor } = price;
  const output = usage.output_tokens * price.output;
  const whole = inputOf(usage) * input + output;
  const paid =
    usage.input_tokens * input +
    usage.cache_creation_input_tokens * cache_write +
    usage.cache_read_input_tokens * cache_read +
    output;
  return { usage, cost_usd: paid / million, saved_usd: (whole - paid) / million };
}

/** What a reply's counters say of the cache, in the words of seed 000. The model's minimum is never assumed. */
export function cacheLines(usage: Usage, price: Price | undefined): string[] {
  const { cache_creation_input_tokens: created, cache_read_input_tokens: read } = usage;
  const lines: string[] = [];
  if (read > 0) lines.push(`[CACHE] Read ${read} tokens from cache${cheaper(price)}`);
  if (created > 0) lines.push(`[CACHE] Created cache with ${created} tokens`);
  return lines.length > 0 ? lines : ["[CACHE] Below the model's minimum"];
}

function cheaper(price: Price | undefined): string {
  if (price === undefined || price.input === 0) return "";
  const { input, cache_read = input * cacheReadFactor } = price;
  return ` (${Math.round(100 * (1 - cache_read / input))}% cheaper)`;
}

const grouped = (count: number): string => count.toLocaleString("en-US");
const dollars = (usd: number): string => `$${usd.toFixed(4)}`;

/** What was used and paid. `estimated`: our own count of the input, where there was one before the API's. */
export function spentText({ usage, cost_usd, saved_usd = 0 }: Spent, estimated?: number): string {
  const ours = estimated === undefined ? "" : `, estimated ${estimated}`;
  const cached = `${grouped(usage.cache_read_input_tokens)} from the cache${ours}`;
  const tokens = `${grouped(inputOf(usage))} tokens in (${cached}), ${grouped(usage.output_tokens)} out`;
  const saved = saved_usd > 0 ? `, saved ${dollars(saved_usd)} by the cache` : "";
  if (cost_usd !== undefined) return `${tokens} · ${dollars(cost_usd)}${saved}`;
  return `${tokens} · price of this model unknown (prices of ${factsDate}), set agents.models[].price`;
}

export const costLine = (what: string, spent: Spent, estimated?: number): string =>
  `[COST] ${what}: ${spentText(spent, estimated)}`;
