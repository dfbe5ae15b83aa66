import { z } from "zod";

const unitMs: Readonly<Record<string, number>> = { ms: 1, millisecond: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds in "10 minutes", "30s", "1 h"; undefined for other text, and for a number without a unit. */
function msIn(text: string): number | undefined {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(millisecond|ms|s|m|h)[a-z]*\.?\s*$/i.exec(text);
  return found ? Number(found[1]) * (unitMs[found[2]?.toLowerCase() ?? ""] ?? 0) : undefined;
}

/** US dollars in "$0.30", "0.30 USD" or "0.3". */
function dollarsIn(text: string): number | undefined {
  const found = /^\s*\$?\s*(\d+(?:\.\d+)?)\s*(?:\$|usd|dollars?)?\s*$/i.exec(text);
  return found ? Number(found[1]) : undefined;
}

/** A union, so that the JSON Schema that a model is given names both ways. */
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
