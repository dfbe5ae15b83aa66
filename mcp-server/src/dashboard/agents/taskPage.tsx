import { useAttempt } from "../../views/attempt.tsx";
import { duration, moment } from "../../views/format.ts";
import { Badge, Empty, Shown } from "../../views/states.tsx";
import { Scrolled } from "../../views/text.tsx";
import { read, send } from "../shell/api.ts";
import { Part } from "../shell/detail.tsx";
import { usePolled } from "../shell/polled.ts";
import { Conversation } from "./conversation.tsx";

export type TaskLine = { agent: string; key: string; title: string; state: string; updated_at: string };
type Plan = { steps: { index: number; objective: string; depends_on: number[] }[] };
type Step = { step_index: number; status: string; error_message?: string; execution_time: number };
/** `plan` and `progress` come while it runs, `result` when it ended. */
type TaskReply = TaskLine & {
  error: string | null;
  session_id: string | null;
  plan?: Plan;
  progress?: { current_step: number; total_steps: number; status: string };
  result: { response?: string; plan?: Plan; executed_steps?: Step[] } | null;
};

const isOpen = ({ state }: TaskLine) => state === "pending" || state === "running";

/** A task with its plan; one of an autonomous agent with its finding and its conversation. */
export function TaskPage({ id }: { id: string }) {
  const path = `agent/tasks/${id.split("/").map(encodeURIComponent).join("/")}`;
  const task = usePolled<TaskReply>(
    id,
    (signal) => read(path, signal),
    (now) => (now === undefined || isOpen(now) ? 1_500 : undefined),
  );
  const { problem, isBusy, attempt } = useAttempt(task.again);
  return (
    <Shown of={task} what="the task">
      {(now) => (
        <>
          <h1>{now.title}</h1>
          <p class="row" aria-live="polite">
            <Badge status={now.state} />
            <span class="soft">
              {now.agent}, {moment(now.updated_at)}
            </span>
            {now.progress &&
              `${now.progress.status}: ${now.progress.current_step} of ${now.progress.total_steps} steps ended`}
            {isOpen(now) && (
              <button
                type="button"
                disabled={isBusy}
                onClick={() => attempt(() => send("DELETE", `/api/v1/${path}`))}
              >
                Stop the task
              </button>
            )}
          </p>
          {now.error !== null && <p class="note bad">{now.error}</p>}
          {problem}
          {now.agent === "task" ? <PlanCard {...now} /> : <Finding {...now} />}
          {now.session_id !== null && <Conversation id={now.session_id} isPart />}
        </>
      )}
    </Shown>
  );
}

const Finding = ({ result }: TaskReply) =>
  result && (
    <Part title="Finding">
      <Scrolled text={JSON.stringify(result, undefined, 2)} />
    </Part>
  );

/** Each step with how it ended last, if it did. */
const PlanCard = ({ plan, result }: TaskReply) => {
  const steps = (result?.plan ?? plan)?.steps ?? [];
  return (
    <Part title="Plan">
      {steps.length === 0 && <Empty>There is no plan.</Empty>}
      <ol class="steps">
        {steps.map(({ index, objective, depends_on }) => {
          const ended = result?.executed_steps?.findLast(({ step_index }) => step_index === index);
          return (
            <li key={index} class="row">
              <Badge status={ended?.status ?? "pending"} />
              {index}. {objective}
              <span class="soft small">
                {ended && duration(ended.execution_time * 1_000)}
                {depends_on.length > 0 && `, after ${depends_on.join(", ")}`} {ended?.error_message}
              </span>
            </li>
          );
        })}
      </ol>
      {result?.response && <p class="said">{result.response}</p>}
    </Part>
  );
};
