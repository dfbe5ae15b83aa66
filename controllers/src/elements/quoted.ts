import { fold } from "./text.ts";

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
    /[\u007f-\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ue000-\uf8ff\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The beginning of a text. The mark at its end says that more follows: the server hides the part of a secret before one. */
export const shortened = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;
