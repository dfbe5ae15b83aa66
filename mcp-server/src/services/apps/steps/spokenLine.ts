import { isDeepStrictEqual } from "node:util";
import { readSentence } from "../authoring/phrases.ts";
import { sentencesOf } from "../authoring/sentences.ts";
import type { Draft, Vocabulary } from "../authoring/types.ts";
import { isRef, type Said } from "./line.ts";

type ActionDraft = Extract<Draft, { type: "action" }>;
type CheckDraft = Extract<Draft, { type: "verification" }>;
export type Spoken<Verb extends "do" | "check"> = Verb extends "do" ? ActionDraft : CheckDraft;

/** Each word that a shell gives may have been in quotes: so many words are tried with and without. */
const mostWords = 9;

/**
 * The words of a line as the words of a test: `click the "Sign in" button`, `Save is disabled`. Undefined where they are
 * none, or could be several: then they are a command and its values.
 */
export function spokenSteps<Verb extends "do" | "check">(
  { command, not, words }: Said,
  verb: Verb,
  offered: ReadonlySet<string>,
): Spoken<Verb>[] | undefined {
  const line = [command, ...words];
  if (not || line.some((word) => word.startsWith("--"))) return undefined;
  const vocabulary = { places: [], testcases: [], commands: undefined, checks: undefined };
  const known = { ...vocabulary, [verb === "do" ? "commands" : "checks"]: offered };
  const [fewest = []] = readingsOf(line, verb, known);
  const [first, ...others] = fewest;
  if (first === undefined || others.some((other) => !isDeepStrictEqual(other, first))) return undefined;
  return first;
}

/** What the line can mean, by how many of its words are in quotes; the least first. */
function readingsOf<Verb extends "do" | "check">(
  line: readonly string[],
  verb: Verb,
  vocabulary: Vocabulary,
): Spoken<Verb>[][][] {
  const isSentence = line.length === 1 && /\s/.test(line[0] ?? "");
  const texts = isSentence ? [[line[0] ?? ""]] : quotings(line);
  return texts
    .map((same) => same.flatMap((text) => readingOf(text, verb, vocabulary)))
    .filter((readings) => readings.length > 0);
}

function readingOf<Verb extends "do" | "check">(
  text: string,
  verb: Verb,
  vocabulary: Vocabulary,
): Spoken<Verb>[][] {
  const said = verb === "check" && !/^(?:check|verify|assert|expect)\s/i.test(text) ? `check ${text}` : text;
  const readings = sentencesOf(said).flatMap((sentence) => readSentence(sentence, vocabulary));
  const drafts = readings.flatMap((one) => ("step" in one ? one.step.drafts : []));
  const fitting = drafts.flatMap((draft) => fittingDraft(draft, verb));
  const isWhole = readings.every((one) => "step" in one) && fitting.length === drafts.length;
  return isWhole && fitting.length > 0 ? [fitting] : [];
}

function quotings(line: readonly string[]): string[][] {
  if (line.length > mostWords) return [];
  const free = line.flatMap((word, at) => (/\s/.test(word) ? [] : [at]));
  const byCount: string[][] = free.map(() => []).concat([[]]);
  for (let chosen = 0; chosen < 2 ** free.length; chosen++) {
    const isQuoted = (at: number) => !free.includes(at) || ((chosen >> free.indexOf(at)) & 1) === 1;
    const text = line.map((word, at) => (isQuoted(at) ? inQuotes(word) : word)).join(" ");
    byCount[free.filter(isQuoted).length]?.push(text);
  }
  return byCount;
}

const inQuotes = (word: string) => (word.includes('"') ? `“${word}”` : `"${word}"`);

function fittingDraft<Verb extends "do" | "check">(draft: Draft, verb: Verb): Spoken<Verb>[];
function fittingDraft(draft: Draft, verb: "do" | "check"): (ActionDraft | CheckDraft)[] {
  if (verb === "check") return draft.type === "verification" ? [withRefs(draft)] : [];
  if (draft.type === "verification") return waitOf(draft).map(withRefs);
  return draft.type === "action" ? [withRefs(draft)] : [];
}

/** An element that a look named. */
function withRefs<One extends ActionDraft | CheckDraft>(draft: One): One {
  const params = Object.entries(draft.params).map(([name, value]) => {
    const isOne = /^(?:to_)?selector$/.test(name) && typeof value === "string" && isRef(value);
    return [isOne ? name.replace("selector", "ref") : name, value];
  });
  return { ...draft, params: Object.fromEntries(params) };
}

/** What is waited for, as the command that waits. */
function waitOf({ command, params, negate = false, timeout_ms }: CheckDraft): ActionDraft[] {
  if (timeout_ms === undefined) return [];
  const made: Readonly<Record<string, Record<string, unknown>>> = {
    element_visible: { ...params, state: negate ? "hidden" : "visible" },
    element_hidden: { ...params, state: negate ? "visible" : "hidden" },
    text_visible: { [negate ? "text_gone" : "text"]: params.text },
    ...(negate ? {} : { url_matches: { url: params.url } }),
  };
  const given = made[command];
  return given ? [{ type: "action", command: "wait_for", params: { ...given, timeout_ms } }] : [];
}
