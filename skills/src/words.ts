/** Longer texts are read up to here. */
export const maxLetters = 2_000;

/** Letters that lose nothing else when their accents go, pairs that stand for an accented letter, and a word with two spellings. */
const spellings: readonly [RegExp, string][] = [
  [/testcase/g, "test case"],
  [/ß/g, "ss"],
  [/œ/g, "oe"],
  [/æ/g, "ae"],
  [/ø/g, "o"],
  [/(?<=(?:^|[^aeiouq]))([aou])e/g, "$1"],
];

/**
 * The words of a text without case, accents and punctuation: "Gerät", "geraet" and "GERÄT" are one word, "testcase" is two. Cut after 2,000
 * letters.
 */
export function foldedWords(text: string): string[] {
  let folded = text
    .slice(0, maxLetters)
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "");
  for (const [pattern, letters] of spellings) folded = folded.replace(pattern, letters);
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Endings of plurals and verbs in English, French and German. */
const endings = [
  ..."ements ations ungen aient ation ings ieren iert ment ing ung ent ant ern est".split(" "),
  ..."ies ees ers ed er es en em ez ee ai st is (?<!s)s e n t i y".split(" "),
].join("|");
/** The longest of them, where enough of the word stays: "test" is not cut to "te". */
const ending = new RegExp(`^(.{4,}?)(?:${endings})$|^(.{2}[^s])s$`, "u");
/** English doubles these before an ending. */
const doubled = /([bdgmnprt])\1$/;

/** A word without its endings. It need not be a word itself: all forms of one word must give the same. */
export function stem(word: string): string {
  let rest = word;
  for (let cut = ending.exec(rest); cut !== null; cut = ending.exec(rest)) rest = cut[1] ?? cut[2] ?? "";
  return rest.replace(doubled, "$1");
}
