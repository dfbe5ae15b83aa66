import { nearest } from "@labwright/controllers";
import { longestWords } from "../../../domain/index.ts";
import { readSentence } from "../authoring/phrases.ts";
import { sentencesOf } from "../authoring/sentences.ts";
import type { Draft, Step, Vocabulary } from "../authoring/types.ts";
import { readLine } from "./line.ts";
import {
  argumentProblems,
  type Companions,
  companionKeys,
  type Fields,
  fieldsOf,
  isFields,
  isLoop,
  isVerb,
  kinds,
  nearestVerb,
  type Verbs,
} from "./verbs.ts";

/** What steps may name: nodes, test cases, commands and checks. */
export type Language = { vocabulary: Vocabulary; verbs: Verbs };

/** A block whose id and label may still be missing. */
export type Body = Readonly<Record<string, unknown>> & { type: string };

export type Path = readonly PropertyKey[];
/** `path` leads to what is wrong; `key` is the key of it that is. */
export type StepProblem = { path: Path; message: string; key?: string; code?: "NOTHING_VERIFIED" };
export type Report = (problem: StepProblem) => void;

/** How steps are read: in which words, where problems are reported, and what may stand next to a verb. */
export type Reading = Language & { report: Report; companions: Companions };

/** A step of words is one or more blocks, in groups of which the later run after the earlier. */
export type ReadStep =
  | { said: string; groups: readonly Pick<Step, "drafts" | "any">[] }
  | { block: Body }
  | { loop: Body; steps: readonly unknown[] };

/** One step as it was written; undefined, and reported, where it cannot be understood. */
export function readStep(step: unknown, path: Path, reading: Reading): ReadStep | undefined {
  if (typeof step === "string") return readWords(step, path, reading);
  if (isClaim(step)) return readClaim(step.check, path, reading);
  if (isFields(step)) return readObject(step, path, reading);
  reading.report({
    path,
    message: 'a step is words, such as click "Buy", or an object, such as { reload: {} }',
  });
  return undefined;
}

/** Reads a step of a test; undefined where it cannot be understood. */
export const readQuietly = (step: unknown, language: Language): ReadStep | undefined =>
  readStep(step, [], { ...language, companions: companionKeys.test, report: () => undefined });

/** The blocks of a step of words, in order; none of any other step. */
export const draftsOf = (read: ReadStep | undefined): readonly Draft[] =>
  read && "said" in read ? read.groups.flatMap(({ drafts }) => drafts) : [];

/** Each line is a sentence of its own, and a label has one line. */
const oneLine = (text: string) =>
  text
    .trim()
    .replace(/\s*\n\s*/g, "; ")
    .replace(/\s+/g, " ");

function readWords(text: string, path: Path, reading: Reading): ReadStep | undefined {
  const said = oneLine(text);
  if (isBare(said, reading.verbs)) return readObject({ [said]: null }, path, reading);
  const readings = sentencesOf(said).flatMap((sentence) =>
    readSentence(sentence, reading.vocabulary, (line) => readLine(line, reading.verbs)),
  );
  const messages = readings.flatMap((one) => {
    if ("step" in one) return [];
    const { line, reason, nearest: near = [] } = one.not;
    return [`${line}: ${reason}${near.length > 0 ? `; nearest: ${near.join(", ")}` : ""}${tornQuotes(said)}`];
  });
  if (readings.length === 0) messages.push("a step says what to do");
  if (said.length > longestWords)
    messages.push(`a step has at most ${longestWords} characters; write several`);
  for (const message of messages) reading.report({ path, message });
  if (messages.length > 0) return undefined;
  return { said, groups: readings.flatMap((one) => ("step" in one ? [one.step] : [])) };
}

const isClaim = (step: unknown): step is { check: string } =>
  isFields(step) && Object.keys(step).length === 1 && typeof step.check === "string";

/** Words that must hold a check. A test that is called has checks of its own. */
function readClaim(words: string, path: Path, reading: Reading): ReadStep | undefined {
  const read = readWords(words, path, reading);
  if (!read) return undefined;
  const isChecked = draftsOf(read).some(({ type }) => type === "verification" || type === "call_testcase");
  if (isChecked) return read;
  const nearest = 'check text "T", check "X" is shown, check NODE is shown';
  const message = `${oneLine(words)}: here a check is needed, and this only acts; nearest: ${nearest}`;
  reading.report({ path, message, code: "NOTHING_VERIFIED" });
  return undefined;
}

export const isBare = (text: string, verbs: Verbs): boolean =>
  verbs.commands.has(text) || verbs.checks.has(text) || Object.hasOwn(kinds, text);

