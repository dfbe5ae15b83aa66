import type { DataTable, Step } from "@cucumber/messages";
import { longestWords } from "../../../domain/index.ts";
import { readSentence } from "../authoring/phrases.ts";
import { sentencesOf } from "../authoring/sentences.ts";
import { noNames } from "../steps/index.ts";

/** What a step's keyword says of it; `And` and `But` say what the step before says. Undefined for `*`. */
type Said = "given" | "when" | "then" | undefined;
type Place = { line: number; column: number };

/** A step in the short form, with its place in the feature. `check` is words that must hold a check. */
type FeatureStep = { step: string | { check: string }; place: Place };
/** `variables` are the long texts of the steps, which name them as placeholders. */
type StepsRead = {
  steps: FeatureStep[];
  variables: Record<string, string>;
  problems: (Place & { message: string })[];
};

/** A longer text of a doc string, or one of several lines, becomes a variable. */
const longestInline = 100;

const saidBy: Readonly<Record<string, Said | "same">> = {
  Context: "given",
  Action: "when",
  Outcome: "then",
  Conjunction: "same",
};

/**
 * The steps of a scenario in the short form, in their order: without their keywords, with a doc string as a text in quotes at
 * the end, and a step with a data table once for each of its rows. `fill` puts the values of an outline's row in.
 */
export function readSteps(steps: readonly Step[], fill: (text: string) => string): StepsRead {
  const read: StepsRead = { steps: [], variables: {}, problems: [] };
  let said: Said;
  for (const step of steps) {
    const type = saidBy[step.keywordType ?? ""];
    said = type === "same" ? said : type;
    const isClaim = type === "then";
    const sentences = sentencesOfStep(step, said, fill, read);
    for (const { text, place } of sentences)
      read.steps.push({ step: isClaim ? { check: text } : text, place });
  }
  return read;
}

type Placed = { text: string; place: Place };

function sentencesOfStep(step: Step, said: Said, fill: (text: string) => string, read: StepsRead): Placed[] {
  const place = placeOf(step.location);
  const text = fill(step.text);
  if (text.length > longestWords) {
    read.problems.push({ ...place, message: `a step has at most ${longestWords} characters; write several` });
    return [];
  }
  if (step.dataTable) return sentencesOfTable(text, said, { table: step.dataTable, place, fill, read });
  if (!step.docString) return [{ text: worded(text, said), place }];
  const quoted = quotedText(fill(step.docString.content), placeOf(step.docString.location).line, read);
  return [{ text: worded(`${withoutColon(text)} ${quoted}`, said), place }];
}

const withoutColon = (text: string) => text.replace(/[\s:]+$/, "");
export const placeOf = ({ line, column = 1 }: { line: number; column?: number }): Place => ({ line, column });

/** In the quotes of the other kind where the text has double ones. */
export const inQuotes = (text: string) => (text.includes('"') ? `“${text}”` : `"${text}"`);

function quotedText(text: string, line: number, { variables }: StepsRead): string {
  const isShort = text.length <= longestInline && !/[\n”]/.test(text);
  if (isShort) return inQuotes(text);
  const name = `text_${line}`;
  variables[name] = text;
  return `"{{${name}}}"`;
}

type Table = { table: DataTable; place: Place; fill(text: string): string; read: StepsRead };

/** Headings of tables of two columns, which are not values themselves. */
const headings = /^(?:fields?|names?|labels?|elements?|inputs?|keys?|values?|texts?|contents?)$/i;

/** A table of one column gives the sentence a text, one of two columns a name and a text. */
function sentencesOfTable(said: string, keyword: Said, { table, place, fill, read }: Table): Placed[] {
  const rows = table.rows.map(({ location, cells }) => ({
    place: placeOf(location),
    cells: cells.map(({ value }) => fill(value)),
  }));
  const width = rows[0]?.cells.length ?? 0;
  if (width < 1 || width > 2) {
    const message = `"${said}": a table has one column, for texts, or two, for names and texts; this one has ${width}`;
    read.problems.push({ ...place, message });
    return [];
  }
  const isHeaded = width === 2 && rows.length > 1 && rows[0]?.cells.every((cell) => headings.test(cell));
  const text = withoutColon(said).replace(/\s+(?:the )?following(?: \w+)?$|\s+(?:as|these)(?: \w+)?$/i, "");
  return rows.slice(isHeaded ? 1 : 0).map((row) => ({
    text: ofRow(text, keyword, row.cells.map(inQuotes)),
    place: row.place,
  }));
}

/** The form that the grammar reads; where it reads none, the first says what is wrong. */
function ofRow(text: string, said: Said, [name = "", value]: readonly string[]): string {
  if (value === undefined) return worded(`${text} ${name}`, said);
  const joined = ["with", "has text", "is", "has"].map((joint) => `${text} ${name} ${joint} ${value}`);
  const forms = [...joined, `${text} ${value} into ${name}`, `${text} ${value} from ${name}`];
  const all = forms.map((form) => worded(form, said));
  return all.find((form) => meaningOf(form) !== undefined) ?? all[0] ?? text;
}

const subject = "(?:that )?(?:i am|i'm|we are|we're|you are|(?:the |a )?user is)";
const isOn = new RegExp(`^${subject} (?:already )?(?:on|at) (.+)$`, "i");
const shouldBeOn =
  /^(?:that )?(?:i|we|you|(?:the |a )?user) (?:am|are|is|(?:should|must|will) be)(?: (?:redirected|taken|sent|brought|back))?(?: to| on| at| in)+ (.+)$/i;

/** The sentence without what only its keyword explains: `Given I am on X` goes to X, `Then I am on X` checks it. */
function worded(text: string, said: Said): string {
  if (said === "given") return text.replace(isOn, (_, where: string) => `go to ${where}`);
  if (said !== "then") return text;
  const [, where] = shouldBeOn.exec(text) ?? [];
  if (where !== undefined) return placeCheck(where);
  return [text, `check ${text}`].find((form) => meaningOf(form) === "check") ?? text;
}

function placeCheck(where: string): string {
  const [, address] =
    /^(?:the )?(?:url |address |page )?["'“]([^"'”]+)["'”](?: page| url)?$/i.exec(where) ?? [];
  if (address?.startsWith("/")) return `check the url has "${address}"`;
  if (address !== undefined && /^[a-z][\w+.-]*:\S/i.test(address)) return `check the url is "${address}"`;
  return `check we are on ${where}`;
}

/** Undefined where the grammar does not read the sentence without knowing an app. */
function meaningOf(text: string): "check" | "action" | undefined {
  const readings = sentencesOf(text).flatMap((sentence) => readSentence(sentence, noNames));
  const steps = readings.flatMap((reading) => ("step" in reading ? [reading.step] : []));
  if (steps.length === 0 || steps.length < readings.length) return undefined;
  return steps.some(({ drafts }) => drafts.some(({ type }) => type === "verification")) ? "check" : "action";
}
