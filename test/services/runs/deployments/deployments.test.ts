import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { type DeploymentLab, openDeploymentLab } from "../../../fixtures/deploymentLab.ts";
import { engineFiles } from "../../../fixtures/engine.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { hasSandbox } from "../../../fixtures/sandbox.ts";

const minuteMs = 60_000;
/** A full minute of the clock at which the test begins. */
let begin = Date.UTC(2026, 0, 1);
const minute = (n: number) => new Date(begin + n * minuteMs).toISOString();

// Daemons and databases start here again and again, on machines that do other work too.
vi.setConfig({ testTimeout: 240_000 });

let dataDir: string;
let clock: ReturnType<typeof fakeClock>;
let lab: DeploymentLab;
let told = 0;
const open = async (at: number) => {
  clock = fakeClock(at);
  lab = await openDeploymentLab({ dataDir, clock, engine: await engineFiles() });
};
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "labwright-deployments-"));
  await open(begin);
});
afterAll(async () => {
  await lab.close();
  await rm(dataDir, { recursive: true, force: true });
});
beforeEach(async () => {
  begin = Math.ceil(clock.now() / minuteMs) * minuteMs;
  await clock.advance(begin - clock.now());
  told = (await lab.events()).length;
});
afterEach(async () => {
  const { deployments } = await lab.services.deployments.list({ maxTokens: 50_000 });
  for (const { name } of deployments) await lab.services.deployments.remove(name, true);
  await lab.services.devices.releaseClient(lab.anna.client);
  await until(async () => {
    await clock.advance(minuteMs);
    expect(lab.services.executions.running()).toBe(0);
  });
  expect(lab.faults).toEqual([]);
});

/** The database answers in its own time, the clock stands meanwhile. */
const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 20 });
const statuses = async (name?: string) => (await lab.history(name)).map(({ status }) => status);
const untilRuns = (expected: string[], name?: string) =>
  until(async () => expect(await statuses(name)).toEqual(expected));
/** The same while the clock goes on. */
const passingTime = (expected: string[], name?: string) =>
  until(async () => {
    await clock.advance(2_000);
    expect(await statuses(name)).toEqual(expected);
  });
/** Until the scheduler sleeps towards the next due time again, which is when the clock may go on. */
const untilNext = (next: string | undefined, name?: string) =>
  until(async () => expect((await lab.deployment(name))?.next_due).toBe(next));

it("every minute with max 2 starts exactly two, then is completed", async () => {
  expect(await lab.create({ max_executions: 2 })).toMatchObject({
    status: "active",
    device_id: "lab/a",
    next_due: minute(1),
  });
  for (const [passed, next] of [
    [1, minute(2)],
    [2, undefined],
  ] as const) {
    await clock.advance(minuteMs);
    await untilNext(next);
    await untilRuns(Array.from({ length: passed }, () => "passed"));
  }
  await clock.advance(5 * minuteMs);
  expect(await lab.history()).toMatchObject([
    { due_at: minute(1), status: "passed", execution_id: expect.any(String) },
    { due_at: minute(2), status: "passed", execution_id: expect.any(String) },
  ]);
  expect(await lab.deployment()).toMatchObject({ status: "completed", started: 2, last: "passed" });
});

it("a run is an execution of its own with an event, and gives its device back", async () => {
  await lab.create({ testcase: "failing", environment: "staging" });
  await clock.advance(minuteMs);
  await untilRuns(["failed"]);
  const [run] = await lab.history();
  const { execution } = await lab.services.executions.get(run?.execution_id ?? "");
  expect(execution).toMatchObject({
    name: "failing",
    status: "failed",
    device: "lab/a",
    triggered_by: "deployment:minutely",
    environment: "staging",
  });
  expect(run?.reason).toContain("VERIFICATION_FAILED");
  expect((await lab.events()).slice(told)).toMatchObject([
    {
      type: "deployment.execution_done",
      priority: "high",
      device_id: "lab/a",
      execution_id: execution.id,
      payload: { deployment: "minutely", status: "failed", due_at: minute(1) },
    },
  ]);
  expect(await lab.services.devices.leases()).toEqual([]);
});

it.runIf(hasSandbox)("a script runs with its arguments, and its word is the run's verdict", async () => {
  const scripts = join(dataDir, "scripts");
  await mkdir(scripts, { mode: 0o755 });
  const says = 'echo "{\\"labwright\\": {\\"status\\": \\"failed\\", \\"message\\": \\"not $1\\"}}"';
  await writeFile(join(scripts, "judge.sh"), says, { mode: 0o644 });
  await lab.create({ testcase: undefined, script: "judge", args: ["today"] });
  await clock.advance(minuteMs);
  await untilRuns(["failed"]);
  const [run] = await lab.history();
  expect(run?.reason).toBe("SCRIPT_FAILED: not today");
  const { execution } = await lab.services.executions.get(run?.execution_id ?? "");
  expect(execution).toMatchObject({ kind: "script", name: "judge.sh", triggered_by: "deployment:minutely" });
});

it("a due time that comes while the former run goes on is skipped, and the history says so", async () => {
  await lab.create({ testcase: "slow" });
  await clock.advance(minuteMs);
  await untilRuns(["running"]);
  await untilNext(minute(2));
  await clock.advance(minuteMs);
  await untilRuns(["running", "skipped"]);
  await untilNext(minute(3));
  await until(async () => expect((await lab.history())[0]).toHaveProperty("execution_id"));
  await lab.services.executions.cancel((await lab.history())[0]?.execution_id ?? "", "anna");
  await untilRuns(["cancelled", "skipped"]);
  expect((await lab.history())[1]?.reason).toContain(`OVERLAP: The run that was due at ${minute(1)}`);
});

