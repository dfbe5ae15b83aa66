import { z } from "zod";
import { DeviceError } from "../errors.ts";

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
      `The pattern ${quoted(pattern)} is not a regular expression; mend it or use match contains`,
      {},
      { cause },
    );
  }
}

function fold(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

const LONGEST = 1_000;
/** What stands before the first difference of two long values. */
const BEFORE_DIFFERENCE = 200;

/**
 * A value as it is, in quotes. Long ones are cut and say by how much: around the first difference to `other`, where there is
 * one. White space is made visible where it is all that differs.
 */
export function quoted(value: string, other?: string): string {
  const differs = other !== undefined && other !== value && fold(other) === fold(value);
  const onlySpace = differs && other.replace(/\s+/g, "") === value.replace(/\s+/g, "");
  const from = value.length > LONGEST ? Math.max(0, firstDifference(value, other) - BEFORE_DIFFERENCE) : 0;
  const part = value.slice(from, from + LONGEST);
  const after = value.length - from - part.length;
  const shown = visible(JSON.stringify(onlySpace ? part.replaceAll(" ", "␣") : part));
  return `${from > 0 ? `${from} more … ` : ""}${shown}${after > 0 ? ` … ${after} more` : ""}`;
}

function firstDifference(value: string, other: string | undefined): number {
  if (other === undefined) return 0;
  for (let at = 0; at < value.length; at++) if (value[at] !== other[at]) return at;
  return 0;
}

/** Blanks and marks that look like others or like nothing, by their number. */
function visible(text: string): string {
  return text.replace(
    /[\u007f-\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
