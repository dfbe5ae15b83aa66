import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { programBundle } from "../../../fixtures/bundle.ts";
import { engineFiles } from "../../../fixtures/engine.ts";

const entry = fileURLToPath(new URL("../../../fixtures/deploymentDaemon.ts", import.meta.url));
// Within the package, where the program's own packages and migrations are found.
const program = fileURLToPath(
  new URL(
    `../../../../mcp-server/node_modules/.cache/labwright/deployments-${process.pid}.mjs`,
    import.meta.url,
  ),
);
const at = (minute: number, seconds = 0) => new Date(Date.UTC(2026, 0, 1, 0, minute, seconds)).toISOString();

const replySchema = z.object({ id: z.int(), value: z.unknown().optional(), error: z.string().optional() });
const historySchema = z.array(
  z.object({
    due_at: z.string(),
    status: z.string(),
    execution_id: z.string().optional(),
    reason: z.string().optional(),
    started_at: z.string().optional(),
    finished_at: z.string().optional(),
  }),
);

// Daemons and databases start here again and again, on machines that do other work too.
vi.setConfig({ testTimeout: 240_000 });

let dataDir: string;
const daemons: ChildProcess[] = [];
beforeAll(async () => {
  await build({ ...programBundle, entryPoints: [entry], outfile: program });
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "labwright-deployments-"));
});
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await kill(daemon);
  await rm(dataDir, { recursive: true, force: true });
});
afterAll(() => rm(program, { force: true }));

async function kill(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = once(daemon, "exit");
  daemon.kill("SIGKILL");
  await ended;
}

/** A daemon in a process of its own, whose clock stands at `startsAt` until it is moved. */
async function startDaemon(startsAt: string) {
  const { workerFile, templateFile } = await engineFiles();
  const child = fork(program, [dataDir, workerFile.href, templateFile, startsAt], { execArgv: [] });
  daemons.push(child);
  const waiting = new Map<number, (reply: z.output<typeof replySchema>) => void>();
  child.on("message", (message) => {
    const reply = replySchema.parse(message);
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  const ended = once(child, "exit").then((): never => {
    throw new Error("The daemon ended before it answered.");
  });
  ended.catch(() => undefined);
  const replyTo = (id: number) =>
    Promise.race([
      ended,
      new Promise<z.output<typeof replySchema>>((resolve) => void waiting.set(id, resolve)),
    ]);
  await replyTo(0);
  let count = 0;
  const call = async (name: string, given?: unknown) => {
    count += 1;
    const replied = replyTo(count);
    child.send({ id: count, call: name, given });
    const { value, error } = await replied;
    if (error !== undefined) throw new Error(error);
    return value;
  };
  const history = async () => historySchema.parse(await call("history"));
  return {
    call,
    history,
    advance: (seconds: number) => call("advance", seconds * 1_000),
    until: (expected: readonly object[]) =>
      vi.waitFor(async () => expect(await history()).toMatchObject(expected), {
        timeout: 60_000,
        interval: 50,
      }),
    untilDue: (next: string | undefined) =>
      vi.waitFor(async () => expect(await call("deployment")).toHaveProperty("next_due", next), {
        timeout: 60_000,
        interval: 50,
      }),
    kill: () => kill(child),
  };
}

it("every minute with max 2 starts exactly two, one at a time, through a daemon killed with -9, and the interrupted one says so", async () => {
  const first = await startDaemon(at(0));
  await first.call("create", { testcase: "slow", max_executions: 2 });
  await first.advance(60);
  await first.until([{ due_at: at(1), status: "running", execution_id: expect.any(String) }]);
  await first.kill();

  const second = await startDaemon(at(1, 40));
  const interrupted = { due_at: at(1), status: "error", reason: expect.stringMatching(/^INTERRUPTED: /) };
  await vi.waitFor(async () => expect(await second.history()).toMatchObject([interrupted]), {
    timeout: 60_000,
    interval: 50,
  });
  await second.untilDue(at(2));
  await second.advance(20);
  await second.until([interrupted, { due_at: at(2), status: "running", execution_id: expect.any(String) }]);
  expect(await second.call("running")).toBe(1);
  await vi.waitFor(
    async () => {
      await second.advance(30);
      expect(await second.history()).toMatchObject([interrupted, { due_at: at(2), status: "passed" }]);
    },
    { timeout: 60_000, interval: 50 },
  );
  expect(await second.call("deployment")).toMatchObject({ status: "completed", started: 2 });

  const runs = await second.history();
  expect(new Set(runs.map(({ execution_id }) => execution_id)).size).toBe(2);
  expect(Date.parse(runs[1]?.started_at ?? "")).toBeGreaterThanOrEqual(
    Date.parse(runs[0]?.finished_at ?? ""),
  );
  expect(await second.call("events")).toMatchObject([
    { execution_id: runs[0]?.execution_id, payload: { status: "error", reason: { code: "INTERRUPTED" } } },
    { execution_id: runs[1]?.execution_id, payload: { status: "passed" } },
  ]);
  expect(await second.call("faults")).toEqual([]);
  await second.call("close");
  await second.kill();

  const third = await startDaemon(at(30));
  await third.advance(600);
  expect(await third.history()).toEqual(runs);
});

it("a run that waited for its device when the daemon was killed runs once under the next one", async () => {
  const first = await startDaemon(at(0));
  await first.call("create", { testcase: "slow", max_executions: 1, name: "before" });
  await first.call("create", { max_executions: 1 });
  await first.advance(60);
  await first.until([{ due_at: at(1), status: "queued" }]);
  // The other one drives the device: what is left of it is interrupted, not run.
  await vi.waitFor(async () => expect(await first.call("running")).toBe(1), {
    timeout: 60_000,
    interval: 50,
  });
  await first.kill();

  const second = await startDaemon(at(1, 5));
  await second.until([{ due_at: at(1), status: "passed", execution_id: expect.any(String) }]);
  await second.advance(600);
  expect(await second.history()).toHaveLength(1);
  expect(await second.call("faults")).toEqual([]);
});
