import type { SessionEnded } from "../events.ts";
import { plainLine } from "./plain.ts";

const maxArgument = 48;
const maxArguments = 110;

/** A tool's arguments in one line: `device_id=browser, actions=[{…}]`. */
export function shortArguments(input: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(input).map(([name, value]) => {
    const text = typeof value === "string" && !/[\s,=]/.test(value) ? value : JSON.stringify(value);
    return `${name}=${plainLine(text ?? "", maxArgument)}`;
  });
  return plainLine(parts.join(", "), maxArguments);
}

/** `340 ms`, `4.2 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** US dollars with enough digits that little is not nothing. */
export const dollars = (usd: number): string => `$${usd.toFixed(Math.abs(usd) < 1 ? 4 : 2)}`;

export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;

/** What a run or a conversation took: turns, time, tokens, money as far as it is known. */
export function costLine(
  spent: Pick<SessionEnded, "turns" | "usage" | "cost_usd" | "saved_usd"> & { duration_ms?: number },
): string {
  const time = spent.duration_ms === undefined ? [] : [duration(spent.duration_ms)];
  return [counted(spent.turns, "turn"), ...time, ...tokensAndMoney(spent)].join(" · ");
}

/** Nothing where no model was asked. */
function tokensAndMoney({
  usage,
  cost_usd,
  saved_usd,
}: Pick<SessionEnded, "usage" | "cost_usd" | "saved_usd">): string[] {
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
  const asked = input_tokens + cache_creation_input_tokens + cache_read_input_tokens;
  if (asked + output_tokens === 0) return [];
  const cached = cache_read_input_tokens.toLocaleString("en-US");
  const tokens = `${counted(asked, "token")} in (${cached} from the cache), ${output_tokens.toLocaleString("en-US")} out`;
  return cost_usd === undefined ? [tokens] : [tokens, money(cost_usd, saved_usd ?? 0)];
}

function money(cost_usd: number, saved_usd: number): string {
  if (saved_usd === 0) return dollars(cost_usd);
  // A first turn pays for filling the cache, which later ones read.
  return saved_usd > 0
    ? `${dollars(cost_usd)}, saved ${dollars(saved_usd)} by the cache`
    : `${dollars(cost_usd)}, ${dollars(-saved_usd)} of it for filling the cache`;
}

/** The time of day, as the machine's clock shows it. */
export function timeOfDay(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return plainLine(iso, 40);
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}
