import type { Step } from "../../../domain/index.ts";
import type {
  ArtifactRef,
  ArtifactStore,
  Clock,
  ExecutionService,
  Run,
  Script,
  ScriptEnd,
  ScriptTask,
  Secrets,
} from "../../ports.ts";
import { abortEnding } from "../../records/executions/index.ts";
import { ScriptToolCalls, type ScriptTools } from "./calls.ts";
import { openChannel, openRunFolder, readResult } from "./channel.ts";
import { type Followed, follow } from "./follow.ts";
import { type Launch, type ScriptLimits, startScript } from "./launch.ts";
import { readSaid, ScriptLog, verdictOf } from "./verdict.ts";

export type ScriptRunDependencies = {
  artifacts: ArtifactStore;
  executions: ExecutionService;
  secrets: Secrets;
  clock: Clock;
  clients: string;
  /** Of the data directory, for the folders of runs. */
  runsFolder: string;
  limits: ScriptLimits;
  tools(): ScriptTools;
  /** What scripts may be given that ask for it: see allowed.ts. */
  allowedNeeds: readonly string[];
};

const progressMs = 500;

/** Runs a script to its end within a run. Its calls and, last, the script itself with its log are steps of the run. */
export async function runScript(
  run: Run,
  launch: Launch,
  task: ScriptTask,
  deps: ScriptRunDependencies,
): Promise<ScriptEnd> {
  run.signal.throwIfAborted();
  const { clock, limits } = deps;
  const started = clock.monotonic();
  const folder = await openRunFolder(deps.runsFolder);
  try {
    const calls = new ScriptToolCalls(run, deps.tools(), clock, givenTo(launch.script, deps));
    const log = new ScriptLog(throttledProgress(run, clock));
    const channel = await openChannel(folder.socket, (tool, args, signal) =>
      calls.call(tool, args, AbortSignal.any([signal, run.signal])),
    );
    let followed: Followed;
    try {
      const program = startScript(launch, task, run, { folder, clients: deps.clients, limits });
      log.read(program.child.stdout, true);
      log.read(program.child.stderr, false);
      const most = { ...limits, timeoutMs: task.timeoutMs };
      followed = await follow(program, most, { clock, signal: run.signal, what: "script" });
    } finally {
      await channel.close();
      await deps.executions.endWithin(run.id);
    }
    const end = endOf(launch.script.name, followed, await readResult(folder), log, calls);
    const kept = await deps.artifacts.put(Buffer.from(deps.secrets.mask(log.whole)), "text/plain");
    const durationMs = clock.monotonic() - started;
    const startedAt = new Date(clock.now() - durationMs).toISOString();
    await run.step(stepOf(run, task, end, { startedAt, durationMs, kept }));
    run.signal.throwIfAborted();
    return deps.secrets.maskValues({ ...end, result: { ...end.result, log: kept.uri } });
  } finally {
    await folder.remove();
  }
}

const givenTo = ({ needs }: Script, { allowedNeeds }: ScriptRunDependencies) =>
  new Set(needs.filter((one) => allowedNeeds.includes(one)));

/** A script may say a line a millisecond. */
function throttledProgress(run: Run, clock: Clock): (line: string) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (line) => {
    if (clock.monotonic() - lastAt < progressMs) return;
    lastAt = clock.monotonic();
    run.context.progress(0, undefined, line);
  };
}

function endOf(
  script: string,
  { exit, overrun }: Followed,
  file: string,
  log: ScriptLog,
  calls: ScriptToolCalls,
): ScriptEnd {
  const error = (reason: { code: string; message: string }) => ({
    status: "error" as const,
    reason,
    message: undefined,
    outputs: {},
  });
  const said = overrun ? error(overrun) : verdictOf(exit, readSaid(file, log.lastOutput), log.tail);
  const { message, outputs } = said;
  const undecided = overrun ? undefined : calls.inconclusive();
  const { status, reason } = undecided ? error(undecided) : said;
  return {
    status,
    ...(reason && { reason }),
    result: {
      script,
      status,
      ...(exit.code !== null && !overrun && { exit_code: exit.code }),
      ...(message !== undefined && { message }),
      outputs,
      ...(status !== "passed" && log.tail !== "" && { log_tail: log.tail }),
      verified_count: calls.verifiedCount,
    },
  };
}

/** The script itself, with its whole log; also of one that was stopped. */
function stepOf(
  run: Run,
  task: ScriptTask,
  end: ScriptEnd,
  { startedAt, durationMs, kept }: { startedAt: string; durationMs: number; kept: ArtifactRef },
): Omit<Step, "index"> {
  const aborted = run.signal.aborted ? abortEnding(run.signal.reason) : undefined;
  const { status, reason: error } = aborted ?? end;
  const { log_tail: _, ...output } = end.result;
  return {
    path: "",
    kind: "script",
    label: end.result.script,
    status,
    started_at: startedAt,
    duration_ms: durationMs,
    input: { script: end.result.script, args: task.args },
    output,
    ...(error && { error }),
    artifacts: [{ kind: "log", uri: kept.uri, mime_type: kept.mime_type }],
  };
}
