import { expect, it } from "vitest";
import type { Step } from "#mcp-server/domain/index.ts";
import { partsOfWords } from "#mcp-server/services/apps/files/partsOfWords.ts";
import { language } from "../steps/language.ts";

const stepOf = (path: string, command: string, params: object, more: Partial<Step>): Step => ({
  ...{ index: 0, path, kind: "verification", label: "", status: "passed", started_at: "", duration_ms: 0 },
  ...{ input: { command, params }, output: {}, artifacts: [] },
  ...more,
});
const shows = (path: string, text: string, shown: string, more: object = {}) =>
  stepOf(path, "text_visible", { text, ...more }, { output: { pass: true, actual: `it shows ${shown}` } });
const found = (steps: readonly unknown[], ...last: Step[]) =>
  partsOfWords({ name: "sums", steps }, last, language).map(
    ({ at, message }) => `${at.join(".")}: ${message.split(";")[0]}`,
  );

it("a text that the last run found within a number, once a check took parts of words", () => {
  const warned = 'steps.1: the last run found "2,50 €" only within another word or number: "Total 12,50 €"';
  expect(found(["reload", 'check text "2,50 €"'], shows("s2", "2,50 €", '"Total 12,50 €"'))).toEqual([
    warned,
  ]);
  const loop = [{ repeat: 2, steps: ['check text "2,50 €"'] }];
  const both = [1, 2].map((round) => shows(`s1[${round}]/s1_1`, "2,50 €", '"Total 12,50 €"'));
  expect(found(loop, ...both)).toEqual([warned.replace("steps.1", "steps.0.steps.0")]);
});

it("a text that the last run missed, since it takes whole words", () => {
  const actual = `the text is not shown; the text is there only as part of another word or number: "11 in the cart"; say match: contains if you mean it`;
  const step = shows("s1", "1 in the cart", "");
  expect(
    found(['check text "1 in the cart"'], { ...step, status: "failed", output: { actual } }),
  ).toHaveLength(1);
  const block = { id: "look", type: "verification", command: "text_visible", params: { text: "{{sum}}" } };
  const graph = { name: "x", blocks: [{ id: "start", type: "start" }, block], edges: [] };
  const at = partsOfWords(graph, [shows("look", "2,50", '"12,50"')], language).map((one) => one.at);
  expect(at).toEqual([["blocks", 1]]);
});

it("a selector whose text stands only within another word", () => {
  const message = `click_element: Nothing matches "text=Cart" after 5 ms; it is there only as part of another word or number: "Cartoon"; use *= if you mean it`;
  const step = stepOf("s1", "click_element", { selector: "text=Cart" }, { kind: "action", status: "error" });
  const failed = { ...step, error: { code: "ELEMENT_NOT_FOUND", message } };
  expect(found(['click "text=Cart"'], failed)).toEqual([
    `steps.0: the last run found the selector's text only within another word or number: "Cartoon"`,
  ]);
});

it.each([
  ["a whole text", ['check text "Total"'], shows("s1", "Total", '"Total 12,50 €"')],
  ["what is written anew", ['check text contains "2,50"'], shows("s1", "2,50", '"12,50"')],
  ["another text by now", ['check text "12,50"'], shows("s1", "2,50", '"12,50"')],
  [
    "a part that is meant",
    ['check text contains "2,50"'],
    shows("s1", "2,50", '"12,50"', { match: "contains" }),
  ],
  ["another step by now", ["reload"], shows("s1", "2,50", '"12,50"')],
  [
    "a check of the whole",
    ['check the title is "2,50"'],
    stepOf("s1", "title_matches", { title: "2,50" }, { output: { actual: 'the title is "12,50"' } }),
  ],
])("nothing is said of %s", (_, steps, last) => {
  expect(found(steps, last)).toEqual([]);
});

it("nothing is said where nothing ran", () => {
  expect(found(['check text "2,50"'])).toEqual([]);
});
