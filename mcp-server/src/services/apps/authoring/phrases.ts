import { nearest } from "@labwright/controllers";
import { actionPhrases } from "./actionPhrases.ts";
import { checkPhrases } from "./checkPhrases.ts";
import { lacking, type Meaning, type Phrase, partsOf, type Refusal } from "./phrase.ts";
import { halvesOf, type Sentence, unmark } from "./sentences.ts";
import type { Draft, Reading, Vocabulary } from "./types.ts";
import { readUnquoted, withoutQuotes } from "./unquoted.ts";
import { millisecondsOf, time, wait } from "./wordParts.ts";

/** Per sentence, without what is quoted. */
const mostParts = 10;
const longestSentence = 400;
/** A longer one is more than one step, and would take long to try. */
const longestUnquoted = 200;

/** The first that fits and has a meaning here wins. */
const phrases: readonly Phrase[] = [...checkPhrases, ...actionPhrases];

/** Reads a sentence that no phrase fits: a command or check by its name, with its values. */
export type OtherReading = (sentence: Sentence) => Meaning | undefined;

/** What a sentence means: as a whole, else in parts that are joined by "and", "then" or a comma. */
export function readSentence(
  sentence: Sentence,
  vocabulary: Vocabulary,
  other: OtherReading = () => undefined,
  parts = mostParts,
): Reading[] {
  if (sentence.text.length > longestSentence) return [tooLong(sentence)];
  const whole = readWhole(sentence, vocabulary, other);
  if ("step" in whole || parts === 0) return [whole];
  for (const { first, rest } of halvesOf(sentence)) {
    const reading = readWhole(first, vocabulary, other);
    if ("step" in reading) return [reading, ...readSentence(rest, vocabulary, other, parts - 1)];
  }
  return [whole];
}

function readWhole(sentence: Sentence, vocabulary: Vocabulary, other: OtherReading): Reading {
  const text = inFull(sentence.text);
  const meaning =
    answered(text, sentence, vocabulary) ??
    meaningOf(text, sentence, vocabulary) ??
    timed(text, sentence, vocabulary) ??
    other({ ...sentence, text });
  const said = unmark(sentence);
  if (meaning && "drafts" in meaning) return { step: { said, ...meaning } };
  return {
    not: { line: said, ...(meaning ?? { reason: "not understood", nearest: nearestForms(text) }) },
  };
}

/** With names in quotes; else, where they need none, as the first phrase that fits without. */
function meaningOf(text: string, sentence: Sentence, vocabulary: Vocabulary): Meaning | undefined {
  const quoted = quotedMeaning(text, sentence, vocabulary);
  const { unquoted } = vocabulary;
  const canBeBare = unquoted !== undefined && text.length <= longestUnquoted;
  if (!canBeBare || (quoted && ("drafts" in quoted || (quoted.isFinal && unquoted === "words"))))
    return quoted;
  const fitting =
    unquoted === "word" ? phrases : withoutQuotes(text, { actions: actionPhrases, all: phrases });
  const bare = readUnquoted(fitting, text, sentence, { ...vocabulary, unquoted });
  // Without quotes a meaning wins; of two reasons that of the quoted form, unless it only asks for quotes.
  const isBetter = bare && ("drafts" in bare || quoted === undefined || quoted.isAboutQuotes);
  return isBetter ? bare : quoted;
}

/** The meaning of the first phrase that fits and has one, else why the first that fits has none. */
function quotedMeaning(text: string, sentence: Sentence, vocabulary: Vocabulary): Meaning | undefined {
  let failure: Refusal | undefined;
  for (const { patternFor, read } of phrases) {
    const match = patternFor("quoted").exec(text);
    if (!match) continue;
    const meaning = read(partsOf(match, sentence), vocabulary);
    const refusal = "drafts" in meaning ? lacking(meaning, vocabulary) : meaning;
    if (!refusal) return meaning;
    failure ??= refusal;
  }
  return failure;
}

const timedPatterns = [`${wait}(?<what>.+?)${time}?`, `(?<what>.+?) (?:with)?in${time}`].map(
  (source) => new RegExp(`^(?:${source})$`, "iu"),
);

/** Any check with a time to come true. */
function timed(text: string, sentence: Sentence, vocabulary: Vocabulary): Meaning | undefined {
  for (const pattern of timedPatterns) {
    const match = pattern.exec(text);
    if (!match) continue;
    const part = partsOf(match, sentence);
    const what = match.groups?.what ?? "";
    const meaning = ["", "check "]
      .map((before) => meaningOf(`${before}${what}`, sentence, vocabulary))
      .find((one) => one !== undefined && "drafts" in one);
    const drafts =
      meaning && "drafts" in meaning ? meaning.drafts.flatMap(waiting(millisecondsOf(part))) : [];
    if (meaning && "drafts" in meaning && drafts.length === meaning.drafts.length)
      return { ...meaning, drafts };
  }
  return undefined;
}

