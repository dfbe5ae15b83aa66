import { useState } from "preact/hooks";
import type { RunView } from "../../domain/runView.ts";
import { duration, moment } from "../../views/format.ts";
import { Badge, Empty, Facts, Problem, Shown } from "../../views/states.tsx";
import { StepItem } from "../../views/stepItem.tsx";
import { stepTree } from "../../views/stepTree.ts";
import { asFailure, callTool, type Failure, read } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { History } from "../shell/strip.tsx";

const isOpen = ({ status }: Pick<RunView, "status">) => status === "running" || status === "queued";

/** A run with its steps, also while it runs; `step` (from 1) is opened and shown. */
export function RunPage({ id, step }: { id: string; step?: number | undefined }) {
  const run = usePolled<RunView>(
    id,
    async (signal, before) => {
      const after = before?.steps.at(-1)?.index ?? -1;
      const next = await read<RunView>(`executions/${encodeURIComponent(id)}?after=${after}`, signal);
      return { ...next, steps: [...(before?.steps ?? []), ...next.steps] };
    },
    (view) => (view === undefined ? 3_000 : view.more > 0 ? 0 : isOpen(view) ? 1_000 : undefined),
  );
  return (
    <>
      <p>
        <a href={addressOf({ room: "runs" })}>All runs</a>
      </p>
      <Shown of={run} what="the run">
        {(view) => (
          <>
            <Head run={view} again={run.again} />
            <div class="split">
              <Steps run={view} step={step} />
              <section class="card" aria-label="Facts">
                <h2>Facts</h2>
                <Facts
                  rows={[
                    ["Started", moment(view.started_at)],
                    ["Took", duration(view.duration_ms)],
                    ["Id", view.id],
                    ...view.facts,
                  ]}
                />
                <h2>History</h2>
                <History kind={view.kind} name={view.name} current={view.id} />
              </section>
            </div>
          </>
        )}
      </Shown>
    </>
  );
}

function Head({ run, again }: { run: RunView; again(): void }) {
  const [failure, setFailure] = useState<Failure>();
  const [link, setLink] = useState<string>();
  const attempt = (work: Promise<void>) =>
    void work.then(
      () => setFailure(undefined),
      (error: unknown) => setFailure(asFailure(error)),
    );
  const cancel = async () => {
    await callTool("cancel_execution", { execution_id: run.id });
    again();
  };
  const report = async () => {
    const { artifacts = [] } = await callTool("get_execution_report", {
      execution_id: run.id,
      pictures: "all",
    });
    setLink(artifacts[0]?.link);
  };
  return (
    <>
      <h1>{run.name}</h1>
      <p class="row" aria-live="polite">
        <Badge status={run.status} />
        {run.flaky && <Badge status="flaky" />}
        <span class="soft">{run.kind}</span>
        {isOpen(run) && run.doing !== undefined && <span>now: {run.doing}</span>}
      </p>
      {run.reason && (
        <p class="note bad">
          <strong>{run.reason.code}</strong> {run.reason.message}
        </p>
      )}
      <div class="row">
        {isOpen(run) ? (
          <button type="button" onClick={() => attempt(cancel())}>
            Stop the run
          </button>
        ) : (
          <button type="button" onClick={() => attempt(report())}>
            Make a report
          </button>
        )}
        {link !== undefined && (
          <a href={link} target="_blank" rel="noreferrer">
            Open the report
          </a>
        )}
      </div>
      {failure && <Problem failure={failure} />}
    </>
  );
}

function Steps({ run, step }: { run: RunView; step?: number | undefined }) {
  const tree = stepTree(run.steps);
  const linkTo = (at: number) => addressOf({ room: "runs", id: run.id, step: at });
  return (
    <section class="card" aria-label="Steps">
      <h2>
        Steps <span class="soft small">{run.total}</span>
      </h2>
      {tree.length === 0 ? (
        <Empty>{isOpen(run) ? "No step has ended yet." : "This run has no steps."}</Empty>
      ) : (
        <ol class="steps">
          {tree.map((node) => (
            <StepItem key={`${node.step?.index} ${node.label}`} node={node} linkTo={linkTo} target={step} />
          ))}
        </ol>
      )}
    </section>
  );
}
