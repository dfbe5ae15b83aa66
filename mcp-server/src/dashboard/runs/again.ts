import type { RunView } from "../../domain/runView.ts";
import { asFailure, callTool, Failure, read } from "../shell/api.ts";

/** A run in a list. */
type Line = { execution_id: string; kind: string; name: string; status: string; device?: string };

/** Starts a run again with its inputs on its device. Returns the new run's id; throws {@link Failure} if it cannot. */
export async function runAgain({ again }: Pick<RunView, "again">): Promise<string> {
  if ("why" in again) throw new Failure("NOT_AGAIN", again.why);
  const { result } = await callTool<{ execution_id: string }>(again.tool, { ...again.args, wait_ms: 0 });
  return result.execution_id;
}

const failures = new Set(["failed", "error", "timeout"]);

/** Of runs, newest first: the last one of each test on each device, if it did not pass. */
export function lastFailed<Run extends Line>(runs: readonly Run[]): Run[] {
  const newest = new Map<string, Run>();
  for (const run of runs) {
    const test = JSON.stringify([run.kind, run.name, run.device]);
    if (!newest.has(test)) newest.set(test, run);
  }
  return [...newest.values()].filter(({ status }) => failures.has(status));
}

/** Starts runs again, one after another; runs of one device wait for each other. Returns what could not be started, a line each. */
export async function runAllAgain(runs: readonly Line[]): Promise<{ started: number; refused: string[] }> {
  const refused: string[] = [];
  for (const { execution_id, name } of runs) {
    // Without its steps.
    const path = `executions/${encodeURIComponent(execution_id)}?after=999999999`;
    await read<RunView>(path)
      .then(runAgain)
      .catch((error: unknown) => refused.push(`${name}: ${asFailure(error).message}`));
  }
  return { started: runs.length - refused.length, refused };
}
