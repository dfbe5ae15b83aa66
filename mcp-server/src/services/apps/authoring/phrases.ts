import { actionPhrases } from "./actionPhrases.ts";
import { checkPhrases } from "./checkPhrases.ts";
import { nearestForms } from "./forms.ts";
import { type Meaning, type Phrase, partsOf } from "./phrase.ts";
import { halvesOf, type Sentence, unmark } from "./sentences.ts";
import type { Reading, Vocabulary } from "./types.ts";

/** Of one sentence; what is quoted counts little. */
const mostParts = 10;
const longestSentence = 400;

/** The first that fits and can be meant is. */
const phrases: readonly Phrase[] = [...checkPhrases, ...actionPhrases];

/** What a sentence means: as a whole, else in parts that are joined by "and", "then" or a comma. */
export function readSentence(sentence: Sentence, vocabulary: Vocabulary, parts = mostParts): Reading[] {
  if (sentence.text.length > longestSentence) return [tooLong(sentence)];
  const whole = readPhrase(sentence, vocabulary);
  if ("step" in whole || parts === 0) return [whole];
  for (const { first, rest } of halvesOf(sentence)) {
    const reading = readPhrase(first, vocabulary);
    if ("step" in reading) return [reading, ...readSentence(rest, vocabulary, parts - 1)];
  }
  return [whole];
}

function readPhrase(sentence: Sentence, vocabulary: Vocabulary): Reading {
  const said = unmark(sentence);
  const text = inFull(sentence.text);
  let failure: Exclude<Meaning, { drafts: unknown }> | undefined;
  for (const { pattern, read } of phrases) {
    const match = pattern.exec(text);
    if (!match) continue;
    const meaning = read(partsOf(match, sentence), vocabulary);
    if ("drafts" in meaning) return { step: { said, ...meaning } };
    failure ??= meaning;
  }
  if (failure) return { not: { line: said, ...failure } };
  return { not: { line: said, reason: "not understood", nearest: nearestForms(text, phrases) } };
}

/** Without what the short forms of English and polite words add. */
const inFull = (text: string): string =>
  text
    .replace(/[’]/g, "'")
    .replace(/\b(is|are|was|does|do|did|should|must|has)n't\b/gi, "$1 not")
    .replace(/\bcan(?:'t|not)\b/gi, "can not")
    .replace(/^(?:please |now |then |and |finally |next,? |the user |i |we |you )+/i, "");

const tooLong = (sentence: Sentence): Reading => ({
  not: { line: `${unmark(sentence).slice(0, 100)}…`, reason: "too long for a step; write a step a line" },
});
