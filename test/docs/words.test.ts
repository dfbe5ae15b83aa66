import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { actionPhrases } from "#mcp-server/services/apps/authoring/actionPhrases.ts";
import { checkPhrases } from "#mcp-server/services/apps/authoring/checkPhrases.ts";
import { describeStep } from "#mcp-server/services/apps/authoring/graph.ts";
import type { Phrase } from "#mcp-server/services/apps/authoring/phrase.ts";
import { readSentence } from "#mcp-server/services/apps/authoring/phrases.ts";
import { sentencesOf } from "#mcp-server/services/apps/authoring/sentences.ts";
import { shortNames } from "#mcp-server/services/apps/steps/index.ts";
import { readLine } from "#mcp-server/services/apps/steps/line.ts";
import { refused, understood } from "../services/apps/authoring/wordings.ts";
import { language } from "../services/apps/steps/language.ts";

/** What a form's capitals stand for in its example. */
const values: Readonly<Record<string, string>> = {
  ...{ NODE: "Cart", NAME: "log in", KEY: "ENTER", URL: "https://shop.example/", COLUMN: "Sum", ROW: "Lamp" },
  ...{
    OPTION: "Germany",
    FILE: "photo.png",
    X: "Save",
    Y: "Bin",
    T: "Hello",
    V: "anna",
    U: "/cart",
    A: "alt",
  },
};
const exampleOf = (form: string) => form.replace(/\b[A-Z]+\b/g, (name) => values[name] ?? name);

const readings = (text: string) =>
  sentencesOf(text).flatMap((sentence) =>
    readSentence(sentence, language.vocabulary, (line) => readLine(line, language.verbs)),
  );
/** What a sentence means, in a line; undefined where it is not understood. */
function meaningOf(text: string): string | undefined {
  const read = readings(text);
  const steps = read.flatMap((one) => ("step" in one ? [describeStep(one.step).replace(/^.* -> /, "")] : []));
  return steps.length === read.length ? steps.join(", then ") : undefined;
}

/** Other sentences of one command or check, the shortest first, as many as a reader looks at. */
const mostOthers = 12;
const commandOf = (meaning: string) => meaning.replace(/^not /, "").split(" ")[0];
const cell = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;
const answerOf = (text: string) =>
  readings(text)
    .flatMap((one) => ("not" in one ? [one.not] : []))
    .map(({ reason, nearest = [] }) => [reason, ...nearest.map(cell)].join("; "))
    .join("; ");

const row = (...cells: string[]) => `| ${cells.join(" | ")} |`;

/** A form and its meaning a row. A form that reads in several ways is one row, a form that is only refused is none. */
function table(phrases: readonly Phrase[]): string[] {
  const forms = [...new Set(phrases.map(({ form }) => form))].filter((form) => form !== "");
  return forms.flatMap((form) => {
    const meaning = meaningOf(exampleOf(form));
    return meaning === undefined ? [] : [row(cell(form), cell(exampleOf(form)), cell(meaning))];
  });
}

function alsoUnderstood(): string[] {
  const commands = [...new Set(understood.map(([, meaning]) => commandOf(meaning)))];
  return commands.flatMap((command) =>
    understood
      .filter(([, meaning]) => commandOf(meaning) === command && !meaning.includes(" ++ "))
      .slice(0, mostOthers)
      .map(([sentence, meaning]) => row(cell(sentence), cell(meaning))),
  );
}

const shortTable = (verb: keyof typeof shortNames) =>
  Object.entries(shortNames[verb]).map(([short, full]) => row(cell(short), cell(full)));

function page(): string {
  return [
    "# Words of a step",
    "",
    "A step of a test is a sentence, and so is what `labwright do` and `labwright check` take. Each form below is shown with an example and with the command or check that it becomes. Case does not matter. `X` is an element by its name or a selector, in quotes; `the`, `a` and nouns such as `button` or `field` may stand before or after it, and `second` or `2nd` takes one of several.",
    "",
    "Several steps may be joined by `then`, `and` or a comma. A check takes `within 10 s`; `wait until` takes any check. An action that opens a page takes `expecting status 404`. A sentence that is not understood, or that could mean two things, is refused with the nearest forms, before anything runs. `labwright lint` says so without a device.",
    "",
    "This page is made from the grammar itself (`npm run gen`).",
    "",
    ...["## What is done", "", row("form", "example", "becomes"), row("---", "---", "---")],
    ...table(actionPhrases),
    "",
    ...["## What is checked", "", row("form", "example", "becomes"), row("---", "---", "---")],
    ...table(checkPhrases),
    "",
    ...["## Also understood", "", row("sentence", "becomes"), row("---", "---")],
    ...alsoUnderstood(),
    "",
    ...["## Refused, and what to write", "", row("sentence", "answer"), row("---", "---")],
    ...refused.filter(([, answer]) => answer !== "").map(([text]) => row(cell(text), answerOf(text))),
    "",
    "## By name",
    "",
    'A command or check may also stand by its name or short name with its values: `fill "Email" "anna"`, `check count "css=.item" 3`, `check not visible "#error"`. On the command line quotes are those of the shell: `labwright do fill e3 anna`, `labwright check Save is disabled`. A ref such as `e3` is good for the session that gave it, and not in a test.',
    "",
    ...[row("`do`", "command"), row("---", "---"), ...shortTable("do"), ""],
    ...[row("`check`", "check"), row("---", "---"), ...shortTable("check"), ""],
  ].join("\n");
}

const file = fileURLToPath(new URL("../../docs/words.md", import.meta.url));

it("the page of words is what the grammar says; npm run gen writes it", async () => {
  await expect(page()).toMatchFileSnapshot(file);
});

describe("an example on the page means what the page says", () => {
  const text = page();
  const cells = (line: string) =>
    [...line.matchAll(/ `((?:\\\||[^`])*)` (?=\|)/g)].map(([, text = ""]) => text);
  const part = (title: string) =>
    text.split(`## ${title}\n`)[1]?.split("\n## ")[0]?.split("\n").map(cells) ?? [];
  const forms = [...part("What is done"), ...part("What is checked")].map((row) => row.slice(1));
  const rows = [...forms, ...part("Also understood")].filter((row) => row.length === 2);

  it("and there are many", () => expect(rows.length).toBeGreaterThan(120));

  it.each(rows)("%s: %s", (example, meaning) => {
    expect(meaningOf(example?.replaceAll("\\|", "|") ?? "")).toBe(meaning?.replaceAll("\\|", "|"));
  });
});
