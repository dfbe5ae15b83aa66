import { foldedWords } from "@labwright/skills";
import vocabulary from "./vocabulary.json" with { type: "json" };

/** A meaning of `vocabulary.json`. */
export type Meaning = Exclude<keyof typeof vocabulary, "about">;
/** A piece of a request between spaces or quotes, its folded words, and its place in the text. */
export type Token = { raw: string; words: readonly string[]; isQuoted: boolean; from: number; to: number };

const vocabularyWords = new Map(
  Object.entries(vocabulary).map(([meaning, words]) => [meaning, new Set(foldedWords(words))]),
);
const everyMeaning = Object.keys(vocabulary).filter((key): key is Meaning => key !== "about");
const pieces = /"([^"]*)"|“([^”]*)”|„([^“”]*)[“”]|(?<!\p{L})'([^']{2,}?)'(?!\p{L})|[^\s'’"“„]+/gu;

/** Reads at most 2,000 characters. */
export const tokensOf = (text: string): Token[] =>
  [...text.slice(0, 2_000).matchAll(pieces)]
    .map((piece) => {
      const quoted = piece.slice(1).find((part) => part !== undefined);
      const raw = quoted?.trim() ?? piece[0].replace(/[.,;:!?]+$/, "");
      const place = { from: piece.index, to: piece.index + piece[0].length };
      return { raw, words: foldedWords(raw), isQuoted: quoted !== undefined, ...place };
    })
    .filter(({ words, isQuoted }) => isQuoted || words.length > 0);

/** True of a token whose words all have one of the meanings. A quoted token is a name. */
export const means = ({ words, isQuoted }: Token, meanings: readonly Meaning[] = everyMeaning): boolean =>
  !isQuoted && words.every((word) => meanings.some((meaning) => vocabularyWords.get(meaning)?.has(word)));

/** Names with one key are the same: case, accents, `_`, `-` and spaces do not count. */
export const keyOf = (text: string): string => foldedWords(text).join(" ");
