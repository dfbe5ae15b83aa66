import type { Element } from "@labwright/controllers";
import { namesRole, wordLikeness, wordsOf } from "./find.ts";

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

export function missingWords(element: Element, intent: Intent): string[] {
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

export function commandFor(element: Element, commands: ReadonlySet<string>): string | undefined {
  return waysOf(element).find((command) => commands.has(command));
}

/** A list that the device opens itself has choices; one that the page draws has none. */
function waysOf({ role, choices }: Element): readonly string[] {
  const isChoice = role === "combobox" || role === "listbox";
  if (isChoice && choices !== undefined) return ["select_option", "click_element"];
  return ways[role] ?? clicks;
}

/** Why an element cannot be used as the intent says; undefined when it can. */
export function unfit(element: Element, { verb }: Intent): string | undefined {
  if (!element.interactive) return "is only shown";
  if (element.states.includes("disabled")) return "is disabled";
  if (verb !== "type") return undefined;
  if (element.states.includes("readonly")) return "cannot be changed";
  const takesText = ways[element.role]?.includes("input_text") || element.role === "combobox";
  return takesText ? undefined : "takes no text";
}

export function isOfKind(element: Element, { verb, words }: Intent): boolean {
  const [way] = waysOf(element);
  if (words.includes(element.role)) return true;
  if (verb === "choose") return way === "select_option" || element.role === "option";
  return verb === "set" && way === "set_checked";
}
