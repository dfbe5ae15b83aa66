import { statfs } from "node:fs/promises";
import type { WatchedProgram } from "@labwright/controllers";
import type { Clock } from "../../ports.ts";
import type { ScriptLimits } from "./launch.ts";
import type { Exit } from "./verdict.ts";

/** Memory of one process is limited by the kernel; that of all together, and their number, is looked at so often. */
const checkUsageMs = 200;
/** Each file in memory costs the kernel about 1 KB, empty as it may be. */
const mostFiles = 50_000;
/** What a script left running without a sandbox may hold its output open so long. */
const outputMs = 1_000;

type Overrun = {
  code: "EXECUTION_TIMEOUT" | "OUT_OF_MEMORY" | "INSUFFICIENT_RESOURCES";
  message: string;
};
export type Followed = { exit: Exit; overrun: Overrun | undefined };

/** `files` are those that the whole disk has more since the start: another program of the machine may have made some. */
type DiskLimits = { folder: string; writtenMb: number; files: number };

/** What one program may take; `disk` is for one that writes into a folder of the host's disk. */
type Limits = ScriptLimits & { timeoutMs: number | undefined; disk?: DiskLimits };

/** Waits for a program's end, and ends it when `signal` aborts or it takes more than it may. `what` names it in messages. */
export async function follow(
  program: WatchedProgram,
  limits: Limits,
  { clock, signal, what }: { clock: Clock; signal: AbortSignal; what: string },
): Promise<Followed> {
  let overrun: Overrun | undefined;
  const stop = (found?: Overrun) => {
    overrun ??= found && { ...found, message: `The ${what} ${found.message}` };
    // The end that follows from it is waited for below.
    void program.end();
  };
  const abort = () => stop();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  const stops = [watchUsage(program, limits, clock, stop), timer(limits.timeoutMs, clock, stop)];
  try {
    const exit = await exitOf(program, clock);
    if (program.ranOut()) stop(outOfMemory(limits));
    return { exit, overrun };
  } finally {
    for (const end of stops) end();
    signal.removeEventListener("abort", abort);
  }
}

function timer(timeoutMs: number | undefined, clock: Clock, stop: (overrun: Overrun) => void): () => void {
  if (timeoutMs === undefined) return () => {};
  const message = `took longer than its ${timeoutMs} ms and was stopped.`;
  return clock.setTimeout(() => stop({ code: "EXECUTION_TIMEOUT", message }), timeoutMs);
}

function watchUsage(
  program: WatchedProgram,
  limits: Limits,
  clock: Clock,
  stop: (overrun: Overrun) => void,
): () => void {
  let cancel = () => {};
  const filesMade = filesMadeOn(limits.disk);
  const next = () => {
    cancel = clock.setTimeout(() => {
      const found = overrunOf({ ...program.usage(), made: filesMade() }, limits);
      if (found) stop(found);
      else next();
    }, checkUsageMs);
  };
  next();
  return () => cancel();
}

const outOfMemory = ({ memoryMb }: Limits): Overrun => ({
  code: "OUT_OF_MEMORY",
  message: `took more than its ${memoryMb} MB of memory and was stopped (limits.script_memory_mb).`,
});

type Usage = ReturnType<WatchedProgram["usage"]> & { made: number };

function overrunOf(usage: Usage, limits: Limits): Overrun | undefined {
  if (usage.memoryMb > limits.memoryMb) return outOfMemory(limits);
  if (usage.tasks >= limits.processes) {
    const message = `reached its ${limits.processes} processes and threads and was stopped (limits.script_processes).`;
    return { code: "INSUFFICIENT_RESOURCES", message };
  }
  if (usage.files > mostFiles) {
    const message = `made more than ${mostFiles} files and folders in memory and was stopped.`;
    return { code: "INSUFFICIENT_RESOURCES", message };
  }
  return limits.disk && diskOverrun(usage, limits.disk);
}

function diskOverrun({ writtenMb, made }: Usage, limits: DiskLimits): Overrun | undefined {
  const code = "INSUFFICIENT_RESOURCES";
  if (writtenMb > limits.writtenMb)
    return { code, message: `wrote more than ${limits.writtenMb} MB to the disk and was stopped.` };
  if (made <= limits.files) return undefined;
  return { code, message: `made more than ${limits.files} files on the disk and was stopped.` };
}

/** How many more files a disk has since now, as of the last call. A disk that is slow to answer must not hold us up. */
function filesMadeOn(disk: DiskLimits | undefined): () => number {
  let first: number | undefined;
  let last: number | undefined;
  const refresh = async () => {
    const found = disk && (await statfs(disk.folder).catch(() => undefined));
    first ??= found?.ffree;
    last = found?.ffree ?? last;
  };
  void refresh();
  return () => {
    void refresh();
    return (first ?? 0) - (last ?? 0);
  };
}

function exitOf({ child }: WatchedProgram, clock: Clock): Promise<Exit> {
  return new Promise((resolve, reject) => {
    let cancel = () => {};
    child.once("error", reject);
    child.once("exit", () => {
      cancel = clock.setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, outputMs);
    });
    child.once("close", (code, signal) => {
      cancel();
      resolve({ code, signal });
    });
    child.stdin?.end();
  });
}
