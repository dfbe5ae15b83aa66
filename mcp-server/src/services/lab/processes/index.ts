import { statSync } from "node:fs";
import { join } from "node:path";
import { scrub } from "../../../observability/scrub.ts";
import type { CallContext, Clock } from "../../ports.ts";
import { readLogs } from "./logs.ts";
import type { LogQuery, PartState, ProcessDependencies } from "./types.ts";

export type { LogQuery, ProcessDependencies, Serving } from "./types.ts";

export type ProcessService = ReturnType<typeof createProcesses>;

export const createProcesses = (deps: ProcessDependencies) => ({
  /** Each part is asked by itself: one that fails or is slow takes no other with it. */
  list: (): Promise<PartState[]> => Promise.all(partsOf(deps).map((part) => askPart(part, deps.clock))),
  /** Masked again. Throws INVALID_INPUT (bad time, no such log), CONTROLLER_UNAVAILABLE for a device that keeps no log. */
  logs: (query: LogQuery, context: CallContext) => readLogs(query, deps, context),
});

const answerMs = 5_000;

type Answer = Omit<PartState, "name">;
type Part = { name: string; ask(): Answer | Promise<Answer> };

const partsOf = (deps: ProcessDependencies): Part[] => [
  { name: "daemon", ask: () => daemon(deps) },
  { name: "endpoint", ask: () => endpoint(deps) },
  { name: "clients", ask: () => clients(deps) },
  { name: "database", ask: () => database(deps) },
  { name: "devices", ask: () => devices(deps) },
  { name: "executions", ask: () => executions(deps) },
  { name: "log", ask: () => log(deps) },
];

async function askPart({ name, ask }: Part, clock: Clock): Promise<PartState> {
  let stop = () => {};
  const late = new Promise<never>((_, reject) => {
    stop = clock.setTimeout(() => reject(new Error(`no answer within ${answerMs} ms`)), answerMs);
  });
  try {
    return { name, ...(await Promise.race([Promise.resolve().then(ask), late])) };
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error);
    return { name, state: "failed", reason: scrub(reason.split("\n")[0] ?? "") };
  } finally {
    stop();
  }
}

const busy = (count: number): Answer["state"] => (count > 0 ? "running" : "idle");
const megabytes = (bytes: number) => Math.round(bytes / 104_857.6) / 10;

function daemon({ serving, clock }: ProcessDependencies): Answer {
  const { version, build } = serving() ?? {};
  return {
    state: "running",
    since: new Date(performance.timeOrigin).toISOString(),
    facts: {
      pid: process.pid,
      ...(version !== undefined && { version }),
      ...(build !== undefined && { build }),
      uptime_s: Math.round(clock.monotonic() / 1_000),
      memory_mb: megabytes(process.memoryUsage.rss()),
    },
  };
}

function endpoint({ serving }: ProcessDependencies): Answer {
  const own = serving();
  if (!own) return { state: "absent", reason: "this process serves no port" };
  return { state: "running", facts: { host: own.host, port: own.port, tls: own.tls } };
}

function clients({ serving }: ProcessDependencies): Answer {
  const own = serving();
  if (!own) return { state: "absent", reason: "this process serves no port" };
  const { bridges, sessions } = own.clients();
  return { state: busy(bridges + sessions), facts: { bridges, http_sessions: sessions } };
}

async function database({ database }: ProcessDependencies): Promise<Answer> {
  return { state: "running", facts: { engine: database.engine, size_mb: megabytes(await database.bytes()) } };
}

async function devices({ devices }: ProcessDependencies): Promise<Answer> {
  const open = devices.openCount();
  const { length: leases } = await devices.leases();
  return { state: busy(open), facts: { open, configured: devices.list().length, leases } };
}

function executions({ executions }: ProcessDependencies): Answer {
  const running = executions.running();
  return { state: busy(running), facts: { running } };
}

function log({ logFolder }: ProcessDependencies): Answer {
  const stats = statSync(join(logFolder, "daemon.log"), { throwIfNoEntry: false });
  if (!stats) return { state: "absent", reason: "nothing was logged to a file" };
  return { state: "running", facts: { file: "logs/daemon.log", size_mb: megabytes(stats.size) } };
}
