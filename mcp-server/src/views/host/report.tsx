import { useState } from "preact/hooks";
import type { RunView } from "../../domain/runView.ts";
import { useAttempt, useRenewal } from "../attempt.tsx";
import { duration, moment } from "../format.ts";
import { isOpen, type RunLine, RunTable, Verdict } from "../runs.tsx";
import { Empty, Facts, Reason } from "../states.tsx";
import { StepList } from "../stepItem.tsx";
import { stepTree } from "../stepTree.ts";
import { show, type ToolResult, type ViewProps } from "./host.tsx";

/** Of get_execution_results. */
type Found = { executions?: RunLine[]; more?: number; tests?: number };
/** Of get_execution_report, whose result has the number of `tests`. */
type Report = { runs: RunView[] };

const failedFirst = (a: RunView, b: RunView) => Number(a.status === "passed") - Number(b.status === "passed");

/** Runs that a report is of, or a list of runs, each of which opens. */
function ReportView({ args, result, call, openLink }: ViewProps<Found, Report>) {
  const [opened, setOpened] = useState<{ execution_id: string; reply: ToolResult<Found, Report> }>();
  const [first, setFirst] = useState(result);
  const tries = useAttempt();
  const isList = first.structuredContent?.executions !== undefined;
  const shown = opened?.reply ?? first;
  const isRunning = hasOpen(shown);
  const report = (asked: Record<string, unknown>) => call<Found, Report>("get_execution_report", asked);
  const open = (execution_id: string) =>
    tries.attempt(async () => setOpened({ execution_id, reply: await report({ execution_id }) }));
  // Each report is kept as a file: a small one as long as its runs go on.
  const latest = async (asked: Record<string, unknown>) => {
    const brief = isRunning ? await report({ ...asked, format: "ctrf" }) : undefined;
    return brief && hasOpen(brief) ? brief : report(asked);
  };
  const renew = async () => {
    if (opened) setOpened({ ...opened, reply: await latest({ execution_id: opened.execution_id }) });
    else setFirst(isList ? await call("get_execution_results", args) : await latest(args));
  };
  useRenewal(tries, isRunning ? 2_000 : undefined, () => tries.attempt(renew));
  return (
    <>
      <div class="row">
        {opened && isList && (
          <button type="button" onClick={() => setOpened(undefined)}>
            All runs
          </button>
        )}
        <button type="button" onClick={() => tries.attempt(renew)}>
          Renew
        </button>
        {openLink && !isRunning && <Open link={linkIn(shown)} openLink={openLink} />}
      </div>
      {tries.problem}
      {opened || !isList ? <Runs of={shown} /> : <List {...first.structuredContent} open={open} />}
    </>
  );
}

const Open = ({ link, openLink }: { link: string | undefined; openLink(link: string): void }) =>
  link === undefined ? null : (
    <button type="button" onClick={() => openLink(link)}>
      Open the whole report
    </button>
  );

function Runs({ of: reply }: { of: ToolResult<Found, Report> }) {
  const runs = runsIn(reply);
  const left = (reply.structuredContent?.tests ?? 0) - runs.length;
  return (
    <>
      {runs.toSorted(failedFirst).map((run) => (
        <Run key={run.id} run={run} />
      ))}
      {left > 0 && <p class="soft">{left} more tests: open the whole report.</p>}
    </>
  );
}

const List = ({ executions = [], more = 0, open }: Found & { open(id: string): void }) => (
  <>
    {executions.length === 0 && <Empty>No run matches.</Empty>}
    <RunTable
      runs={executions}
      nameOf={({ execution_id, name }) => (
        <button type="button" onClick={() => open(execution_id)}>
          {name}
        </button>
      )}
    />
    {more > 0 && <p class="soft">{more} older ones match, too.</p>}
  </>
);

const runsIn = ({ _meta }: ToolResult<Found, Report>) => _meta?.["dev.labwright/view"]?.runs ?? [];
const hasOpen = (reply: ToolResult<Found, Report>) => runsIn(reply).some(isOpen);

/** Where a person opens the file: the server says so in the file's description. */
const linkIn = ({ content = [] }: ToolResult<unknown, unknown>): string | undefined =>
  content.flatMap(({ description }) => /^Open (\S+)$/.exec(description ?? "")?.[1] ?? [])[0];

/** A step has no address here, and the build hides links to this one. */
const noLink = () => "#";

const Run = ({ run }: { run: RunView }) => (
  <section class="card" aria-label={run.name}>
    <h1>{run.name}</h1>
    <p class="row">
      <Verdict status={run.status} flaky={run.flaky} />
      <span class="soft">
        {run.kind} {moment(run.started_at)} {duration(run.duration_ms)}
      </span>
    </p>
    <Reason of={run.reason} />
    <StepList nodes={stepTree(run.steps)} linkTo={noLink} />
    {run.more > 0 && <p class="soft">{run.more} more steps: open the whole report.</p>}
    <Facts rows={run.facts} />
  </section>
);

void show("report", ReportView);