/** In YAML ` #` begins a comment, which takes the end of a text away. */
const tornQuotes = (said: string) =>
  (said.match(/"/g)?.length ?? 0) % 2 === 0
    ? ""
    : '; a quote is not closed: in YAML, quote the whole step where it holds " #" or ": "';

function readObject(step: Fields, path: Path, reading: Reading): ReadStep | undefined {
  const verb = verbOf(step, path, reading);
  if (verb === undefined) return undefined;
  const { [verb]: value, ...rest } = step;
  if (isLoop(verb)) return readLoop(verb, value, rest, path, reading);
  const block =
    verb === "not" ? negated(value, path, reading) : ownBlock(verb, value, [...path, verb], reading);
  if (!block) return undefined;
  const { type } = block;
  const keys = reading.companions[type === "action" || type === "verification" ? type : "kind"];
  if (!onlyKnown(rest, keys, verb, path, reading)) return undefined;
  return { block: { ...block, ...rest } };
}

function verbOf(step: Fields, path: Path, { verbs, report }: Reading): string | undefined {
  const keys = Object.keys(step);
  const [verb, ...others] = keys.filter((key) => isVerb(verbs, key));
  if (verb !== undefined && others.length === 0) return verb;
  if (verb !== undefined) {
    report({ path, message: `a step does one thing; this one has ${[verb, ...others].join(" and ")}` });
    return undefined;
  }
  const known = new Set<string>(Object.values(companionKeys.test).flat());
  const unknown = keys.find((key) => !known.has(key));
  report({ path, message: noVerb(unknown, verbs), ...(unknown !== undefined && { key: unknown }) });
  return undefined;
}

function noVerb(unknown: string | undefined, verbs: Verbs): string {
  if (unknown === undefined) return "the step names no command, check or kind of block";
  return /[\s"]/.test(unknown)
    ? `${JSON.stringify(unknown)} is not a command or check; in YAML, quote the whole step if it contains ": "`
    : `unknown command or check "${unknown}"; ${nearestVerb(verbs, unknown)}`;
}

function onlyKnown(
  rest: Fields,
  known: readonly string[],
  verb: string,
  path: Path,
  { report }: Reading,
): boolean {
  const unknown = Object.keys(rest).filter((key) => !known.includes(key));
  for (const key of unknown) {
    const [near] = nearest(key, known, 1);
    const may = known.length === 0 ? "no other key is allowed here" : `allowed keys: ${known.join(", ")}`;
    const hint = near === undefined ? `${may}, and its arguments below it` : `did you mean "${near}"?`;
    report({ path, message: `unknown key "${key}" next to ${verb}; ${hint}`, key });
  }
  return unknown.length === 0;
}

function ownBlock(verb: string, value: unknown, path: Path, { verbs, report }: Reading): Body | undefined {
  const kind = Object.hasOwn(kinds, verb) ? kinds[verb] : undefined;
  const fields = kind ? fieldsOf(kind, value) : (value ?? {});
  if (!isFields(fields)) {
    report({ path, message: `${verb} takes its arguments by name, as in { ${verb}: { selector: "Buy" } }` });
    return undefined;
  }
  if (kind) {
    const misplaced = ["type", ...companionKeys.test.kind].find((key) => Object.hasOwn(fields, key));
    if (misplaced === undefined) return { ...fields, type: kind.type };
    report({ path, message: `"${misplaced}" is not allowed in ${verb}; put an id or label next to it` });
    return undefined;
  }
  const problems = argumentProblems(verbs, verb, fields);
  for (const problem of problems) report({ path: path.slice(0, -1), message: problem, key: verb });
  if (problems.length > 0) return undefined;
  return { type: verbs.commands.has(verb) ? "action" : "verification", command: verb, params: fields };
}

function negated(value: unknown, path: Path, reading: Reading): Body | undefined {
  const at = [...path, "not"];
  const inner = isFields(value) ? readObject(value, at, reading) : undefined;
  if (isFields(value) && !inner) return undefined;
  if (inner && "block" in inner && inner.block.type === "verification" && inner.block.negate !== true)
    return { ...inner.block, negate: true };
  const message = 'not takes one check, as in { not: { element_visible: { selector: "#error" } } }';
  reading.report({ path: at, message });
  return undefined;
}

function readLoop(
  verb: string,
  value: unknown,
  rest: Fields,
  path: Path,
  reading: Reading,
): ReadStep | undefined {
  if (!onlyKnown(rest, reading.companions.loop, verb, path, reading)) return undefined;
  const { steps, ...others } = rest;
  if (!Array.isArray(steps)) {
    reading.report({ path, message: `${verb} needs steps, a list of the steps that it repeats` });
    return undefined;
  }
  const rounds = verb === "repeat" ? { iterations: value } : { while: value };
  return { loop: { ...others, ...rounds, type: "loop" }, steps };
}
