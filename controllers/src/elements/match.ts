import { createContext, Script } from "node:vm";
import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { concealed } from "./concealed.ts";
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
export function matches(match: Match, wanted: string, found: string): boolean {
  const hidden = concealed(found);
  if (hidden !== found) return match !== "pattern" && holds({ match, text: concealed(wanted) }, hidden);
  if (match === "pattern") return test(compile(wanted.normalize("NFC")), found.normalize("NFC"));
  return holds({ match, text: wanted }, found);
}

/** {@link matches} of what a field holds. Throws SECRET_NOT_ALLOWED for a part or a pattern of one that holds a secret. */
export function matchesValue(match: Match, wanted: string, found: string): boolean {
  const isMatch = matches(match, wanted, found);
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

/** A pattern in parts, for use in the page. Throws INVALID_PARAMS. */
export function patternParts(pattern: string): { text: string; flags: string } {
  const { source, flags } = compile(pattern);
  return { text: source, flags };
}

/** How a match reads: `is`, `contains`. */
export function relation(match: Match): string {
  return { same: "is", words: "has", contains: "contains", exact: "is exactly", pattern: "matches" }[match];
}

const PATTERN_MS = 1_000;
const patternTest = new Script("pattern.test(text)");
const patternContext: { pattern?: RegExp; text?: string } = createContext({});

/** In a context of its own, since only a script there can be stopped: some patterns take years. */
function test(pattern: RegExp, text: string): boolean {
  Object.assign(patternContext, { pattern, text });
  try {
    return patternTest.runInContext(patternContext, { timeout: PATTERN_MS }) === true;
  } catch (cause) {
    throw new DeviceError(
      "INVALID_PARAMS",
      `The pattern ${quoted(String(pattern))} takes too long on this text; avoid repeats within repeats, such as (a+)+`,
      {},
      { cause },
    );
  }
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
