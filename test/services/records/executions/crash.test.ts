import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { createExecutions } from "#mcp-server/services/records/executions/index.ts";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import { eventRows, openStorage } from "#mcp-server/storage/index.ts";
import { executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { programBundle } from "../../../fixtures/bundle.ts";
import { engineFiles } from "../../../fixtures/engine.ts";
import { simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";

let dataDir: string;
let program: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "labwright-crash-"));
  // Within the package, where the program's own packages and migrations are found.
  program = fileURLToPath(
    new URL(`../../../../mcp-server/node_modules/.cache/labwright/crash-${process.pid}.mjs`, import.meta.url),
  );
  await build({
    entryPoints: [fileURLToPath(new URL("./crashingProcess.ts", import.meta.url))],
    outfile: program,
    ...programBundle,
  });
});
afterAll(async () => {
  await rm(program, { force: true });
  await rm(dataDir, { recursive: true, force: true });
});

it("a run whose server was killed is marked interrupted with its steps so far, once, and reported as an event", async () => {
  const { workerFile, templateFile } = await engineFiles();
  const child = spawn(process.execPath, [program, dataDir, workerFile.href, templateFile], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const id = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (line: Buffer) => resolve(line.toString().trim()));
    void ended.then(([code]) => reject(new Error(`It ended with ${code} before it ran.`)));
  });
  child.kill("SIGKILL");
  await ended;

  const storage = await openStorage({ dataDir, workerFile, templateFile });
  try {
    const rows = eventRows(storage.db);
    const executions = createExecutions({
      notices: createNotices(),
      rows: executionRows(storage.db),
      devices: simulatedDevices(),
      events: { append: (tx, event) => eventRows(tx).append(tx, { ...event, at: new Date().toISOString() }) },
      secrets: testSecrets(),
      clock: systemClock,
      host: "lab",
    });
    expect((await executions.get(id)).execution.status).toBe("running");
    expect(await executions.recover()).toBe(1);
    const { execution, steps } = await executions.get(id);
    expect(execution).toMatchObject({ status: "error", reason: { code: "INTERRUPTED" }, name: "killed" });
    expect(execution.finished_at).toBeDefined();
    expect(steps.map(({ label }) => label)).toEqual(["one", "two"]);
    expect(await rows.read({ after: 0, limit: 10 })).toMatchObject([
      { type: "testcase.completed", execution_id: id, priority: "high", payload: { status: "error" } },
    ]);
    expect(await executions.recover()).toBe(0);
  } finally {
    await storage.close();
  }
});
