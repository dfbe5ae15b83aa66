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
  const { skipped = [] } = head;
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
    ...worstFirst(entries).map((entry, at) => testView(entry, { isOpen: at < mostOpen && !isPassed(entry) })),
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

function notRun(skipped: readonly SkippedTest[]): string {
  if (skipped.length === 0) return "";
  const items = skipped.map(
    ({ name, reason, isError }) =>
      `<li>${badge(isError ? "error" : "skipped")} ${e(name)}: ${e(reason)}</li>`,
  );
  return `<section class="skipped"><h2>Not run</h2><ul>${items.join("")}</ul></section>`;
}

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
