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

const grouped = (count: number): string => count.toLocaleString("en-US");

export const counted = (count: number, noun: string): string =>
  `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/** US dollars; four digits after the point for less than a dollar. */
const dollars = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

type Spent = Pick<SessionEnded, "turns" | "usage" | "cost_usd" | "saved_usd"> & { duration_ms?: number };

/** What a run or a conversation took: turns, time, tokens if a model was asked, and money if the price is known. */
export function costLine({ turns, duration_ms, usage, cost_usd, saved_usd = 0 }: Spent): string {
  const parts = [counted(turns, "turn")];
  if (duration_ms !== undefined) parts.push(duration(duration_ms));
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
  const sent = input_tokens + cache_creation_input_tokens + cache_read_input_tokens;
  if (sent + output_tokens > 0) {
    const cached = `${grouped(cache_read_input_tokens)} from the cache`;
    parts.push(`${counted(sent, "token")} in (${cached}), ${grouped(output_tokens)} out`);
    if (cost_usd !== undefined) parts.push(`${dollars(cost_usd)}${savedText(saved_usd)}`);
  }
  return parts.join(" · ");
}

/** A first turn pays for filling the cache; later turns read it. */
function savedText(usd: number): string {
  if (usd === 0) return "";
  return usd > 0 ? `, saved ${dollars(usd)} by the cache` : `, ${dollars(-usd)} of it for filling the cache`;
}
