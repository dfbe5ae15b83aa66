import { withinAnother } from "@labwright/controllers";
import type { Step } from "../../../domain/index.ts";
import { isFields, type Language, type Path, readTest, type Verbs } from "../steps/index.ts";

/** `at` leads to the step or block in the test. */
type PartFound = { at: Path; message: string };

/** Steps of a test whose text the last run found only within another word, though checks now compare whole words. */
export function partsOfWords(test: unknown, steps: readonly Step[], language: Language): PartFound[] {
  const { value, places } = readTest(test, language);
  const blocks = isFields(value) ? blocksOf(value.blocks) : new Map<string, Record<string, unknown>>();
  const found = new Map<string, PartFound>();
  for (const step of steps) {
    const path = step.path.replace(/\[\d+\]/g, "");
    const [block, at] = [blocks.get(path), places.get(path)];
    const message = block && messageFor(step, block, language.verbs);
    if (at && message !== undefined) found.set(path, { at, message });
  }
  return [...found.values()];
}

function blocksOf(blocks: unknown, above = ""): Map<string, Record<string, unknown>> {
  const all = new Map<string, Record<string, unknown>>();
  for (const block of Array.isArray(blocks) ? blocks : []) {
    if (!isFields(block)) continue;
    const path = `${above}${String(block.id)}`;
    all.set(path, block);
    const inner = isFields(block.body) ? blocksOf(block.body.blocks, `${path}/`) : [];
    for (const [id, one] of inner) all.set(id, one);
  }
  return all;
}

function messageFor(step: Step, block: Record<string, unknown>, verbs: Verbs): string | undefined {
  const { command, params } = isFields(step.input) ? step.input : {};
  const now = isFields(block.params) ? block.params : {};
  if (typeof command !== "string" || block.command !== command || !isFields(params)) return undefined;
  const said = Object.entries(params).filter(([name, text]) => isStill(now[name], text));
  if (said.length < Object.keys(params).length || Object.keys(now).length > said.length) return undefined;
  return step.kind === "verification" ? ofCheck(step, params, verbs) : ofSelector(step);
}

/** A value that the run filled in counts as the same. */
const isStill = (now: unknown, then: unknown): boolean =>
  (typeof now === "string" && now.includes("{{")) || JSON.stringify(now) === JSON.stringify(then);

function ofCheck({ input, output }: Step, params: Record<string, unknown>, verbs: Verbs): string | undefined {
  const command = isFields(input) ? String(input.command) : "";
  const actual = isFields(output) && typeof output.actual === "string" ? output.actual : "";
  if (!isByWords(command, params, verbs)) return undefined;
  for (const [name, text] of Object.entries(params)) {
    const isText = typeof text === "string" && !/selector$|^ref$/.test(name);
    const whole = isText ? withinAnother(text, quotedIn(actual)) : undefined;
    if (whole !== undefined)
      return `the last run found ${JSON.stringify(text)} only within another word or number: ${JSON.stringify(whole)}; a check takes whole words: give the whole text, or match: contains if the part is wanted`;
  }
  return undefined;
}

/** Whether the check compares whole words, as its schema says. */
function isByWords(command: string, params: Record<string, unknown>, { checks }: Verbs): boolean {
  return (checks.get(command) ?? []).some(({ input }) => {
    const read = input.safeParse(params);
    return read.success && read.data.match === "words";
  });
}

const quotedIn = (actual: string): string[] =>
  [...actual.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([text]) => String(JSON.parse(text)));

/** A selector that is only part of a word fails, and its error says so. */
function ofSelector({ error }: Step): string | undefined {
  const [, rest] =
    /it is there only as part of another word or number: (.+)/.exec(error?.message ?? "") ?? [];
  const [whole] = quotedIn(rest ?? "");
  return whole === undefined
    ? undefined
    : `the last run found the selector's text only within another word or number: ${JSON.stringify(whole)}; give the whole text, or *= if the part is wanted`;
}
