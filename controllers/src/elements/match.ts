import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { concealed } from "./concealed.ts";
import { testAll } from "./patterns.ts";
import { quoted } from "./quoted.ts";
import { holds, withinAnother } from "./text.ts";

/**
 * `same`: the same words, whatever their case and white space; `words`: so among others, and no part of a word or number;
 * `contains`: so anywhere, within a word too; `exact`: as it stands, case and white space too; `pattern`: a regular expression
 * on what stands there, `/…/i` or bare.
 */
export const matchSchema = z.enum(["same", "words", "contains", "exact", "pattern"]);
export type Match = z.output<typeof matchSchema>;

/** What a description of a check says of its `match`. */
export const matchWords =
  "case and white space count only with match exact or pattern, a part of a word or number only with contains";

/**
 * Throws INVALID_PARAMS for a broken pattern, and for one that takes longer than a second on this text. A secret in the text is
 * compared by its name, and no pattern matches a text that holds one.
 */
export async function matches(match: Match, wanted: string, found: string): Promise<boolean> {
  return (await firstMatch(match, wanted, [found])) === 0;
}

/** The place of the first text that matches, or -1. Throws what {@link matches} throws. */
export async function firstMatch(match: Match, wanted: string, found: readonly string[]): Promise<number> {
  return found.findIndex(await matcherFor(match, wanted, found));
}

/** Says of each of these texts whether it matches. Throws what {@link matches} throws. */
export async function matcherFor(
  match: Match,
  wanted: string,
  found: readonly string[],
): Promise<(text: string) => boolean> {
  if (match !== "pattern")
    return (text) => {
      const hidden = concealed(text);
      return holds({ match, text: hidden === text ? wanted : concealed(wanted) }, hidden);
    };
  const open = found.filter((one) => concealed(one) === one);
  const texts = open.map((one) => one.normalize("NFC"));
  const isHit = await testAll(compilePattern(wanted.normalize("NFC")), texts);
  const hits = new Set(open.filter((_, at) => isHit[at]));
  return (text) => hits.has(text);
}

/** {@link matches} of what a field holds. Throws SECRET_NOT_ALLOWED for a part or a pattern of one that holds a secret. */
export async function matchesValue(match: Match, wanted: string, found: string): Promise<boolean> {
  const isMatch = await matches(match, wanted, found);
  if (isMatch || match === "same" || match === "exact" || concealed(found) === found) return isMatch;
  throw new DeviceError(
    "SECRET_NOT_ALLOWED",
    "The field holds a secret, of which no part and no pattern is compared. Compare the whole value with {{secret.NAME}} in its place, and leave match out.",
  );
}

/** What a check adds to what it read where the text is there, but only within another word or number. */
export function partNote(match: Match, wanted: string, found: Iterable<string>): string {
  const whole = match === "words" ? withinAnother(wanted, [...found].map(concealed)) : undefined;
  if (whole === undefined) return "";
  return `; the text is there only as part of another word or number: ${quoted(whole)}; say match: contains if you mean it`;
}

/** How a match reads: `is`, `contains`. */
export function relation(match: Match): string {
  return { same: "is", words: "has", contains: "contains", exact: "is exactly", pattern: "matches" }[match];
}

/** A pattern as a check takes it: `/…/i` or bare. Throws INVALID_PARAMS. */
function compilePattern(pattern: string): RegExp {
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
