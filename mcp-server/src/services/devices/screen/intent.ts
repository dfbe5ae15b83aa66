import { type Element, nearest } from "@labwright/controllers";
import { namesRole, type Scored, scoreElements, wordLikeness, wordsOf } from "./find.ts";
import { quote } from "./render.ts";

/** An element that a person wants to use, in words. `verb` is what they want to do with it, if they say so. */
export type Intent = { text: string; words: readonly string[]; verb: Verb | undefined };
type Verb = "type" | "choose" | "set" | "click";

const openings: readonly (readonly [Verb, RegExp])[] = [
  ["type", /^(?:type|enter|write|put|input)\b.*?\b(?:into|in|to)\b\s+(?=\S)/i],
  ["type", /^(?:type|enter|write|fill(?: in| out)?)\s+(?=\S)/i],
  ["choose", /^(?:select|choose|pick)\b(?:.*?\b(?:in|from)\b)?\s+(?=\S)/i],
  ["set", /^(?:un)?(?:check(?! ?(?:in|out)\b)|tick|toggle)(?: off)?\s+(?=\S)/i],
  ["click", /^(?:click|tap|press|push|hit|open|use|go)\b(?: (?:on|to))?\s+(?=\S)/i],
];

const filler = /^(?:please|my|your|this|that|which|called|named|labelled|labeled|with|icon|element|control)$/;

/** Least likeness of a word of the screen to a word of the intent that counts as the same. */
const sameWord = 0.6;

export function readIntent(given: string): Intent {
  const text = given.replace(/\s+/g, " ").trim();
  for (const [verb, opening] of openings) {
    const thing = text.replace(opening, "");
    if (thing !== text && saying(thing).length > 0) return { text: thing, words: saying(thing), verb };
  }
  const words = saying(text);
  return { text, words: words.length > 0 ? words : wordsOf(text), verb: undefined };
}

const saying = (text: string) => wordsOf(text).filter((word) => !filler.test(word));

function missingWords(element: Element, intent: Intent): string[] {
  const { role, name, text = "", value = "", choices = [], apart = "" } = element;
  const own = wordsOf(`${name} ${text} ${value} ${apart} ${choices.join(" ")}`);
  return intent.words.filter(
    (word) => !namesRole(word, role) && !own.some((one) => wordLikeness(one, word) >= sameWord),
  );
}

const clicks = ["click_element"];
const ways: Readonly<Record<string, readonly string[]>> = {
  textbox: ["input_text", "type_text"],
  searchbox: ["input_text", "type_text"],
  spinbutton: ["input_text", "type_text"],
  checkbox: ["set_checked", "click_element"],
  radio: ["set_checked", "click_element"],
  switch: ["set_checked", "click_element"],
  file: ["upload_file"],
};

function commandFor(element: Element, commands: ReadonlySet<string>): string | undefined {
  return waysOf(element).find((command) => commands.has(command));
}

/** A list that the device opens itself has choices; one that the page draws has none. */
function waysOf({ role, choices }: Element): readonly string[] {
  const isChoice = role === "combobox" || role === "listbox";
  if (isChoice && choices !== undefined) return ["select_option", "click_element"];
  return ways[role] ?? clicks;
}

/** Why an element cannot be used as the intent says; undefined when it can. */
function unfit(element: Element, { verb }: Intent): string | undefined {
  if (!element.interactive) return "is only shown";
  if (element.states.includes("disabled")) return "is disabled";
  if (verb !== "type") return undefined;
  if (element.states.includes("readonly")) return "cannot be changed";
  const takesText = ways[element.role]?.includes("input_text") || element.role === "combobox";
  return takesText ? undefined : "takes no text";
}

function isOfKind(element: Element, { verb, words }: Intent): boolean {
  const [way] = waysOf(element);
  if (words.includes(element.role)) return true;
  if (verb === "choose") return way === "select_option" || element.role === "option";
  return verb === "set" && way === "set_checked";
}

/** How far the scores of elements lie apart that are equally good. */
const tie = 3;
const mostLines = 4;
/** A thing of the kind that was asked for comes before one with a word more or less in its name. */
const kindWeight = 20;

/** An element that is what was asked for. `where` sets it apart from others that are equally good. */
export type Fit = { element: Element; command: string | undefined; where: string | undefined };
/** `tied` of the first in `fits` are equally good; the lines say why others are none, and what comes nearest. */
export type Ranked = { fits: Fit[]; tied: number; leftOut: string[]; nearest: string[] };

/** The elements that say every word of an intent and can be used so, best first. Some of the words are not enough. */
export function rankCandidates(
  elements: readonly Element[],
  intent: Intent,
  commands: ReadonlySet<string>,
): Ranked {
  const scored = scoreElements(elements, intent.words.join(" ")).map(({ element, score }) => ({
    element,
    score: score + (isOfKind(element, intent) ? kindWeight : 0),
    missing: missingWords(element, intent),
    unfit: unfit(element, intent),
  }));
  const fitting = scored
    .filter(({ missing, unfit }) => missing.length === 0 && unfit === undefined)
    .sort((a, b) => b.score - a.score);
  const tied = tiedOf(fitting);
  const others = scored.filter(({ missing, unfit }) => missing.length > 0 || unfit !== undefined);
  const leftOut = others.slice(0, mostLines).map(({ element, missing, unfit: why }) => {
    const reason = why ?? `does not say ${missing.map((word) => quote(word, 30)).join(", ")}`;
    return `${shortly(element)}: ${reason}`;
  });
  const places = placesOf(
    fitting.slice(0, tied).map(({ element }) => element),
    elements,
  );
  return {
    fits: fitting.map(({ element }, at) => ({
      element,
      command: commandFor(element, commands),
      where: places[at],
    })),
    tied: places.length,
    leftOut,
    nearest: fitting.length > 0 || leftOut.length > 0 ? [] : nearestOf(elements, intent),
  };
}

const shortly = ({ ref, role, name, text = "" }: Element) => `${ref} ${role} ${quote(name || text, 60)}`;

function tiedOf(fitting: readonly Scored[]): number {
  const best = fitting[0]?.score ?? 0;
  return fitting.filter(({ score }) => best - score < tie).length;
}

/** How several elements differ: the text before each, and the place on the screen where that is the same. */
function placesOf(tied: readonly Element[], elements: readonly Element[]): string[] {
  if (tied.length < 2) return [];
  const signs = tied.map((element) => signBefore(element, elements));
  return tied.map(({ rect }, at) => {
    const sign = signs[at] ?? "";
    const isAlone = sign !== "" && signs.filter((one) => one === sign).length === 1;
    const place = rect ? `at ${rect.x},${rect.y}` : `number ${at + 1}`;
    return isAlone ? sign : [sign, place].filter(Boolean).join(", ");
  });
}

function signBefore(element: Element, elements: readonly Element[]): string {
  const sign = elements
    .slice(0, elements.indexOf(element))
    .findLast((one) => !one.interactive && (one.name || one.text) && one.depth <= element.depth);
  return sign ? `after ${sign.role} ${quote(sign.name || (sign.text ?? ""), 60)}` : "";
}

/** Names that are spelled like the intent, where no element shares a word with it. */
function nearestOf(elements: readonly Element[], intent: Intent): string[] {
  const usable = elements.filter(({ interactive, name }) => interactive && name !== "");
  const names = nearest(
    intent.text,
    usable.map(({ name }) => name),
    mostLines,
  );
  return names.flatMap((name) => {
    const element = usable.find((one) => one.name === name);
    return element ? [shortly(element)] : [];
  });
}
