import { useState } from "preact/hooks";
import type { RunView } from "../../domain/runView.ts";
import { useAttempt } from "../../views/attempt.tsx";
import { duration, moment } from "../../views/format.ts";
import { isOpen } from "../../views/runs.tsx";
import { Badge, Empty, Facts, Reason } from "../../views/states.tsx";
import { File } from "../../views/stepDetails.tsx";
import { holds, isGood, StepList } from "../../views/stepItem.tsx";
import { stepTree } from "../../views/stepTree.ts";
import { callForFiles, callTool, read } from "../shell/api.ts";
import { Detail, Part } from "../shell/detail.tsx";
import { addressOf } from "../shell/route.ts";
import { History } from "../shell/strip.tsx";
import { runAgain } from "./again.ts";
import { Comparison } from "./comparison.tsx";
import { Player } from "./player.tsx";

/** A run with its steps, also while it runs; `step` (from 1) is shown by itself. */
export const RunPage = ({ id, step }: { id: string; step?: number | undefined }) => (
  <Detail<RunView>
    room="runs"
    id={id}
    load={async (signal, before) => {
      const after = before?.steps.at(-1)?.index ?? -1;
      const next = await read<RunView>(`executions/${encodeURIComponent(id)}?after=${after}`, signal);
      return { ...next, steps: [...(before?.steps ?? []), ...next.steps] };
    }}
    every={(view) => (view === undefined ? 3_000 : view.more > 0 ? 0 : isOpen(view) ? 1_000 : undefined)}
    nameOf={({ name }) => name}
  >
    {(view, again) => (
      <>
        <Head run={view} refresh={again} />
        {step !== undefined && <Player run={view} step={step} />}
        <Recordings run={view} step={step} />
        {!isOpen(view) && <Comparison id={view.id} isOpen={view.status !== "passed"} />}
        <div class="split">
          <Steps run={view} step={step} />
          <Part title="Facts">
            <Facts
              rows={[
                ["Started", moment(view.started_at)],
                ["Took", duration(view.duration_ms)],
                ["Id", view.id],
                ...view.facts,
              ]}
            />
            <Attempts of={view.attempts} />
            <h2>History</h2>
            <History key={view.status} kind={view.kind} name={view.name} current={view.id} />
          </Part>
        </div>
      </>
    )}
  </Detail>
);

/** What was recorded meanwhile: a video at the step that is shown, or where the run begins. */
function Recordings({ run, step = 0 }: { run: RunView; step?: number | undefined }) {
  const shown = run.steps[step - 1] ?? run;
  const since = (Date.parse(shown.started_at) - Date.parse(run.started_at)) / 1_000;
  return run.recordings.length === 0 ? null : (
    <Part title="Recorded">
      {run.recordings.map(({ from_s, ...file }) => (
        <File key={file.uri} {...file} at={from_s + since} />
      ))}
    </Part>
  );
}

const Attempts = ({ of: attempts = [] }: { of: RunView["attempts"] }) =>
  attempts.length === 0 ? null : (
    <>
      <h2>Attempts</h2>
      <ol>
        {attempts.map(({ id, status, reason, duration_ms }) => (
          <li key={id}>
            <Badge status={status} /> {duration(duration_ms)} {reason && `${reason.code}: ${reason.message}`}
          </li>
        ))}
      </ol>
    </>
  );

function Head({ run, refresh }: { run: RunView; refresh(): void }) {
  const [link, setLink] = useState<string>();
  const { problem, isBusy, attempt } = useAttempt();
  const cancel = () => callTool("cancel_execution", { execution_id: run.id }).then(refresh);
  const again = async () => {
    location.hash = addressOf({ room: "runs", id: await runAgain(run) });
  };
  const report = async () => {
    const asked = { execution_id: run.id, pictures: "all" };
    setLink((await callForFiles("get_execution_report", asked)).artifacts[0]?.link);
  };
  return (
    <>
      <p class="row" aria-live="polite">
        <Badge status={run.status} />
        {run.flaky && <Badge status="flaky" />}
        <span class="soft">{run.kind}</span>
        {isOpen(run) && run.doing !== undefined && <span>now: {run.doing}</span>}
      </p>
      <Reason of={run.reason} />
      <div class="row">
        {isOpen(run) ? (
          <button type="button" disabled={isBusy} onClick={() => attempt(cancel)}>
            Stop the run
          </button>
        ) : (
          <>
            {"tool" in run.again && (
              <button type="button" disabled={isBusy} onClick={() => attempt(again)}>
                Run again
              </button>
            )}
            <button type="button" disabled={isBusy} onClick={() => attempt(report)}>
              Make a report
            </button>
          </>
        )}
        {link !== undefined && (
          <a href={link} target="_blank" rel="noreferrer">
            Open the report
          </a>
        )}
      </div>
      {!isOpen(run) && "why" in run.again && <p class="soft small">{run.again.why}</p>}
      <Way run={run} />
      {problem}
    </>
  );
}

/** To what did not pass, or to the beginning. */
function Way({ run: { id, steps } }: { run: RunView }) {
  const bad = steps.find(({ status }) => !isGood(status)) ?? steps[0];
  return bad === undefined ? null : (
    <p>
      <a href={addressOf({ room: "runs", id, step: bad.index + 1 })}>
        {isGood(bad.status) ? "Go through it step by step" : `See what did not pass: ${bad.label}`}
      </a>
    </p>
  );
}

/** So many steps are drawn at a time: a browser is slow to draw thousands. */
const mostDrawn = 200;

function Steps({ run, step }: { run: RunView; step?: number | undefined }) {
  const [pages, setPages] = useState(0);
  const tree = stepTree(run.steps);
  const linkTo = (at: number) => addressOf({ room: "runs", id: run.id, step: at });
  const target = tree.findIndex((node) => holds(node, step));
  const from = Math.max(0, Math.floor(target / mostDrawn) * mostDrawn);
  const drawn = tree.slice(from, from + (pages + 1) * mostDrawn);
  const left = tree.length - from - drawn.length;
  return (
    <section class="card" aria-label="Steps">
      <h2>
        Steps <span class="soft small">{run.total}</span>
      </h2>
      {tree.length === 0 && (
        <Empty>{isOpen(run) ? "No step has ended yet." : "This run has no steps."}</Empty>
      )}
      {from > 0 && (
        <p>
          <a href={addressOf({ room: "runs", id: run.id })}>{from} earlier ones</a>
        </p>
      )}
      <StepList nodes={drawn} linkTo={linkTo} target={step} />
      {left > 0 && (
        <p>
          <button type="button" onClick={() => setPages(pages + 1)}>
            Show more ({left} left)
          </button>
        </p>
      )}
    </section>
  );
}
