import { useState } from "preact/hooks";
import { duration, moment } from "../../views/format.ts";
import { Badge, Empty, Facts, Problem, Shown } from "../../views/states.tsx";
import { asFailure, type Failure, read, send } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { Conversation } from "./conversation.tsx";

export type TaskLine = {
  agent: string;
  key: string;
  title: string;
  state: string;
  error: string | null;
  attempts: number;
  session_id: string | null;
  created_at: string;
  updated_at: string;
};
type Plan = { analysis: string; steps: { index: number; objective: string; depends_on: number[] }[] };
type Step = { step_index: number; status: string; error_message?: string; execution_time: number };
/** `plan` and `progress` come while it runs, `result` when it ended. */
type TaskReply = TaskLine & {
  plan?: Plan;
  progress?: { current_step: number; total_steps: number; status: string; message?: string };
  result: {
    response?: string;
    plan?: Plan;
    executed_steps?: Step[];
    verification?: { reasoning: string };
  } | null;
};

const isOpen = ({ state }: TaskLine) => state === "pending" || state === "running";

/** A task with its plan; one of an autonomous agent also with its conversation. */
export function TaskPage({ id }: { id: string }) {
  const [failure, setFailure] = useState<Failure>();
  const path = `agent/tasks/${id.split("/").map(encodeURIComponent).join("/")}`;
  const task = usePolled<TaskReply>(
    id,
    (signal) => read<TaskReply>(path, signal),
    (now) => (now === undefined || isOpen(now) ? 1_500 : undefined),
  );
  const stop = async () => {
    setFailure(await send("DELETE", `/api/v1/${path}`).then(() => undefined, asFailure));
    task.again();
  };
  return (
    <Shown of={task} what="the task">
      {(now) => (
        <>
          <h1>{now.title}</h1>
          <p class="row" aria-live="polite">
            <Badge status={now.state} />
            {now.progress && (
              <span>
                {now.progress.status}: {now.progress.current_step} of {now.progress.total_steps} steps ended{" "}
                {now.progress.message}
              </span>
            )}
          </p>
          {now.error !== null && <p class="note bad">{now.error}</p>}
          {failure && <Problem failure={failure} />}
          {isOpen(now) && (
            <div class="row">
              <button type="button" onClick={() => void stop()}>
                Stop the task
              </button>
            </div>
          )}
          <Facts
            rows={[
              ["Agent", now.agent],
              ["Started", moment(now.created_at)],
              ["Changed", moment(now.updated_at)],
              ["Attempts", now.attempts],
            ]}
          />
          <Outcome {...now} />
          {now.session_id !== null && <Conversation id={now.session_id} />}
        </>
      )}
    </Shown>
  );
}

function Outcome({ agent, plan: running, result }: TaskReply) {
  const plan = result?.plan ?? running;
  if (agent !== "task")
    return result === null ? null : (
      <section class="card" aria-label="Finding">
        <h2>Finding</h2>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <pre tabIndex={0}>{JSON.stringify(result, undefined, 2)}</pre>
      </section>
    );
  return (
    <section class="card" aria-label="Plan">
      <h2>Plan</h2>
      {plan ? (
        <Steps plan={plan} steps={result?.executed_steps ?? []} />
      ) : (
        <Empty>There is no plan yet.</Empty>
      )}
      {result?.verification && <p class="said">{result.verification.reasoning}</p>}
      {result?.response && <p class="said">{result.response}</p>}
    </section>
  );
}

/** Each step with how it ended last, if it did. */
const Steps = ({ plan, steps }: { plan: Plan; steps: readonly Step[] }) => (
  <ol class="steps">
    {plan.steps.map(({ index, objective, depends_on }) => {
      const ended = steps.findLast(({ step_index }) => step_index === index);
      return (
        <li key={index} class="row">
          <Badge status={ended?.status ?? "pending"} />
          <span>
            {index}. {objective}
          </span>
          <span class="soft small">
            {ended && duration(ended.execution_time * 1_000)}
            {depends_on.length > 0 && ` after ${depends_on.join(", ")}`}
          </span>
          {ended?.error_message && <span class="small">{ended.error_message}</span>}
        </li>
      );
    })}
  </ol>
);
