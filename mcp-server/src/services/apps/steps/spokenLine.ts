import { readSentence } from "../authoring/phrases.ts";
import { sentencesOf } from "../authoring/sentences.ts";
import { type Draft, noNames, type Vocabulary } from "../authoring/types.ts";
import { isRef, type Said } from "./line.ts";

type Verb = "do" | "check";
type ActionDraft = Extract<Draft, { type: "action" }>;
type CheckDraft = Extract<Draft, { type: "verification" }>;
type Spoken = ActionDraft | CheckDraft;

/** The line as the words of a test: `click the "Sign in" button`. Undefined if it is none. */
export function spokenSteps(
  { command, not, words }: Said,
  verb: Verb,
  offered: ReadonlySet<string>,
): Spoken[] | undefined {
  const line = [command, ...words];
  if (not || line.some((word) => word.startsWith("--"))) return undefined;
  const known = { ...noNames, [verb === "do" ? "commands" : "checks"]: offered };
  if (line.length === 1 && /\s/.test(command)) return readingOf(command, verb, known);
  // A shell takes the quotes away: a word with a space or a mark had some, any other may have had.
  const text = line.map((word) => (/[\s"]|\D[.,;!?]$/.test(word) ? inQuotes(word) : word)).join(" ");
  return readingOf(text, verb, { ...known, unquoted: "word" });
}

function readingOf(text: string, verb: Verb, vocabulary: Vocabulary): Spoken[] | undefined {
  const said = verb === "check" && !/^(?:check|verify|assert|expect)\s/i.test(text) ? `check ${text}` : text;
  const readings = sentencesOf(said).flatMap((sentence) => readSentence(sentence, vocabulary));
  const drafts = readings.flatMap((one) => ("step" in one ? one.step.drafts : []));
  const fitting = drafts.flatMap((draft) => fittingDraft(draft, verb)).map(withRefs);
  const isWhole = readings.every((one) => "step" in one) && fitting.length === drafts.length;
  return isWhole && fitting.length > 0 ? fitting : undefined;
}

const inQuotes = (word: string) => (word.includes('"') ? `“${word}”` : `"${word}"`);

function fittingDraft(draft: Draft, verb: Verb): Spoken[] {
  if (draft.type === "verification") return verb === "check" ? [draft] : waitOf(draft);
  return draft.type === "action" && verb === "do" ? [draft] : [];
}

function withRefs(draft: Spoken): Spoken {
  const params = Object.entries(draft.params).map(([name, value]) => {
    const isOne = /^(?:to_)?selector$/.test(name) && typeof value === "string" && isRef(value);
    return [isOne ? name.replace("selector", "ref") : name, value];
  });
  return { ...draft, params: Object.fromEntries(params) };
}

/** A check with a time limit as the command that waits. */
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
