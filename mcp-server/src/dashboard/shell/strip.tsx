import type { RunMark } from "../../domain/execution.ts";
import type { RunLine } from "../../views/runs.tsx";
import { Shown } from "../../views/states.tsx";
import { Strip as Marks } from "../../views/strip.tsx";
import { callTool } from "./api.ts";
import { usePolled } from "./polled.ts";
import { addressOf } from "./route.ts";

type Found = { counts: Record<string, number>; executions: RunLine[]; more?: number; next?: string };

/** Runs that match, newest first. */
export const findRuns = (asked: Record<string, unknown>, signal: AbortSignal): Promise<Found> =>
  callTool("get_execution_results", asked, signal);

/** Runs as marks, each a link to its run. `runs` are newest first. */
export const Strip = (given: { runs: readonly RunMark[]; current?: string | undefined }) => (
  <Marks {...given} linkOf={(id) => addressOf({ room: "runs", id })} />
);

/** The newest runs of one test, about sixty, with the `current` one marked. Asks again every 10 s. */
export function History({ kind, name, current }: { kind: string; name: string; current?: string }) {
  const runs = usePolled(
    `${kind} ${name}`,
    (signal) => findRuns({ kind, name, max_tokens: 5_000 }, signal),
    10_000,
  );
  return (
    <Shown of={runs} what="its history">
      {({ executions }) => <Strip runs={executions.slice(0, 60)} current={current} />}
    </Shown>
  );
}
