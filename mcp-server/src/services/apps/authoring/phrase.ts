import { nearest } from "@labwright/controllers";
import type { Params } from "../../../domain/index.ts";
import { quotedMark, type Sentence, unmark } from "./sentences.ts";
import type { Draft, NotUnderstood, Parts, Place, Step, Vocabulary } from "./types.ts";

/** `isFinal`: quotes would not help. `isAboutQuotes`: they would. */
export type Refusal = Omit<NotUnderstood, "line"> & { isFinal?: true; isAboutQuotes?: true };
export type Meaning = Omit<Step, "said"> | Refusal;

/** `form` is how the phrase is shown to a person who does not know it. */
export type Phrase = {
  form: string;
  /** The parts that stand in quotes. */
  slots: readonly string[];
  patternFor(naming: Naming): RegExp;
  read(part: Parts, vocabulary: Vocabulary): Meaning;
};
/** How a part is written: in quotes, or see `Vocabulary.unquoted`. */
export type Naming = "quoted" | NonNullable<Vocabulary["unquoted"]>;

const places: Readonly<Record<string, string>> = {
  ...{ first: "1", second: "2", third: "3", fourth: "4", fifth: "5", last: "last()" },
  ...{ sixth: "6", seventh: "7", eighth: "8", ninth: "9", tenth: "10" },
  ...{ erste: "1", zweite: "2", dritte: "3", letzte: "last()" },
  ...{ premier: "1", première: "1", deuxième: "2", troisième: "3", dernier: "last()", dernière: "last()" },
};

export const ordinal = `(?:${Object.keys(places).join("|")}|\\d{1,3}(?:st|nd|rd|th))[nrs]?`;

/** The number that an ordinal says, from 1, or `last()`. */
export function placeOf(ordinalSaid: string): string {
  const said = ordinalSaid.toLowerCase();
  return places[said] ?? places[said.slice(0, -1)] ?? String(Number.parseInt(said, 10));
}

const article = "(?:the |an? |le |la |les |l'|der |die |das |den )?";
const kindOf = "(?:(?:text|radio|check|combo|list|drop-?down|input|file|menu|date|search)[- ]?)";
const element =
  "(?:button|link|tab|field|box|checkbox|switch|toggle|menu|item|option|icon|image|entry|list|input|area|dropdown|heading|label|bouton|lien|champ|feld|knopf|schaltfläche)";
const nounBefore = `(?:${kindOf}?${element} )?`;
const noun = `(?: ${kindOf}?(?:${element}|boxes|buttons|items|links|row|rows|node|tile|card))?`;
/** Parts that name an element: its noun may also stand before it. Before a text the noun would mean something else. */
export const elements = new Set(["name", "target"]);

export const withoutNoun = (name: string): string => name.replace(new RegExp(`${noun}$`, "iu"), "");

/** A selector needs no quotes in a task. */
const selector = "(?:css|xpath|text|label|id)=\\S+|[#.]\\w\\S*";
const partFor: Readonly<Record<Naming, string>> = {
  quoted: quotedMark,
  words: `${quotedMark}|[^\\u0001,;"]{1,60}?`,
  word: `${quotedMark}|[^\\s\\u0001"]+`,
};

/**
 * A whole sentence, in any case. `{name}` is a quoted part with its article, ordinal and noun; in a task it may stand without
 * quotes, but not `{name:quoted}`. `{name:any}` is any words.
 */
export function phrase(form: string, text: string, read: Phrase["read"]): Phrase {
  const known = new Map<Naming, RegExp>();
  const sourceFor = (naming: Naming) =>
    text
      .replace(/\{(\w+)(:quoted)?\}/g, (_, name: string, quoted?: string) => {
        const bare = quoted && naming !== "quoted" ? `${quotedMark}|${selector}` : partFor[naming];
        const before = elements.has(name) ? nounBefore : "";
        return `${article}(?:(?<${name}Place>${ordinal}) )?${before}(?<${name}>${bare})(?<${name}Noun>${noun})`;
      })
      .replace(/\{(\w+):any\}/g, "(?<$1>.+?)");
  return {
    ...{ form, read },
    slots: [...text.matchAll(/\{(\w+)(?::quoted)?\}/g)].flatMap(([, name]) => name ?? []),
    patternFor(naming) {
      const pattern = known.get(naming) ?? new RegExp(`^(?:${sourceFor(naming)})$`, "iu");
      known.set(naming, pattern);
      return pattern;
    },
  };
}

