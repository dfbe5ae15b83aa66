import type { RunView } from "../../domain/runView.ts";
import type { RunLine } from "../../views/runs.tsx";
import { asFailure, Failure } from "../../views/states.tsx";
import { callTool, read } from "../shell/api.ts";

/** Starts a run again with its inputs on its device. Returns the new run's id; throws {@link Failure} if it cannot. */
export async function runAgain({ again }: Pick<RunView, "again">): Promise<string> {
  if ("why" in again) throw new Failure("NOT_AGAIN", again.why);
  return (await callTool<{ execution_id: string }>(again.tool, { ...again.args, wait_ms: 0 })).execution_id;
}

const failures = new Set(["failed", "error", "timeout"]);

/** Of runs, newest first: the last one of each test on each device, if it did not pass. */
export function lastFailed(runs: readonly RunLine[]): RunLine[] {
  const newest = new Map<string, RunLine>();
  for (const run of runs) {
    const test = JSON.stringify([run.kind, run.name, run.device]);
    if (!newest.has(test)) newest.set(test, run);
  }
  return [...newest.values()].filter(({ status }) => failures.has(status));
}

/** Starts runs again, one after another; runs of one device wait for each other. Returns how many, and a line for each that it could not start. */
export async function runAllAgain(runs: readonly RunLine[]): Promise<string[]> {
  const refused: string[] = [];
  for (const { execution_id, name } of runs) {
    // Without its steps.
    const path = `executions/${encodeURIComponent(execution_id)}?after=999999999`;
    await read<RunView>(path)
      .then(runAgain)
      .catch((error: unknown) => refused.push(`${name}: ${asFailure(error).message}`));
  }
  return [`Started ${runs.length - refused.length}.`, ...refused];
}
