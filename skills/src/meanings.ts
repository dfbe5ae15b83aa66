import lexicon from "./lexicon.json" with { type: "json" };
import { foldedWords, stem } from "./words.ts";

/** Fewer letters than this are no part of a compound. */
const minPart = 4;
/** In a shorter word one letter makes another word. */
const minSlip = 6;

/** Expressions by their stems, and single words as they are written, by the letters that a slip leaves. */
const expressions = new Map<string, string[]>();
const written = new Set<string>();
const emptyWords = new Set(foldedWords(lexicon.empty.join(" ")));
readMeanings();
const slips = readSlips();
/** No expression has more words. */
const maxLength = Math.max(...[...expressions.keys()].map((key) => key.split(" ").length));

function readMeanings(): void {
  for (const [meaning, expressionsOf] of Object.entries(lexicon.meanings)) {
    for (const expression of expressionsOf.split(" ")) {
      const words = foldedWords(expression.replaceAll("_", " "));
      const key = words.map(stem).join(" ");
      const known = expressions.get(key) ?? [];
      if (!known.includes(meaning)) expressions.set(key, [...known, meaning]);
      if (words.length === 1) written.add(words.join());
    }
  }
}

/**
 * What the words mean, in order: the longest expression first, a German compound by its parts, a slip of the keyboard as
 * the word it is nearest to, an unknown word by its stem; a word that says nothing is left out.
 */
export function meaningsOf(words: readonly string[]): string[] {
  const stems = words.map(stem);
  const found: string[] = [];
  for (let at = 0; at < stems.length; ) {
    const length = lengthAt(words, stems, at);
    const known = expressions.get(stems.slice(at, at + length).join(" "));
    found.push(...(length > 0 && known !== undefined ? known : aloneOf(words[at] ?? "", stems[at] ?? "")));
    at += Math.max(length, 1);
  }
  return found;
}

/** How many words the longest expression has that begins at `at`; 0 when none does. */
function lengthAt(words: readonly string[], stems: readonly string[], at: number): number {
  for (let length = Math.min(maxLength, stems.length - at); length > 1; length--)
    if (expressions.has(stems.slice(at, at + length).join(" "))) return length;
  const word = words[at] ?? "";
  const isEmpty = emptyWords.has(word) && !written.has(word);
  return !isEmpty && expressions.has(stems[at] ?? "") ? 1 : 0;
}

/** A word that says nothing about what is wanted. */
export const isEmpty = (word: string): boolean => emptyWords.has(word);

function aloneOf(word: string, stemmed: string): string[] {
  if (emptyWords.has(word) || /^\p{N}+$/u.test(word)) return [];
  return slipOf(word) ?? partsOf(word) ?? [stemmed];
}

/** Both parts where both are known, else the last one, which says what a compound is. */
function partsOf(word: string): string[] | undefined {
  let lastPart: string[] | undefined;
  for (let cut = minPart; cut <= word.length - minPart; cut++) {
    const tail = expressions.get(stem(word.slice(cut)));
    if (tail === undefined) continue;
    const head = expressions.get(stem(word.slice(0, cut)));
    if (head !== undefined) return [...head, ...tail];
    lastPart ??= tail;
  }
  return lastPart;
}

function readSlips(): Map<string, string> {
  const read = new Map<string, string>();
  for (const word of [...written].filter(({ length }) => length >= minSlip))
    for (const rest of withOneLess(word)) read.set(rest, word);
  return read;
}

/** One letter too many, too few, wrong, or two of them swapped. */
function slipOf(word: string): string[] | undefined {
  if (word.length < minSlip) return undefined;
  for (const rest of withOneLess(word)) {
    const meant = slips.get(rest);
    if (meant !== undefined && isSlipOf(word, meant)) return expressions.get(stem(meant));
  }
  return undefined;
}

function isSlipOf(word: string, meant: string): boolean {
  if (word[0] !== meant[0]) return false;
  if (word.length !== meant.length) return true;
  const wrong = Array.from(word, (letter, at) => (letter === meant[at] ? -1 : at)).filter((at) => at >= 0);
  const [first = 0, second = first] = wrong;
  return wrong.length < 3 && second - first < 2 && (wrong.length < 2 || word[first] === meant[second]);
}

function withOneLess(word: string): string[] {
  return [word, ...Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1))];
}
