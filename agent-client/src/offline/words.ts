import { foldedWords, isEmpty } from "@labwright/skills";
import vocabulary from "./vocabulary.json" with { type: "json" };

/** A meaning of `vocabulary.json`. */
export type Meaning = Exclude<keyof typeof vocabulary, "about">;
/** A piece of a request between spaces or quotes: its folded words, and where it is in the text. */
export type Token = {
  words: readonly string[];
  raw: string;
  isQuoted: boolean;
  /** It follows "on". */
  isPlace: boolean;
  from: number;
  to: number;
};

const wordsOf = new Map(
  Object.entries(vocabulary).map(([name, words]) => [name, new Set(foldedWords(words))]),
);
const beforePlaces = new Set(["on", "at", "auf", "an", "bei", "sur", "chez"]);
const pieces = /"([^"]*)"|«([^»]*)»|“([^”]*)”|„([^“”]*)[“”]|(?<!\p{L})'([^']{2,}?)'(?!\p{L})|[^\s'’"«“„]+/gu;
/** "goto-Skript" is a name and what it names. */
const compound = /-(?=(?:skript|script|test|testfall)(?!\p{L}))/giu;

/** At most 2,000 characters are read. */
export function tokensOf(text: string): Token[] {
  const found = [...text.slice(0, 2_000).replace(compound, " ").matchAll(pieces)].map((piece) => {
    const quoted = piece.slice(1).find((part) => part !== undefined);
    const raw = quoted?.trim() ?? piece[0];
    const place = { from: piece.index, to: piece.index + piece[0].length };
    return { raw, words: foldedWords(raw), isQuoted: quoted !== undefined, ...place };
  });
  return found
    .map((token, at) => ({ ...token, isPlace: beforePlaces.has(found[at - 1]?.raw ?? "") }))
    .filter(({ words }) => words.length > 0);
}

const isWord = (word: string, meanings: readonly Meaning[]): boolean =>
  meanings.some((meaning) => wordsOf.get(meaning)?.has(word));

/** True of a token that has one of the meanings and says nothing else. */
export const means = (token: Token | undefined, ...meanings: Meaning[]): boolean =>
  token?.words.some((word) => isWord(word, meanings)) === true && isUnderstood(token, meanings);

/** True of a token that says nothing but these meanings. What is quoted is a name. */
export const isUnderstood = ({ words, isQuoted }: Token, meanings: readonly Meaning[]): boolean =>
  !isQuoted && words.every((word) => isEmpty(word) || isWord(word, meanings));