export const partsOf =
  (match: RegExpExecArray, sentence: Sentence, unquoted: Record<string, string> = {}): Parts =>
  (name) => {
    const found = match.groups?.[name];
    return unquoted[name] ?? (found === undefined ? "" : unmark({ ...sentence, text: found }));
  };

/** The selector of a named part: its name, or the one that its ordinal means among the elements of that name. */
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
  const parts = text.split('"').map((part) => `"${part}"`);
  return `concat(${parts.join(`, '"', `)})`;
}

/** Parameters by the parts of their names: `selector` is the element {name}, `to_selector` the element {target}. */
function paramsOf(keys: readonly string[], part: Parts): Params {
  const paramOf = (key: string) => {
    if (key === "selector") return selectorOf(part);
    return key === "to_selector" ? selectorOf(part, "target") : part(key);
  };
  return Object.fromEntries(keys.map((key) => [key, paramOf(key)]));
}

export const one = (draft: Draft): Meaning => ({ drafts: [draft] });
export const action = (command: string, params: Params): Meaning => one({ type: "action", command, params });

export const doing =
  (command: string, keys: readonly string[] = [], more: Params = {}) =>
  (part: Parts): Meaning =>
    action(command, { ...paramsOf(keys, part), ...more });

export const isNot = (part: Parts) => ["not", "should", "mayNot", "never"].some((name) => part(name) !== "");

export function check(command: string, params: Params, negate: boolean, timeout_ms?: number): Meaning {
  const more = { ...(negate && { negate }), ...(timeout_ms !== undefined && { timeout_ms }) };
  return one({ type: "verification", command, params, ...more });
}

/** Reads a check, or its contrary. The word "exactly" asks for an exact match. */
export const checking =
  (command: string, keys: readonly string[], more: Params = {}) =>
  (part: Parts): Meaning => {
    const match = part("exactly") === "" ? {} : { match: "exact" };
    return check(command, { ...paramsOf(keys, part), ...more, ...match }, isNot(part));
  };

/** Why a meaning cannot be had on the device: it lacks the command or check. */
export function lacking(meaning: Meaning, { commands, checks: known }: Vocabulary): Refusal | undefined {
  for (const draft of "drafts" in meaning ? meaning.drafts : []) {
    if (draft.type !== "action" && draft.type !== "verification") continue;
    const [offered, what] = draft.type === "action" ? [commands, "command"] : [known, "check"];
    if (!offered || offered.has(draft.command)) continue;
    return withNearest(`the device has no ${what} ${draft.command}`, nearest(draft.command, offered, 3));
  }
  return undefined;
}

export const withNearest = (reason: string, near: string[]): Refusal => ({
  reason,
  ...(near.length > 0 && { nearest: near }),
});

const articleBefore = /^(?:the|an?|le|la|les|l'|der|die|das|den|dem)\s+/i;
const placeNoun =
  /\s+(?:screen|page|tab|view|node|menu|section|list|dialog|panel|area|window|écran|onglet|seite|bildschirm)$/i;
/** Case and white space do not count. */
export const fold = (text: string): string => text.toLowerCase().replace(/\s+/g, " ").trim();

/** The one of `known` called `said`, with its article and noun or without. An exact name wins over one that differs in case. */
export function theOneCalled<Known>(
  said: string,
  known: readonly Known[],
  nameOf: (one: Known) => string,
  what: readonly [one: string, several: string],
): { found: Known } | Refusal {
  const short = said.replace(articleBefore, "");
  const readings = [said, short, said.replace(placeNoun, ""), short.replace(placeNoun, "")];
  const alike = readings
    .map((name) => ({ name, same: known.filter((one) => fold(nameOf(one)) === fold(name)) }))
    .find(({ same }) => same.length > 0);
  const exact = alike?.same.filter((one) => nameOf(one) === alike.name) ?? [];
  const [found, ...others] = exact.length > 0 ? exact : (alike?.same ?? []);
  const names = known.map(nameOf);
  if (found === undefined) return withNearest(`no ${what[0]} is called "${said}"`, nearest(said, names, 3));
  if (others.length === 0) return { found };
  return withNearest(`several ${what[1]} are called "${said}"`, [found, ...others].map(nameOf));
}

export const placeCalled = (said: string, { places: known }: Vocabulary): { found: Place } | Refusal =>
  theOneCalled(said, known, ({ label }) => label, ["node", "nodes"]);
