import { type Element, wholeWords } from "@labwright/controllers";

const mostFound = 8;

/** Words a person may use for a role; the role's own name always counts. */
const roleWords: Readonly<Record<string, readonly string[]>> = {
  button: ["button", "btn"],
  checkbox: ["checkbox", "check", "tick"],
  clickable: ["clickable", "button", "item", "entry", "node", "row"],
  combobox: ["combobox", "dropdown", "select", "list", "choice"],
  dialog: ["dialog", "popup", "modal", "window"],
  heading: ["heading", "title", "headline"],
  link: ["link", "tab", "button"],
  listbox: ["listbox", "list", "select"],
  menuitem: ["menuitem", "menu", "item", "entry"],
  option: ["option", "choice", "item"],
  radio: ["radio", "button", "choice"],
  searchbox: ["searchbox", "search", "field", "input", "box"],
  slider: ["slider", "range"],
  spinbutton: ["spinbutton", "number", "field", "input"],
  switch: ["switch", "toggle"],
  tab: ["tab"],
  textbox: ["textbox", "textfield", "field", "input", "box", "text"],
  treeitem: ["treeitem", "item", "node", "entry"],
};

/** What icons are named after, and what they mean; each line's words find each other. */
const synonyms: readonly (readonly string[])[] = [
  ["add", "plus", "new", "create"],
  ["close", "times", "dismiss", "cancel", "xmark"],
  ["delete", "trash", "remove", "bin"],
  ["settings", "cog", "gear", "config", "configuration", "preferences", "options", "opts"],
  ["menu", "list", "bars", "hamburger", "sidemenu", "more", "ellipsis"],
  ["search", "magnifier", "find", "filter"],
  ["edit", "pencil", "pen", "modify"],
  ["help", "book", "question", "documentation"],
  ["debug", "bug"],
  ["info", "information"],
  ["show", "eye", "view", "visible"],
  ["hide", "eye", "invisible"],
  ["lock", "unlock", "padlock"],
  ["refresh", "reload", "rotate", "next"],
  ["reset", "zero", "original", "fit"],
  ["expand", "down", "open"],
  ["collapse", "up"],
  ["all", "double"],
  ["dropdown", "caret", "arrow", "chevron", "angle"],
  ["user", "account", "profile", "avatar"],
  ["login", "signin"],
  ["logout", "signout"],
  ["save", "disk", "floppy"],
  ["navigator", "navigate", "map", "minimap"],
];

/** The elements that a description means, best first, at most eight. A name that shares no word with it never matches. */
export function findElements(elements: readonly Element[], query: string): Element[] {
  const scored = scoreElements(elements, query);
  const best = scored[0]?.score ?? 0;
  const least = best >= 80 ? best * 0.6 : best * 0.5;
  return scored
    .filter(({ score }) => score >= least)
    .slice(0, mostFound)
    .map(({ element }) => withBestChoice(element, query));
}

/** The choice that was asked for comes first, so that a line shows it. */
function withBestChoice(element: Element, query: string): Element {
  const { choices } = element;
  const best = choices && bestChoice(element, fold(query), wordsOf(query));
  if (!best || best.score === 0) return element;
  return { ...element, choices: [best.choice, ...choices.filter((one) => one !== best.choice)] };
}

function bestChoice({ name, choices = [] }: Element, wanted: string, words: readonly string[]) {
  const own = new Set(wordsOf(name));
  const left = words.filter((word) => !own.has(word));
  let best = { choice: "", score: 0 };
  if (left.length === 0) return best;
  for (const choice of choices) {
    const score = Math.max(likeness(choice, wanted, words), likeness(choice, left.join(" "), left));
    if (score > best.score) best = { choice, score };
  }
  return best;
}

export type Scored = { element: Element; score: number };

/** All elements that have to do with a description, best first; equally good ones in reading order. */
export function scoreElements(elements: readonly Element[], query: string): Scored[] {
  const wanted = fold(query);
  const words = wordsOf(query);
  if (words.length === 0) return [];
  return elements
    .map((element) => ({ element, score: score(element, wanted, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

export const namesRole = (word: string, role: string): boolean => (roleWords[role] ?? [role]).includes(word);

function score(element: Element, wanted: string, words: readonly string[]): number {
  const named = words.filter((word) => !namesRole(word, element.role));
  const saysRole = named.length < words.length;
  const name = likeness(element.name, wanted, named.length > 0 ? named : words);
  const text = element.text ? likeness(element.text, wanted, words) * 0.8 : 0;
  const value = element.value ? likeness(element.value, wanted, words) * 0.7 : 0;
  const choice = element.choices
    ? bestChoice(element, wanted, named.length > 0 ? named : words).score * 0.85
    : 0;
  const onlyRole = saysRole && named.length === 0 ? 20 : 0;
  const sign = element.apart ? likeness(`${element.name} ${element.apart}`, wanted, words) : 0;
  const base = Math.max(name, text, value, choice, onlyRole, sign);
  if (base === 0) return 0;
  return base + (saysRole ? 15 : 0) + (element.interactive ? 6 : 0);
}

/** 0..100: 100 the same, 90 the same words, then by the share of the words that are there, in themselves or in meaning. */
function likeness(said: string, wanted: string, words: readonly string[]): number {
  const text = fold(said);
  if (text === "") return 0;
  const own = wordsOf(text);
  if (text === wanted || own.join(" ") === words.join(" ")) return 100;
  const hits = words.map((word) => Math.max(...own.map((one) => wordLikeness(one, word)), 0));
  if (words.some((word, at) => /\p{N}/u.test(word) && hits[at] === 0)) return 0;
  const share = hits.reduce((sum, hit) => sum + hit, 0) / words.length;
  if (share < 0.35) return 0;
  const extra = Math.max(0, own.length - words.length);
  return Math.max(1, share * 90 - Math.min(25, extra * 3));
}

/** 0..1: how much a word of an element is like a word of a description, in letters or in meaning. */
export function wordLikeness(own: string, word: string): number {
  if (own === word) return 1;
  // A number has no forms: a part of one is another number.
  if (/\p{N}/u.test(own + word)) return 0;
  if (synonyms.some((line) => line.includes(own) && line.includes(word))) return 0.75;
  if (word.length >= 3 && own.length >= 3 && (own.startsWith(word) || word.startsWith(own))) return 0.8;
  if (word.length >= 4 && own.includes(word)) return 0.6;
  return word.length >= 4 && isOneTypoAway(own, word) ? 0.7 : 0;
}

/** One letter more, less, other or swapped. */
function isOneTypoAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from++;
  const restA = a.slice(from);
  const restB = b.slice(from);
  const swapped = restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2);
  return swapped || restA.slice(1) === restB || restA === restB.slice(1) || restA.slice(1) === restB.slice(1);
}

function fold(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

/** Words that mean one thing together, and are written apart or not. */
const compounds = /\b(sign|log|check|drop|text) (in|out|up|on|off|down|box|field)\b/g;

export function wordsOf(text: string): string[] {
  return wholeWords(fold(text).replace(compounds, "$1$2"))
    .flatMap((word) => word.split("_"))
    .filter((word) => word !== "" && !/^(the|a|an|of|to|for)$/.test(word));
}
