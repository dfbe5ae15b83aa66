import { nearest, similarity } from "@labwright/controllers";
import {
  elements,
  fold,
  lacking,
  type Meaning,
  type Phrase,
  partsOf,
  type Refusal,
  withNearest,
} from "./phrase.ts";
import { quotedMark, type Sentence } from "./sentences.ts";
import type { Vocabulary } from "./types.ts";

type Known = Vocabulary & Required<Pick<Vocabulary, "unquoted">>;

/** Verbs that need no quotes in a task. After others, such as "put" and "send", words are too often no names. */
const actionVerbs =
  /^(?:click|tap|press|hit|push|double[- ]?(?:click|tap)|right[- ]?click|long[- ]?press|hover|scroll|drag|type|fill|enter(?= .+ (?:in|into|on) )|clear|tick|untick|uncheck|upload|select|choose|pick|enable|disable|toggle)\b/i;
/** A check also begins with its element. */
const checkVerbs =
  /^(?:wait|check|verify|assert|ensure|confirm|make sure|expect|should|must|see|.+ (?:is|are|appears?|exists?|should)\b)/i;

/** The phrases that a sentence of a task may be without quotes. */
export function withoutQuotes(
  text: string,
  phrases: { actions: readonly Phrase[]; all: readonly Phrase[] },
): readonly Phrase[] {
  if (actionVerbs.test(text)) return phrases.actions;
  return checkVerbs.test(text) ? phrases.all : [];
}

/** The meaning by the first phrase that fits, its names and texts without quotes. */
export function readUnquoted(
  phrases: readonly Phrase[],
  text: string,
  sentence: Sentence,
  vocabulary: Known,
): Meaning | undefined {
  for (const phrase of phrases) {
    const match = phrase.slots.length > 0 && phrase.patternFor(vocabulary.unquoted).exec(text);
    if (match) return readMatch(phrase, match, sentence, vocabulary);
  }
  return undefined;
}

const isMark = new RegExp(`^${quotedMark}$`);

function readMatch(
  { slots, form, read }: Phrase,
  match: RegExpExecArray,
  sentence: Sentence,
  vocabulary: Known,
): Meaning {
  const parts: Record<string, string> = {};
  for (const slot of slots) {
    const said = match.groups?.[slot];
    if (said === undefined || isMark.test(said)) continue;
    const noun = match.groups?.[`${slot}Noun`] ?? "";
    const name = nameOf({ said, noun, isElement: elements.has(slot), form }, vocabulary);
    if (typeof name !== "string") return name;
    parts[slot] = name;
  }
  const meaning = read(partsOf(match, sentence, parts), vocabulary);
  return lacking(meaning, vocabulary) ?? meaning;
}

/** What a name without quotes does not hold: it could belong to the sentence, or mean no element. */
const unclear =
  /^\d+$|(?<![\p{L}\p{N}-])(?:and|or|then|if|unless|when|while|until|but|not|no|never|none|nothing|all|any|every\w*|some\w*|it|its|them|this|that|these|those|ones?|things?|stuff|here|there|\d+ times|again|twice|is|are|has|have|be|und|oder|et|ou|(?:in|into|inside|on|onto|to|at|of|for|with|without|from|by|as|near|next|besides?|after|before|above|below|under|over)(?=\s))(?![\p{L}\p{N}-])/iu;

const bare = (text: string): string => fold(text).replace(/[\s?!.:…]+$/, "");
const lettersOf = (text: string): string => [...bare(text)].sort().join("");
const digitsOf = (text: string): string => text.replace(/\D/g, "");

/** A typing error, and not another name. */
const isTypo = (said: string, name: string): boolean =>
  said.length > 3 &&
  digitsOf(said) === digitsOf(name) &&
  Math.abs(said.length - name.length) < 3 &&
  (similarity(said, name) > 0.6 || lettersOf(said) === lettersOf(name));

type Bare = { said: string; noun: string; isElement: boolean; form: string };

/** A name as the app's tree says it, else as it was said. Refused when it could be read in another way. */
function nameOf({ said, noun, isElement, form }: Bare, { names = [], unquoted }: Known): string | Refusal {
  const readings = [`${said}${noun}`, said];
  const known = names.filter((name) => readings.some((reading) => bare(reading) === bare(name)));
  if (known.length > 0)
    return isElement ? (known.find((name) => readings.includes(name)) ?? known[0] ?? said) : said;
  if (unquoted === "word") return said;
  if (unclear.test(said))
    return { reason: `"${said}" could mean several things; put names and texts in quotes`, nearest: [form] };
  const typos = isElement ? names.filter((name) => isTypo(said, name)) : [];
  if (typos.length === 0) return said;
  return withNearest(`the app has no "${said}"; in quotes it is taken as it is`, nearest(said, typos, 3));
}
