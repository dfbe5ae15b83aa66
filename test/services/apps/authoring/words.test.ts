import { describe, expect, it } from "vitest";
import { describeStep } from "#mcp-server/services/apps/authoring/graph.ts";
import { readSentence } from "#mcp-server/services/apps/authoring/phrases.ts";
import { sentencesOf } from "#mcp-server/services/apps/authoring/sentences.ts";
import { spokenSteps } from "#mcp-server/services/apps/steps/index.ts";
import { readLine } from "#mcp-server/services/apps/steps/line.ts";
import { argumentProblems as problemsOf } from "#mcp-server/services/apps/steps/verbs.ts";
import { language } from "../steps/language.ts";
import { refused, understood } from "./wordings.ts";

const { vocabulary, verbs } = language;
const [commands, checks] = [new Set(verbs.commands.keys()), new Set(verbs.checks.keys())];
const readings = (text: string) =>
  sentencesOf(text).flatMap((sentence) =>
    readSentence(sentence, { ...vocabulary, commands, checks }, (line) => readLine(line, verbs)),
  );

describe("a sentence is understood", () => {
  it.each(understood)("%s: %s", (text, meaning) => {
    const read = readings(text).map((one) =>
      "step" in one ? describeStep(one.step).replace(/^.* -> /, "") : `? ${one.not.reason}`,
    );
    expect(read.join(" ++ ")).toBe(meaning);
    const drafts = readings(text).flatMap((one) => ("step" in one ? one.step.drafts : []));
    for (const draft of drafts)
      if ("params" in draft) expect(problemsOf(verbs, draft.command, draft.params)).toEqual([]);
  });
});

describe("a sentence that could mean something else is refused, and the answer says how it is written", () => {
  it.each(refused)("%s: %s", (text, answer) => {
    const told = readings(text).flatMap((one) => ("not" in one ? [one.not] : []));
    expect(told).toHaveLength(1);
    const [{ reason = "", nearest = [] } = {}] = told;
    expect([reason, ...nearest].join("; ")).toContain(answer);
    expect(nearest.length + Number(reason !== "not understood")).toBeGreaterThan(0);
  });
});

describe("labwright do and check take the words of tests, as a shell gives them", () => {
  const spoken = (verb: "do" | "check", ...line: string[]) => {
    const [command = "", ...words] = line;
    return spokenSteps({ command, words, not: false }, verb, verb === "do" ? commands : checks)?.map(
      ({ command: name, params, ...more }) => ({ [name]: params, ...more }),
    );
  };

  it.each([
    [["click", "the", "Sign in", "button"], [{ click_element: { selector: "Sign in" } }]],
    [["click", "e3"], [{ click_element: { ref: "e3" } }]],
    [["type", "anna", "into", "User"], [{ input_text: { selector: "User", text: "anna" } }]],
    [["fill", "in", "e4", "with", "anna"], [{ input_text: { ref: "e4", text: "anna" } }]],
    [
      ["upload", "photo.png", "to", "Picture"],
      [{ upload_file: { selector: "Picture", files: ["photo.png"] } }],
    ],
    [["drag", "e1", "to", "e2"], [{ drag_and_drop: { ref: "e1", to_ref: "e2" } }]],
    [["press", "Enter"], [{ press_key: { key: "Enter" } }]],
    [["press", "Save"], [{ click_element: { selector: "Save" } }]],
    [["wait", "for", "Done"], [{ wait_for: { selector: "Done", state: "visible", timeout_ms: 30_000 } }]],
    [
      ['type "anna" into "User", then click "Sign in"'],
      [{ input_text: { selector: "User", text: "anna" } }, { click_element: { selector: "Sign in" } }],
    ],
  ])("do %j", (line, steps) => {
    expect(spoken("do", ...line)).toEqual(steps.map((step) => ({ type: "action", ...step })));
  });

  it.each([
    [["Save", "is", "disabled"], { element_enabled: { selector: "Save" }, negate: true }],
    [["that", "the", "Sign in", "button", "is", "shown"], { element_visible: { selector: "Sign in" } }],
    [["text", "Thank you"], { text_visible: { text: "Thank you" } }],
    [["title", "is", "Cart"], { title_matches: { title: "Cart" } }],
    [["url", "has", "/cart"], { url_matches: { url: "/cart" } }],
    [["there", "are", "3", "css=.row"], { element_count: { selector: "css=.row", count: 3 } }],
    [
      ['"Total" has text "36" within 5 s'],
      { element_text: { selector: "Total", text: "36" }, timeout_ms: 5_000 },
    ],
  ])("check %j", (line, step) => {
    expect(spoken("check", ...line)).toEqual([{ type: "verification", ...step }]);
  });

  it.each([
    ["do", ["fill", "e4", "anna"]],
    ["do", ["scroll", "down", "--amount", "3"]],
    ["do", ["check", "the", "Gift", "is", "shown"]],
    ["check", ["count", "css=.item", "3"]],
    ["check", ["visible", "#error"]],
    ["check", ["the", "Gift", "box"]],
    ["check", ["click", "Save"]],
  ] as const)("%s %j is a command or check and its values", (verb, line) => {
    expect(spoken(verb, ...line)).toBeUndefined();
  });
});
