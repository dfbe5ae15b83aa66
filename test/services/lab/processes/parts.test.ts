import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  createProcesses,
  type ProcessDependencies,
} from "../../../../mcp-server/src/services/lab/processes/index.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-parts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const clock = fakeClock();
await clock.advance(5_000);
const serving = {
  version: "1.2.3",
  build: "abc",
  host: "127.0.0.1",
  port: 7333,
  tls: false,
  clients: () => ({ bridges: 2, sessions: 0 }),
};
const parts = (given: Partial<ProcessDependencies> = {}) =>
  createProcesses({
    logFolder: folder,
    database: { engine: "pglite", bytes: async () => 7_340_032 },
    devices: simulatedDevices({ names: ["box", "tv"] }),
    executions: { running: () => 0 },
    secrets: testSecrets(),
    clock,
    serving: () => serving,
    ...given,
  }).list();

test("every part says its state, with facts that are so", async () => {
  writeFileSync(join(folder, "daemon.log"), "x".repeat(1_048_576));
  expect(await parts({ executions: { running: () => 3 } })).toEqual([
    {
      name: "daemon",
      state: "running",
      since: new Date(performance.timeOrigin).toISOString(),
      facts: {
        pid: process.pid,
        version: "1.2.3",
        build: "abc",
        uptime_s: 5,
        memory_mb: expect.closeTo(process.memoryUsage.rss() / 1_048_576, -2),
      },
    },
    { name: "endpoint", state: "running", facts: { host: "127.0.0.1", port: 7333, tls: false } },
    { name: "clients", state: "running", facts: { bridges: 2, http_sessions: 0 } },
    { name: "database", state: "running", facts: { engine: "pglite", size_mb: 7 } },
    { name: "devices", state: "idle", facts: { open: 0, configured: 2, leases: 0 } },
    { name: "executions", state: "running", facts: { running: 3 } },
    { name: "log", state: "running", facts: { file: "logs/daemon.log", size_mb: 1 } },
  ]);
});

test("a part that fails, or never answers, says so and takes no other with it", async () => {
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const listed = parts({
    database: {
      engine: "postgresql",
      bytes: () => Promise.reject(new Error("no postgres://me:pw1234@db\nat x")),
    },
    devices: Object.assign(simulatedDevices({ names: [] }), {
      leases: () => {
        asked();
        return new Promise(() => {});
      },
    }),
    executions: {
      running: () => {
        throw new Error("");
      },
    },
  });
  await isAsked;
  await clock.advance(5_000);
  const states = Object.fromEntries((await listed).map(({ name, state, reason }) => [name, [state, reason]]));
  expect(states).toMatchObject({
    daemon: ["running", undefined],
    database: ["failed", "no postgres://me:[redacted]@db"],
    devices: ["failed", "no answer within 5000 ms"],
    executions: ["failed", "Error"],
    log: ["running", undefined],
  });
  expect(clock.waiting(), "no timer is left").toBe(0);
});

test("a process that serves nobody has no endpoint and no clients, and says why", async () => {
  const listed = await parts({ serving: () => undefined, logFolder: join(folder, "none") });
  const absent = listed.filter(({ state }) => state === "absent");
  expect(absent.map(({ name }) => name)).toEqual(["endpoint", "clients", "log"]);
  for (const { reason } of absent) expect(reason).toBeTruthy();
});
