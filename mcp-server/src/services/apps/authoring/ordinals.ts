import type { Parts } from "./types.ts";

const places: Readonly<Record<string, string>> = {
  ...{ first: "1", second: "2", third: "3", fourth: "4", fifth: "5", last: "last()" },
  ...{ sixth: "6", seventh: "7", eighth: "8", ninth: "9", tenth: "10" },
  ...{ erste: "1", zweite: "2", dritte: "3", letzte: "last()" },
  ...{ premier: "1", première: "1", deuxième: "2", troisième: "3", dernier: "last()", dernière: "last()" },
};

/** Which of several of one name: in words, or as 2nd. */
export const ordinal = `(?:${Object.keys(places).join("|")}|\\d{1,3}(?:st|nd|rd|th))[nrs]?`;

/** The number that an ordinal says, from 1, or `last()`. */
export function placeOf(ordinalSaid: string): string {
  const said = ordinalSaid.toLowerCase();
  return places[said] ?? places[said.slice(0, -1)] ?? String(Number.parseInt(said, 10));
}

/** The selector of a named part: its name, or of several elements of that name the one that is meant. */
export function selectorOf(part: Parts, name = "name"): string {
  const said = part(`${name}Place`);
  const text = part(name);
  return said === "" ? text : nthOf(text, placeOf(said));
}

/** Innermost elements that show the text or are named by it, in the order of the page. */
function nthOf(text: string, place: string): string {
  const literal = literalOf(text);
  const named = ["aria-label", "value", "placeholder", "title", "alt"].map((name) => `@${name}=${literal}`);
  const shows = `normalize-space(.)=${literal}`;
  const is = `(${shows} and not(*[${shows}])) or ${named.join(" or ")}`;
  return `(//body//*[not(self::script or self::style)][${is}])[${place}]`;
}

/** XPath has no escapes: a text with both kinds of quotes is put together. */
function literalOf(text: string): string {
  if (!text.includes('"')) return `"${text}"`;
  if (!text.includes("'")) return `'${text}'`;
  return `concat(${text
    .split('"')
    .map((part) => `"${part}"`)
    .join(`, '"', `)})`;
}
