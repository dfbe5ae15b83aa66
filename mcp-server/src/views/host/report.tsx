import { useState } from "preact/hooks";
import type { RunView } from "../../domain/runView.ts";
import { duration, moment } from "../format.ts";
import { Badge, Empty, Facts } from "../states.tsx";
import { StepItem } from "../stepItem.tsx";
import { stepTree } from "../stepTree.ts";
import { show, type ToolResult, useAttempt, type ViewProps } from "./host.tsx";

type RunLine = Pick<RunView, "name" | "status" | "flaky" | "duration_ms" | "started_at"> & {
  execution_id: string;
  kind: string;
  reason?: string;
  device?: string;
};
/** Of get_execution_results. */
type Found = { executions?: RunLine[]; more?: number; tests?: number };
/** Of get_execution_report, whose result has the number of `tests`. */
type Report = { runs: RunView[] };

const failedFirst = (a: RunView, b: RunView) => Number(a.status === "passed") - Number(b.status === "passed");

/** Runs that a report is of, or a list of runs, each of which opens. */
function ReportView({ args, result, call, openLink }: ViewProps<Found, Report>) {
  const [opened, setOpened] = useState<ToolResult<Found, Report>>();
  const [list, setList] = useState(result);
  const [problem, attempt] = useAttempt();
  const { executions, more = 0 } = list.structuredContent ?? {};
  const shown = opened ?? (executions ? undefined : list);
  const runs = shown?._meta?.["dev.labwright/view"]?.runs.toSorted(failedFirst);
  const left = (shown?.structuredContent?.tests ?? 0) - (runs?.length ?? 0);
  const renew = async () => {
    const [only] = opened && runs ? runs : [];
    if (only) setOpened(await call("get_execution_report", { execution_id: only.id }));
    else setList(await call(executions ? "get_execution_results" : "get_execution_report", args));
  };
  const link = shown && linkIn(shown);
  return (
    <>
      <div class="row">
        {opened && executions && (
          <button type="button" onClick={() => setOpened(undefined)}>
            All runs
          </button>
        )}
        <button type="button" onClick={() => attempt(renew())}>
          Renew
        </button>
        {link !== undefined && openLink && (
          <button type="button" onClick={() => openLink(link)}>
            Open the whole report
          </button>
        )}
      </div>
      {problem}
      {runs?.map((run) => (
        <Run key={run.id} run={run} />
      ))}
      {runs && left > 0 && <p class="soft">{left} more tests: open the whole report.</p>}
      {!shown && (
        <Runs
          runs={executions ?? []}
          more={more}
          open={(execution_id) =>
            attempt(call<Found, Report>("get_execution_report", { execution_id }).then(setOpened))
          }
        />
      )}
    </>
  );
}

/** Where a person opens the file: the server says so in the file's description. */
const linkIn = ({ content = [] }: ToolResult<unknown, unknown>): string | undefined =>
  content.flatMap(({ description }) => /^Open (\S+)$/.exec(description ?? "")?.[1] ?? [])[0];

/** A step has no address here, and the build hides links to this one. */
const noLink = () => "#";

const Run = ({ run }: { run: RunView }) => (
  <section class="card" aria-label={run.name}>
    <h1>{run.name}</h1>
    <p class="row">
      <Badge status={run.status} /> {run.flaky && <Badge status="flaky" />}
      <span class="soft">
        {run.kind} {moment(run.started_at)} {duration(run.duration_ms)}
      </span>
    </p>
    {run.reason && (
      <p class="note bad">
        <strong>{run.reason.code}</strong> {run.reason.message}
      </p>
    )}
    <ol class="steps">
      {stepTree(run.steps).map((node) => (
        <StepItem key={`${node.step?.index} ${node.label}`} node={node} linkTo={noLink} />
      ))}
    </ol>
    {run.more > 0 && <p class="soft">{run.more} more steps: open the whole report.</p>}
    <Facts rows={run.facts} />
  </section>
);

function Runs({ runs, more, open }: { runs: readonly RunLine[]; more: number; open(id: string): void }) {
  if (runs.length === 0) return <Empty>No run matches.</Empty>;
  return (
    <>
      <table class="runs">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            <th scope="col">Device</th>
            <th scope="col">Took</th>
          </tr>
        </thead>
        <tbody>
          {runs.map(({ execution_id: id, name, kind, status, flaky, reason, device, duration_ms }) => (
            <tr key={id}>
              <th scope="row">
                <button type="button" onClick={() => open(id)}>
                  {name}
                </button>{" "}
                <span class="soft small">{kind}</span>
              </th>
              <td>
                <Badge status={status} /> {flaky && <Badge status="flaky" />} {reason}
              </td>
              <td>{device}</td>
              <td>{duration(duration_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="soft">{more} older ones match, too.</p>}
    </>
  );
}

void show("report", ReportView);
