import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { quoted } from "./quoted.ts";
import { fold } from "./text.ts";

/**
 * `same`: the same words, whatever their case and white space; `contains`: so a part of them; `exact`: as it stands, case and
 * white space too; `pattern`: a regular expression on what stands there, `/…/i` or bare.
 */
export const matchSchema = z.enum(["same", "contains", "exact", "pattern"]);
export type Match = z.output<typeof matchSchema>;

/** What a description of a check says of its `match`. */
export const matchWords = "case and white space count only with match exact or pattern";

/** Throws INVALID_PARAMS for a broken pattern. */
export function matches(match: Match, wanted: string, found: string): boolean {
  if (match === "pattern") return compile(wanted).test(found);
  if (match === "exact") return found === wanted;
  return match === "same" ? fold(found) === fold(wanted) : fold(found).includes(fold(wanted));
}

/** A pattern in parts, for use in the page. Throws INVALID_PARAMS. */
export function patternParts(pattern: string): { text: string; flags: string } {
  const { source, flags } = compile(pattern);
  return { text: source, flags };
}

/** How a match reads: `is`, `contains`. */
export function relation(match: Match): string {
  return { same: "is", contains: "contains", exact: "is exactly", pattern: "matches" }[match];
}

function compile(pattern: string): RegExp {
  const [, text, flags] = /^\/([\s\S]+)\/([imsu]*)$/.exec(pattern) ?? [undefined, pattern, ""];
  try {
    return new RegExp(text ?? pattern, flags);
  } catch (cause) {
    throw new DeviceError(
      "INVALID_PARAMS",
      `The pattern ${quoted(pattern)} is not a regular expression; correct it or use match contains`,
      {},
      { cause },
    );
  }
}
