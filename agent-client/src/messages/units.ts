import { z } from "zod";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const words: readonly [RegExp, string][] = [
  [/^(ms|millisecond)/, "ms"],
  [/^s/, "s"],
  [/^m/, "m"],
  [/^h/, "h"],
];

/** Milliseconds in "10 minutes", "30s", "1 h"; undefined for other text, and for a number without a unit. */
function msIn(text: string): number | undefined {
  const [, number, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\.?\s*$/i.exec(text) ?? [];
  const known = words.find(([pattern]) => pattern.test(unit.toLowerCase()))?.[1];
  return number === undefined || known === undefined ? undefined : Number(number) * (unitMs[known] ?? 0);
}

/** US dollars in "$0.30", "0.30 USD" or "0.3". */
function dollarsIn(text: string): number | undefined {
  const [, number] = /^\s*\$?\s*(\d+(?:\.\d+)?)\s*(?:\$|usd|dollars?)?\s*$/i.exec(text) ?? [];
  return number === undefined ? undefined : Number(number);
}

const inWords = (parse: (text: string) => number | undefined, error: string) => {
  const text = z.string().refine((given) => parse(given) !== undefined);
  return z.union([z.number(), text.transform((given) => parse(given) ?? Number.NaN)], { error });
};

/** "10 minutes" or milliseconds; in milliseconds. */
export const durationSchema = inWords(msIn, "must be a time with its unit, such as 10 minutes or 30s").pipe(
  z.number().min(1).max(86_400_000),
);

/** "$0.30" or a number; in US dollars. */
export const moneySchema = inWords(dollarsIn, "must be an amount such as $0.30").pipe(
  z.number().min(0).max(1_000_000),
);
