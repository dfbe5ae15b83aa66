import { renderToString } from "preact-render-to-string";
import { countsOf, countText } from "../../domain/runCounts.ts";
import { style } from "../design.css?style";
import { duration, utc } from "../format.ts";
import { Paper } from "../shots.tsx";
import { Badge, Empty, toneOf } from "../states.tsx";
import { Lines } from "../text.tsx";
import { expression as script } from "./find.ts?script";
import type { Report, ReportTest } from "./model.ts";
import { Matrix, Requirements } from "./tables.tsx";
import { anchorOf, isBad, TestItem } from "./testItem.tsx";

/** So many tests that did not pass stand open; of more, the reasons are an overview. */
const mostOpen = 10;
const places = ["error", "timeout", "failed", "cancelled", "running", "queued", "flaky", "passed"];

/** What HTML has no way to write: control characters, and halves of a character. */
const notText =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function renderReport(report: Report) {
  const title = titleOf(report);
  const main = (
    <Paper.Provider value={report.pictures}>
      <ReportPage report={report} title={title} />
    </Paper.Provider>
  );
  const [titleHtml = "", mainHtml = ""] = [<title>{`${title} - Labwright report`}</title>, main].map((part) =>
    renderToString(part).replace(notText, "\ufffd"),
  );
  return { title: titleHtml, main: mainHtml, style, script };
}

function titleOf({ tests, skipped }: Report): string {
  const [only] = tests;
  if (tests.length === 1 && only && skipped.length === 0) return only.name;
  return countText(runsOf({ tests, skipped }), skipped.filter(({ isError }) => !isError).length);
}

/** Tests that could not be started count as runs that erred. */
const runsOf = ({ tests, skipped }: Pick<Report, "tests" | "skipped">) => [
  ...tests.map(({ status, word }) => ({ status, flaky: word === "flaky" })),
  ...skipped.filter(({ isError }) => isError).map(() => ({ status: "error" })),
];

function ReportPage({ report, title }: { report: Report; title: string }) {
  const { tests, skipped, notes } = report;
  const worstFirst = tests.toSorted((a, b) => places.indexOf(a.word) - places.indexOf(b.word));
  const groups = [...new Set(tests.map(({ group }) => group))];
  return (
    <main class="stack">
      <header>
        <h1>Labwright report</h1>
        <p class="soft">
          {title} · {utc(report.generatedAt)}
        </p>
      </header>
      {tests.length === 0 ? <Empty>No test ran, so nothing was judged.</Empty> : <Counts {...report} />}
      {notes.length > 0 && (
        <section class="card">
          <h2>Review</h2>
          <Lines lines={notes} />
        </section>
      )}
      {tests.length > 1 && <Find words={[...new Set(worstFirst.map(({ word }) => word))]} />}
      {tests.some(({ later }) => later !== undefined) && (
        <p class="soft">
          This report is large: a script draws the steps of a passed test when you open it. Where no script
          may run, get a report of that run alone: <code>get_execution_report</code> with its id.
        </p>
      )}
      <Index tests={worstFirst.filter(isBad)} />
      <Matrix tests={tests} skipped={skipped} />
      {groups.map((group) => (
        <Group key={group} name={group} tests={worstFirst.filter((test) => test.group === group)} />
      ))}
      <NotRun skipped={skipped} />
      <Requirements tests={tests} />
      <footer class="soft small">Labwright · report {report.id}</footer>
    </main>
  );
}

function Counts({ tests, skipped }: Report) {
  const runs = runsOf({ tests, skipped });
  const left = skipped.filter(({ isError }) => !isError).length;
  const took = tests.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  const cells = [
    { count: runs.length, word: runs.length === 1 ? "run" : "runs" },
    ...countsOf(runs),
    ...(left > 0 ? [{ count: left, word: "skipped" }] : []),
  ];
  return (
    <p class="row counts">
      {cells.map(({ count, word }, at) => (
        <span class={at === 0 ? "count" : `count ${toneOf(word.replace("errors", "error"))}`}>
          <b>{count}</b> {word}
        </span>
      ))}
      <span class="soft">{duration(took)} in all</span>
    </p>
  );
}

/** Shown by the report's script, where it may run. */
const Find = ({ words }: { words: readonly string[] }) => (
  <form class="find stack" hidden>
    <fieldset class="filter">
      <legend class="soft small">Filter</legend>
      <label>
        Status
        <select name="word">
          <option value="">any</option>
          {words.map((word) => (
            <option>{word}</option>
          ))}
        </select>
      </label>
      <label>
        Name or reason
        <input name="text" type="search" />
      </label>
    </fieldset>
    <div class="row">
      <output class="soft" aria-live="polite" />
      <button type="button" name="open">
        Open all shown
      </button>
      <button type="button" name="close">
        Close all
      </button>
    </div>
  </form>
);

const Index = ({ tests }: { tests: readonly ReportTest[] }) =>
  tests.length < 2 ? null : (
    <nav class="card" aria-label="Tests that did not pass">
      <h2>Not passed</h2>
      <ol class="index">
        {tests.map((test) => (
          <li>
            <a href={`#${anchorOf(test)}`}>{test.name}</a>{" "}
            <span class="soft small">
              {[test.group, test.word, test.reason?.code].filter(Boolean).join(", ")}
            </span>
          </li>
        ))}
      </ol>
    </nav>
  );

const Group = ({ name, tests }: { name: string | undefined; tests: readonly ReportTest[] }) => (
  <section class="tests">
    <h2>
      {name ?? "Tests"}: {countText(tests.map(({ status, word }) => ({ status, flaky: word === "flaky" })))}
    </h2>
    {tests.map((test, at) => (
      <TestItem key={test.id} test={test} isOpen={at < mostOpen && isBad(test) && test.word !== "flaky"} />
    ))}
  </section>
);

const NotRun = ({ skipped }: Pick<Report, "skipped">) =>
  skipped.length === 0 ? null : (
    <section class="card">
      <h2>Not run</h2>
      <ul>
        {skipped.map(({ name, reason, isError, group }) => (
          <li>
            <Badge status={isError ? "error" : "skipped"} />{" "}
            {group === undefined ? name : `${group}: ${name}`}: {reason}
          </li>
        ))}
      </ul>
    </section>
  );
