import { foldedWords, isEmpty, meaningsOf } from "@labwright/skills";

/** A piece of a request between spaces, or between quotes, by its folded words. `isPlace`: it stands after "on". */
export type Token = { words: readonly string[]; raw: string; isQuoted: boolean; isPlace: boolean };

/** What is asked, and of what: words like these are no part of a name that is written in short. */
const askingMeanings = new Set(
  (
    "run again stop not why which who where when show list all check test script execution report result log status " +
    "free occupied compatible online missing health works open_state open history percent now current file wait past " +
    "requirement coverage alert schedule reference node edge map"
  ).split(" "),
);
const deviceMeanings = new Set("device tv phone website desktop app host lab".split(" "));
const kindMeanings = new Set(["script", "test", "device", "tv", "phone", "app", "execution", "host"]);

/** A device is called so before it is named; other words for one, such as "pixel", may be a name. */
const anyDevice = new Set(foldedWords("device devices appareil appareils Gerät Geräte host lab"));

const beforePlaces = new Set(["on", "at", "auf", "an", "bei", "sur", "chez"]);

/** Quoted texts whole, the rest cut at spaces and apostrophes. At most 2,000 characters are read. */
export function tokensOf(text: string): Token[] {
  const pieces = text
    .slice(0, 2_000)
    .matchAll(/"([^"]*)"|«([^»]*)»|“([^”]*)”|„([^“”]*)[“”]|(?<!\p{L})'([^']{2,}?)'(?!\p{L})|[^\s'’"«“„]+/gu);
  const tokens = [...pieces].flatMap((piece) => {
    const quoted = piece.slice(1).find((part) => part !== undefined);
    return quoted === undefined ? cutCompound(piece[0]) : tokenOf(quoted.trim(), true);
  });
  return tokens.map((token, at) => ({ ...token, isPlace: beforePlaces.has(tokens[at - 1]?.raw ?? "") }));
}

type Cut = Omit<Token, "isPlace">;

/** "goto-Skript" is a name and what it names. */
function cutCompound(raw: string): Cut[] {
  const [, head, tail] = /^(.+)-(\p{L}+)$/u.exec(raw) ?? [];
  if (head === undefined || tail === undefined || !means(tail, kindMeanings)) return tokenOf(raw, false);
  return [...tokenOf(head, false), ...tokenOf(tail, false)];
}

function tokenOf(raw: string, isQuoted: boolean): Cut[] {
  const words = foldedWords(raw);
  return words.length > 0 ? [{ words, raw, isQuoted }] : [];
}

const means = (text: string, meanings: ReadonlySet<string>): boolean =>
  meaningsOf(foldedWords(text)).some((meaning) => meanings.has(meaning));

const isAsking = (word: string): boolean => isEmpty(word) || means(word, askingMeanings);

/** True of a word that names nothing in particular. */
export const isPlain = (word: string): boolean => isAsking(word) || means(word, deviceMeanings);

/** True when a token may be a name: a device may well be called "box". */
export const mayName = ({ words }: Token): boolean => !words.every(isAsking);

/** True of what may be a script's argument. */
export const isArgument = ({ isQuoted, isPlace }: Token): boolean => isQuoted && !isPlace;

/** True when a token may name something that is not here: no argument, and no word that asks. */
export const maySayWhere = (token: Token): boolean =>
  !isArgument(token) &&
  !token.raw.includes("=") &&
  mayName(token) &&
  !token.words.some((word) => anyDevice.has(word));

/** What the tokens ask for, as meanings of the lexicon; what is quoted or written like a name asks for nothing. */
export function wishesIn(tokens: readonly Token[]): Set<string> {
  return new Set(meaningsOf(askingWords(tokens)));
}

/** The same word by word: where the names are taken out, "run ... on" must not become an expression. */
export const ordersIn = (tokens: readonly Token[]): Set<string> =>
  new Set(askingWords(tokens).flatMap((word) => meaningsOf([word])));

const askingWords = (tokens: readonly Token[]): string[] =>
  tokens.filter(({ raw, isQuoted }) => !isQuoted && !/[\d_/=]|\.\w/.test(raw)).flatMap(({ words }) => words);
