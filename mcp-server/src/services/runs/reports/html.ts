import { type CountedRun, countsOf, countText, type Execution } from "../../../domain/index.ts";
import { seconds, summarize } from "../judgement/facts.ts";
import { badge, escapeMarkup as e, reportStyle } from "./markup.ts";
import { pictureStore } from "./pictures.ts";
import { runsOf } from "./source.ts";
import { clockText, testView, wordOf } from "./testView.ts";
import type { CheckedRequirement, ReportEntry, ReportHead, SkippedTest } from "./types.ts";

/** So many tests that did not pass stand open; of more, the reasons are an overview. */
const mostOpen = 10;

/** One HTML file without script or network, pictures inside. Its policy holds even if escaping failed. Failures come first. */
export function htmlReport(entries: readonly ReportEntry[], head: ReportHead): string {
  const { skipped = [], notes = [] } = head;
  const [only] = entries;
  const title =
    entries.length === 1 && only && skipped.length === 0
      ? only.execution.name
      : countText(allRuns(entries, skipped), summarize(entries, skipped).skipped);
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${e(title)} - Labwright report</title><style>${reportStyle}</style></head><body><main>`,
    `<h1>Labwright report</h1><div class="soft">${e(title)} &middot; ${e(clockText(head.generatedAt))}</div>`,
    entries.length === 0
      ? '<p class="none">No test ran, so nothing was judged.</p>'
      : counts(entries, skipped),
    notesOf(notes),
    matrixOf(entries, skipped),
    ...groupsOf(entries).flatMap(([group, of]) => [
      group === undefined ? "" : `<h2 class="group">${e(group)}: ${e(countText(of.map(runOf)))}</h2>`,
      ...worstFirst(of).map((entry, at) => testView(entry, { isOpen: at < mostOpen && !isPassed(entry) })),
    ]),
    notRun(skipped),
    traceMatrix(entries),
    `<footer>Labwright &middot; report ${e(head.id)}</footer>`,
    "</main>",
    pictureStore(entries),
    runsOf(entries, skipped),
    "</body></html>",
    "",
  ].join("\n");
}

const runOf = ({ execution: { status, flaky } }: ReportEntry) => ({ status, flaky });

const allRuns = (entries: readonly ReportEntry[], skipped: readonly SkippedTest[]): CountedRun[] => [
  ...entries.map(runOf),
  ...skipped.filter(({ isError }) => isError).map(() => ({ status: "error" })),
];

const isPassed = ({ execution }: ReportEntry) => wordOf(execution) === "passed";

const places = ["error", "timeout", "failed", "cancelled", "running", "queued", "flaky", "passed"];

const worstFirst = (entries: readonly ReportEntry[]): ReportEntry[] =>
  entries.toSorted((a, b) => places.indexOf(wordOf(a.execution)) - places.indexOf(wordOf(b.execution)));

type Cell = [kind: string, value: string | number, label: string];

function counts(entries: readonly ReportEntry[], skipped: readonly SkippedTest[]): string {
  const runs = allRuns(entries, skipped);
  const { skipped: left } = summarize(entries, skipped);
  const cells: Cell[] = [
    ["", runs.length, runs.length === 1 ? "run" : "runs"],
    ...countsOf(runs).map(
      ({ word, count }): Cell => [word.replace("errors", "error").replaceAll(" ", "-"), count, word],
    ),
    ...(left > 0 ? [["skipped", left, "skipped"] satisfies Cell] : []),
    ["", seconds(summarize(entries).duration_ms), "in all"],
  ];
  const items = cells.map(
    ([kind, value, label]) => `<div class="count ${kind}"><b>${value}</b>${label}</div>`,
  );
  return `<div class="counts">${items.join("")}</div>`;
}

function notesOf(notes: readonly string[]): string {
  if (notes.length === 0) return "";
  return `<section class="skipped"><h2>Review</h2><ul>${notes.map((note) => `<li>${e(note)}</li>`).join("")}</ul></section>`;
}

function notRun(skipped: readonly SkippedTest[]): string {
  if (skipped.length === 0) return "";
  const items = skipped.map(
    ({ name, reason, isError, group }) =>
      `<li>${badge(isError ? "error" : "skipped")} ${e(group === undefined ? name : `${group}: ${name}`)}: ${e(reason)}</li>`,
  );
  return `<section class="skipped"><h2>Not run</h2><ul>${items.join("")}</ul></section>`;
}

type Grouped = { group?: string | undefined };
const namesOf = (all: readonly Grouped[]): string[] => [...new Set(all.flatMap(({ group }) => group ?? []))];

/** The runs by the names of a matrix, in their order; all together where there is none. */
function groupsOf(entries: readonly ReportEntry[]): [string | undefined, ReportEntry[]][] {
  const names = [...new Set(entries.map(({ group }) => group))];
  return names.map((name) => [name, entries.filter(({ group }) => group === name)]);
}

/** How each test ended under each name of the matrix. */
function matrixOf(entries: readonly ReportEntry[], skipped: readonly SkippedTest[]): string {
  const groups = namesOf([...entries, ...skipped]);
  if (groups.length === 0) return "";
  const tests = [
    ...new Set([...entries.map(({ execution }) => execution.name), ...skipped.map(({ name }) => name)]),
  ];
  const cell = (name: string, group: string) => {
    const words = entries.filter((one) => one.group === group && one.execution.name === name).map(runWord);
    const isLeft = skipped.some((one) => one.group === group && one.name === name);
    return `<td>${[...words, ...(isLeft ? ["not run"] : [])].map(badge).join(" ")}</td>`;
  };
  const rows = tests.map(
    (name) => `<tr><td>${e(name)}</td>${groups.map((group) => cell(name, group)).join("")}</tr>`,
  );
  const heads = ["Test case", ...groups].map((head) => `<th>${e(head)}</th>`);
  return `<section class="requirements"><h2>Matrix</h2><table class="matrix"><thead><tr>${heads.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></section>`;
}

const runWord = ({ execution }: ReportEntry) => wordOf(execution);

function traceMatrix(entries: readonly ReportEntry[]): string {
  const rows = entries.flatMap(({ execution, requirements = [] }) =>
    requirements.map((requirement) => ({ requirement, execution })),
  );
  if (rows.length === 0) return "";
  const sorted = rows.sort((a, b) => inOrder(a.requirement.code, b.requirement.code));
  const heads = ["Requirement", "Test case", "Coverage", "Result", "Execution"];
  return [
    '<section class="requirements"><h2>Requirements</h2><table class="matrix">',
    `<thead><tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr></thead><tbody>`,
    ...sorted.map(({ requirement, execution }) => traceRow(requirement, execution)),
    "</tbody></table></section>",
  ].join("\n");
}

const inOrder = (a: string, b: string) => (a < b ? -1 : Number(a > b));

function traceRow({ code, name, coverage }: CheckedRequirement, { name: testcase, status, id }: Execution) {
  const cells = [`<b>${e(code)}</b> ${e(name)}`, e(testcase), coverage, badge(status), e(id)];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}
