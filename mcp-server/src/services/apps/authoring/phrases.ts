import { actionPhrases } from "./actionPhrases.ts";
import { checkPhrases } from "./checkPhrases.ts";
import { nearestForms } from "./forms.ts";
import { type Meaning, type Phrase, partsOf } from "./phrase.ts";
import { halvesOf, type Sentence, unmark } from "./sentences.ts";
import type { Draft, Reading, Vocabulary } from "./types.ts";
import { inFull } from "./wording.ts";
import { millisecondsOf, time, wait } from "./wordParts.ts";

/** Of one sentence; what is quoted counts little. */
const mostParts = 10;
const longestSentence = 400;

/** The first that fits and can be meant is. */
const phrases: readonly Phrase[] = [...checkPhrases, ...actionPhrases];

/** What else a sentence may be that no phrase fits: a command or check by its name, with its values. */
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
    not: { line: said, ...(meaning ?? { reason: "not understood", nearest: nearestForms(text, phrases) }) },
  };
}

/** What the first phrase that fits and can be meant says, else why the first that fits cannot. */
function meaningOf(text: string, sentence: Sentence, vocabulary: Vocabulary): Meaning | undefined {
  let failure: Meaning | undefined;
  for (const { pattern, read } of phrases) {
    const match = pattern.exec(text);
    if (!match) continue;
    const meaning = read(partsOf(match, sentence), vocabulary);
    if ("drafts" in meaning) return meaning;
    failure ??= meaning;
  }
  return failure;
}

const timedPatterns = [`${wait}(?<what>.+?)${time}?`, `(?<what>.+?) (?:with)?in${time}`].map(
  (source) => new RegExp(`^(?:${source})$`, "iu"),
);

/** Any check that is waited for, or that has a time to come true. */
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

/** An action that opens a page, with the HTTP status that is right there. */
function answered(text: string, sentence: Sentence, vocabulary: Vocabulary): Meaning | undefined {
  const { what = "", status } = answeredPattern.exec(text)?.groups ?? {};
  const meaning = status === undefined ? undefined : meaningOf(what, sentence, vocabulary);
  const [draft, ...others] = meaning && "drafts" in meaning ? meaning.drafts : [];
  if (!meaning || draft?.type !== "action" || others.length > 0) return undefined;
  const params = { ...draft.params, expect_status: Number(status) };
  return { ...meaning, drafts: [{ ...draft, params }] };
}

/** A check with a time; nothing for what cannot be waited for. */
const waiting =
  (timeout_ms: number) =>
  (draft: Draft): Draft[] =>
    draft.type === "verification" ? [{ ...draft, timeout_ms }] : [];

const tooLong = (sentence: Sentence): Reading => ({
  not: { line: `${unmark(sentence).slice(0, 100)}…`, reason: "too long for a step; write a step a line" },
});