it("waits for whoever holds the device, takes nothing by force, and runs when it is free", async () => {
  const { lease } = await lab.services.devices.takeControl("a", lab.anna, false);
  await lab.create({ max_executions: 1 });
  await clock.advance(minuteMs);
  await untilRuns(["queued"]);
  for (let asked = 0; asked < 3; asked++) await clock.advance(2_000);
  expect((await lab.services.devices.leases()).map(({ client }) => client)).toEqual(["anna's host"]);
  expect(await statuses()).toEqual(["queued"]);
  await lab.services.devices.releaseControl({ session_id: lease.session_id }, lab.anna);
  await passingTime(["passed"]);
});

it("a device that stays held ends the run with its holder's name", async () => {
  await lab.services.devices.takeControl("a", lab.anna, false);
  await lab.create({ max_executions: 1, timeout_ms: 4_000 });
  await clock.advance(minuteMs);
  await untilRuns(["queued"]);
  await passingTime(["error"]);
  const [run] = await lab.history();
  expect(run?.reason).toMatch(/^DEVICE_HELD: lab\/a is held by anna's host/);
  expect(run?.execution_id).toBeUndefined();
});

it("two deployments that are due at once run one after the other on one device, side by side on two", async () => {
  await lab.create({ name: "one", testcase: "slow", max_executions: 1 });
  await lab.create({ name: "two", testcase: "slow", max_executions: 1 });
  await lab.create({ name: "elsewhere", testcase: "slow", max_executions: 1, device_id: "b" });
  await clock.advance(minuteMs);
  await untilRuns(["running"], "one");
  await untilRuns(["running"], "elsewhere");
  await untilRuns(["queued"], "two");
  await passingTime(["passed"], "two");
  const [one, two, elsewhere] = await Promise.all(["one", "two", "elsewhere"].map(lab.history));
  expect(one?.[0]?.status).toBe("passed");
  expect(Date.parse(two?.[0]?.started_at ?? "")).toBeGreaterThanOrEqual(
    Date.parse(one?.[0]?.finished_at ?? ""),
  );
  expect(elsewhere?.[0]?.started_at).toBe(one?.[0]?.started_at);
});

it.each([
  ["skip", ["skipped", "passed"], "MISSED"],
  ["once", ["passed"], "MISSED"],
] as const)("what was missed while no daemon ran: %s", async (missed, expected, code) => {
  await lab.create({ missed });
  await lab.close();
  await open(Date.parse(minute(5)) + 1_000);
  await untilRuns([...expected]);
  const [first] = await lab.history();
  expect(first?.reason).toContain(code);
  expect(first?.reason).toContain(`from ${minute(1)} on`);
  await untilNext(minute(6));
});

it("paused, nothing starts and nothing is missed; what waited is cancelled, what runs goes on", async () => {
  await lab.create({ name: "running", testcase: "slow", device_id: "b" });
  await lab.create();
  await lab.services.devices.takeControl("a", lab.anna, false);
  await clock.advance(minuteMs);
  await untilRuns(["running"], "running");
  await untilRuns(["queued"]);
  expect(await lab.services.deployments.pause("minutely")).toMatchObject({ status: "paused", cancelled: 1 });
  const [{ execution_id } = {}] = await lab.history("running");
  expect(await lab.services.deployments.pause("running")).toMatchObject({ still_running: execution_id });
  await passingTime(["passed"], "running");
  const { next_due: next = "" } = await lab.services.deployments.resume("minutely");
  expect(Date.parse(next) - clock.now()).toBeLessThanOrEqual(minuteMs);
  expect(Date.parse(next)).toBeGreaterThan(Date.parse(minute(2)));
  expect(await statuses()).toEqual(["cancelled"]);
});

it("a daemon that ends stops what runs and keeps what waits, and the next one starts that", async () => {
  await lab.create({ name: "running", testcase: "slow", device_id: "b", max_executions: 1 });
  await lab.create({ max_executions: 1 });
  await lab.services.devices.takeControl("a", lab.anna, false);
  await clock.advance(minuteMs);
  await untilRuns(["running"], "running");
  await untilRuns(["queued"]);
  await lab.close();
  await open(Date.parse(minute(10)));
  await untilRuns(["cancelled"], "running");
  await untilRuns(["passed"]);
});

it("a deployment that is deleted takes its waiting run along", async () => {
  await lab.create();
  await lab.services.devices.takeControl("a", lab.anna, false);
  await clock.advance(minuteMs);
  await untilRuns(["queued"]);
  expect(await lab.services.deployments.remove("minutely", true)).toMatchObject({ runs: 1 });
  expect(await lab.services.deployments.pending()).toBe(0);
  await lab.services.devices.releaseClient(lab.anna.client);
  await clock.advance(5 * minuteMs);
  expect((await lab.events()).slice(told)).toEqual([]);
});

it("a change arms the new schedule at once, from the next run on", async () => {
  await lab.create({ cron: "0 3 * * *", timezone: "Europe/Paris" });
  const changes = { cron: "* * * * *", timezone: null };
  expect(await lab.services.deployments.update("minutely", changes)).toMatchObject({ next_due: minute(1) });
  await clock.advance(minuteMs);
  await untilRuns(["passed"]);
  await expect(lab.services.deployments.update("minutely", { max_executions: 1 })).rejects.toThrow(
    "1 were started already",
  );
});
