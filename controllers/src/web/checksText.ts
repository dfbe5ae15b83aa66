import { z } from "zod";
import { DeviceError } from "../errors.ts";

/** `exact` and `contains` after white space and case folding; `pattern` is a regular expression, `/…/i` or bare. */
export const matchSchema = z.enum(["exact", "contains", "pattern"]);
export type Match = z.output<typeof matchSchema>;

/** Throws INVALID_PARAMS for a broken pattern. */
export function matches(match: Match, wanted: string, found: string): boolean {
  if (match === "pattern") return compile(wanted).test(found);
  const text = fold(found);
  return match === "exact" ? text === fold(wanted) : text.includes(fold(wanted));
}

/** A pattern in parts, for use in the page. Throws INVALID_PARAMS. */
export function patternParts(pattern: string): { text: string; flags: string } {
  const { source, flags } = compile(pattern);
  return { text: source, flags };
}

function compile(pattern: string): RegExp {
  const [, text, flags] = /^\/([\s\S]+)\/([imsu]*)$/.exec(pattern) ?? [undefined, pattern, ""];
  try {
    return new RegExp(text ?? pattern, flags);
  } catch (cause) {
    throw new DeviceError(
      "INVALID_PARAMS",
      `The pattern ${JSON.stringify(pattern.slice(0, 200))} is not a regular expression; mend it or use match contains`,
      {},
      { cause },
    );
  }
}

function fold(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}
