import { duration, moment } from "../../views/format.ts";
import { Shown, toneOf } from "../../views/states.tsx";
import { callTool } from "./api.ts";
import { usePolled } from "./polled.ts";
import { addressOf } from "./route.ts";

/** A run in a row of {@link Strip}. */
export type RunMark = {
  execution_id: string;
  status: string;
  started_at: string;
  duration_ms?: number;
  flaky?: boolean;
};

const signs = { good: "✓", bad: "✗", warn: "~" } as const;

/** Runs as coloured marks, oldest first, each a link to its run; `runs` come newest first, as tools answer them. */
export const Strip = ({ runs, current }: { runs: readonly RunMark[]; current?: string | undefined }) => (
  <ol class="strip" aria-label="History, oldest run first">
    {runs.toReversed().map(({ execution_id: id, status, flaky, started_at, duration_ms }) => {
      const word = flaky ? "flaky" : status;
      const text = [word, moment(started_at), duration(duration_ms)].filter(Boolean).join(", ");
      return (
        <li key={id}>
          <a
            class={toneOf(word)}
            href={addressOf({ room: "runs", id })}
            aria-label={text}
            title={text}
            aria-current={id === current ? "true" : undefined}
          >
            {signs[toneOf(word)]}
          </a>
        </li>
      );
    })}
  </ol>
);

/** The newest runs of one test, about sixty, with the `current` one marked. Asks again every 10 s. */
export function History({ kind, name, current }: { kind: string; name: string; current?: string }) {
  const runs = usePolled(
    `${kind} ${name}`,
    async (signal) => {
      const asked = { kind, name, max_tokens: 5_000 };
      return (await callTool<{ executions: RunMark[] }>("get_execution_results", asked, signal)).result;
    },
    () => 10_000,
  );
  return (
    <Shown of={runs} what="its history">
      {({ executions }) => <Strip runs={executions.slice(0, 60)} current={current} />}
    </Shown>
  );
}