const answeredPattern =
  /^(?<what>.+?),? (?:(?:and )?expect(?:s|ing)?|with)(?: an?| the)?(?: http)? status(?: code)?(?: of)? (?<status>[1-5]\d\d)$/iu;

/** An action that opens a page, with its right HTTP status. */
function answered(text: string, sentence: Sentence, vocabulary: Vocabulary): Meaning | undefined {
  const { what = "", status } = answeredPattern.exec(text)?.groups ?? {};
  const meaning = status === undefined ? undefined : meaningOf(what, sentence, vocabulary);
  const [draft, ...others] = meaning && "drafts" in meaning ? meaning.drafts : [];
  if (!meaning || draft?.type !== "action" || others.length > 0) return undefined;
  const params = { ...draft.params, expect_status: Number(status) };
  return { ...meaning, drafts: [{ ...draft, params }] };
}

/** A check with a time limit; nothing for anything else. */
const waiting =
  (timeout_ms: number) =>
  (draft: Draft): Draft[] =>
    draft.type === "verification" ? [{ ...draft, timeout_ms }] : [];

const tooLong = (sentence: Sentence): Reading => ({
  not: { line: `${unmark(sentence).slice(0, 100)}…`, reason: "too long for a step; write a step a line" },
});

/** Verbs that people also write of a user: "the user clicks". */
const thirdPerson =
  /^(click|tap|type|enter|select|choose|pick|open|see|scroll|hover|tick|untick|uncheck|fill|clear|upload|drag|drop|wait|visit|navigate|follow|reload|submit|(?:press|go|search)(?=es))e?s\b/i;

/** Each is replaced once, in this order. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  [/[’]/g, "'"],
  [/\b(is|are|was|does|do|did|should|must|has)n't\b/gi, "$1 not"],
  [/\bcan(?:'t|not)\b/gi, "can not"],
  [/\b(?:not to|to not) be\b/gi, "is not"],
  [/\b(?:not to|to not) (have|contain|show|exist|equal)\b/gi, "does not $1"],
  [/(?:,? (?:please|for me))?\s*\?*$/i, ""],
  [
    /^(?:(?:please|now|then|and|but|given|when|finally|next|first(?:ly)?|lastly|also|after (?:that|this)|afterwards),? |(?:can|could|would|will) you (?:please )?|(?:i|we)(?:'d| would) (?:like|love)(?: you)? to |(?:i|we) (?:want|need)(?: you)? to |let's |(?:the |a )?user (?!is |has |was )|i (?!am )|we (?!are )|you (?!are ))+/i,
    "",
  ],
  [
    /^(is|are)( not)? (.+) (visible|shown|displayed|present|open|enabled|disabled|checked|ticked|selected|focused|hidden|empty|expanded|collapsed)$/i,
    "check $3 $1$2 $4",
  ],
  [thirdPerson, "$1"],
  [/^(wait)(?: for)?(?: up to| at most)? (\d+ ?[a-z]+) (for|until|till) (.+)$/i, "$1 $3 $4 for $2"],
];

/** A sentence without short forms, polite words and its subject. */
const inFull = (text: string): string =>
  rewrites.reduce((said, [pattern, by]) => said.replace(pattern, by), text);

const mostForms = 3;
const usual = ["go to NODE", 'click "X"', 'type "T" into "X"'];

/** The forms that are most like a sentence: those that begin alike, then those that share words. */
function nearestForms(sentence: string): string[] {
  const said = wordsOf(sentence);
  const forms = [...new Set(phrases.map(({ form }) => form))];
  const verbs = forms.map((form) => wordsOf(form)[0] ?? "");
  const like = new Set(said[0] === undefined ? [] : [said[0], ...nearest(said[0], verbs, 2)]);
  const scored = forms
    .map((form) => ({ form, score: scoreOf(wordsOf(form), said, like) }))
    .filter(({ form, score }) => form !== "" && score > 0)
    .sort((a, b) => b.score - a.score);
  return scored.length > 0 ? scored.slice(0, mostForms).map(({ form }) => form) : usual;
}

function scoreOf(form: readonly string[], said: readonly string[], like: ReadonlySet<string>): number {
  const shared = form.filter((word) => said.includes(word)).length;
  return (like.has(form[0] ?? "") ? 2 : 0) + shared / Math.max(form.length, 1);
}

/** Words that say what is done; names in quotes and small words say nothing. */
const small = new Set("the a an to in on of is are be it and with into for i we you that".split(" "));
const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/\p{L}{2,}/gu) ?? []).filter((word) => !small.has(word));
