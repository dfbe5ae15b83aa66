import { createHash } from "node:crypto";
import { besideVerdict, noticesOf } from "../../../domain/index.ts";
import { type ReportTest, renderReport } from "../../../views/report/index.ts";
import { decidingStep, decidingSteps, durationOf, flakyReason } from "../judgement/facts.ts";
import { pictureStore, shotsOf, shownPictures } from "./pictures.ts";
import { factsOf, stepViewOf } from "./runView.ts";
import { runsOf } from "./source.ts";
import type { ReportEntry, ReportHead } from "./types.ts";

/** In a report of more tests, the script draws the steps of those that passed: browsers are slow with all at once. */
const mostWhole = 300;

/** Whether a report of so many tests shows the earlier runs of this one: of many tests, only of those that did not simply pass. */
export const showsHistory = (
  { execution: { status, flaky } }: Pick<ReportEntry, "execution">,
  tests: number,
) => tests <= mostWhole || status !== "passed" || flaky === true;

/**
 * One HTML file without network, pictures inside, whole also where its one script is forbidden. Its policy holds even if escaping
 * failed. Failures come first.
 */
export function htmlReport(entries: readonly ReportEntry[], head: ReportHead): string {
  const { id, generatedAt, skipped = [], notes = [] } = head;
  const pictures = shownPictures(entries);
  const tests = entries.map((entry) => testOf(entry, entries.length));
  const { title, main, style, script } = renderReport({ id, generatedAt, tests, skipped, notes, pictures });
  const scriptHash = createHash("sha256").update(script).digest("base64");
  const policy = `default-src 'none'; img-src data:; media-src 'self'; style-src 'unsafe-inline'; script-src 'sha256-${scriptHash}'; base-uri 'none'; form-action 'none'`;
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `${title}<style>${style}</style></head><body>`,
    main,
    runsOf(entries, skipped),
    `<script>${script}</script>`,
    pictureStore(pictures),
    "</body></html>",
    "",
  ].join("\n");
}

function testOf(entry: ReportEntry, tests: number): ReportTest {
  const { execution, steps, files = [], group, requirements = [], history } = entry;
  const { id, name, status, flaky, reason, rerun, session_url, started_at, attempts = [] } = execution;
  const decided = status === "passed" ? undefined : decidingStep(decidingSteps(entry));
  const hasHistory = showsHistory(entry, tests);
  const isLater = !hasHistory && entry.pictureChoice !== "all";
  const viewOf = (step: ReportEntry["steps"][number]) => ({
    ...stepViewOf(step),
    pictures: shotsOf(step, entry).map(([uri, caption]) => ({ uri, caption })),
  });
  return {
    ...{ id, name, status, started_at, attempts, files, requirements },
    word: flaky ? "flaky" : status,
    duration_ms: durationOf(execution),
    ...(reason && { reason }),
    ...(flaky && { firstReason: flakyReason(execution) }),
    ...(rerun !== undefined && { rerun }),
    ...(session_url !== undefined && { session_url }),
    ...(group !== undefined && { group }),
    ...(hasHistory && history && { history }),
    faults: besideVerdict(steps.flatMap(noticesOf)),
    steps: isLater ? [] : steps.map(viewOf),
    ...(isLater && { later: steps.length }),
    ...(decided && { decided: viewOf(decided) }),
    facts: [...factsOf(execution), ...endFacts(execution)],
  };
}

function endFacts(execution: ReportEntry["execution"]): ReportTest["facts"] {
  const { verified_count, correlation_id, outputs } = execution;
  return [
    ["checks made", String(verified_count)],
    ...(correlation_id === undefined ? [] : [["correlation", correlation_id] satisfies [string, string]]),
    ...Object.entries(outputs).map(([name, value]): [string, string] => [
      `output ${name}`,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  ];
}
