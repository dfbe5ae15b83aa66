import { meaningsOf } from "./meanings.ts";
import { foldedWords, stem } from "./words.ts";

/** What a text says, and how much each thing counts. */
export type Features = ReadonlyMap<string, number>;

/**
 * A text is read in four ways: a meaning serves three languages, a word tells apart what means the same, neighbours tell
 * what is done to what, and letters serve slips, compounds and forms that no ending explains.
 */
const weights = { meaning: 1, word: 0.7, neighbours: 0.7, letters: 0.2 };
const lettersLength = 4;

/** Of a text whose names are read (`namesByKind`). */
export function featuresOf(text: string): Features {
  const words = foldedWords(text).map((word) => (/^\p{N}+$/u.test(word) ? "#" : word));
  const stems = words.map(stem);
  return new Map([
    ...meaningsOf(words).map((meaning) => [`means ${meaning}`, weights.meaning] as const),
    ...stems.map((word) => [word, weights.word] as const),
    ...stems.slice(1).map((word, at) => [`${stems[at]} ${word}`, weights.neighbours] as const),
    ...stems.flatMap(lettersOf).map((letters) => [`.${letters}`, weights.letters] as const),
  ]);
}

/** Letters in a row, each one row further, with the word's ends marked. */
function lettersOf(word: string): string[] {
  if (word.length <= lettersLength) return [];
  const marked = `^${word}$`;
  const rows = marked.length - lettersLength + 1;
  return Array.from({ length: rows }, (_, at) => marked.slice(at, at + lettersLength));
}
