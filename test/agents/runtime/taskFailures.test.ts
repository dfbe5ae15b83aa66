import { expect, test } from "vitest";
import { startRuntime } from "#mcp-server/agents/runtime/startRuntime.ts";
import type { LabEvent } from "#mcp-server/agents/runtime/types.ts";
import type { AgentTask } from "#mcp-server/agents/store.ts";
import { runtimeOn } from "./lab.ts";
import { agent, fine, openServer } from "./taskLab.ts";

test("when one of two processes dies in its work, the other goes on, and does what it left", async () => {
  let isDead = false;
  const gone = () => new Promise<never>(() => {});
  const lab = openServer(async (use, signal) => {
    if (!isDead && use.name === "list_hosts") return gone();
    return fine(use, signal);
  });
  const { store } = lab.server;
  const mortal: typeof store = {
    ...store,
    addTask: (task) => (isDead ? gone() : store.addTask(task)),
    claimTask: (...args) => (isDead ? gone() : store.claimTask(...args)),
    updateTask: (...args) => (isDead ? gone() : store.updateTask(...args)),
  };
  lab.happens("test.normal");
  // It is never closed: a process that was killed closes nothing.
  startRuntime(runtimeOn({ ...lab.server, store: mortal }, [agent()], { clock: lab.clock }));
  await lab.until(() => lab.calls.length === 1);
  isDead = true;
  lab.happens("test.high");
  await lab.begin([agent({ max_parallel_tasks: 2 })]);
  await lab.until(() => lab.reported().length === 1);
  expect(lab.reported()).toEqual([2]);
  await lab.untilDone(2);
  expect(lab.reported()).toEqual([2, 1]);
  expect((await lab.tasks()).map(({ attempts }) => attempts)).toEqual([2, 1]);
});

test("work that another process has by now is given up, and not written", async () => {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const lab = openServer(async (use, signal) => {
    if (use.name === "list_hosts") await held;
    return fine(use, signal);
  });
  // Its renewals do not reach the server, so that its hold runs out.
  const store: typeof lab.server.store = {
    ...lab.server.store,
    updateTask: (id, patch, by) =>
      Object.keys(patch).length === 0
        ? Promise.reject(new Error("away"))
        : lab.server.store.updateTask(id, patch, by),
  };
  lab.happens("test.normal");
  await lab.begin([agent()], { store });
  await lab.until(() => lab.calls.length === 1);
  let taken: AgentTask | undefined;
  await lab.until(async () => {
    taken ??= await lab.server.store.claimTask("watcher", {
      holder: "another",
      ttl_ms: 600_000,
      max_parallel: 9,
    });
    return taken;
  });
  go();
  await lab.clock.advance(1_000);
  expect(lab.reported()).toEqual([]);
  expect((await lab.tasks())[0]).toMatchObject({ state: "running", finding: null, attempts: 2 });
});

test("work under way when a process ends is done after the next start", async () => {
  let hangs = true;
  const lab = openServer(async (use, signal) => {
    if (hangs && use.name === "list_hosts") await lab.clock.sleep(3_600_000, signal);
    return fine(use, signal);
  });
  lab.happens("test.normal");
  lab.happens("test.critical");
  const runtime = await lab.begin();
  await lab.until(() => lab.calls.length === 1);
  await runtime.close();
  expect((await lab.tasks()).map(({ state }) => state)).toEqual(["pending", "pending"]);
  hangs = false;
  await lab.begin();
  await lab.untilDone(2);
  expect(lab.reported()).toEqual([2, 1]);
});

test("a try that fails is repeated with a pause, and the third is the last", async () => {
  const lab = openServer(async () => {
    throw "DEVICE_ERROR: no lab";
  });
  const starts: number[] = [];
  const claimTask: typeof lab.server.store.claimTask = async (...args) => {
    const task = await lab.server.store.claimTask(...args);
    if (task) starts.push(lab.clock.now());
    return task;
  };
  lab.happens("test.normal");
  await lab.begin([agent()], { store: { ...lab.server.store, claimTask } });
  await lab.until(async () => (await lab.tasks())[0]?.state === "failed");
  expect((await lab.tasks())[0]).toMatchObject({
    attempts: 3,
    error: expect.stringContaining("DEVICE_ERROR: no lab"),
  });
  expect(starts).toHaveLength(3);
  const [first = 0, second = 0, third = 0] = starts;
  expect([second - first >= 5_000, third - second >= 10_000]).toEqual([true, true]);
});

test("a task that killed its process three times is given up", async () => {
  const lab = openServer();
  const id = lab.happens("test.normal");
  const event: LabEvent = {
    id,
    type: "test.normal",
    priority: "normal",
    source: "test",
    payload: {},
    at: "2026-03-01T00:00:00Z",
  };
  await lab.server.store.addTask({ agent: "watcher", key: "event:1", priority: "normal", event });
  for (let i = 0; i < 3; i++) {
    await lab.server.store.claimTask("watcher", {
      holder: `dead ${i}`,
      ttl_ms: 1_000,
      max_parallel: 9,
    });
    await lab.clock.advance(1_001);
  }
  await lab.begin();
  await lab.until(async () => (await lab.tasks())[0]?.state === "failed");
  expect((await lab.tasks())[0]).toMatchObject({ error: "It was left unfinished." });
  expect(lab.calls).toEqual([]);
});

test("a task that takes longer than its agent may is ended by name", async () => {
  const lab = openServer(async (_, signal) => {
    await lab.clock.sleep(3_600_000, signal);
    return {};
  });
  lab.happens("test.normal");
  await lab.begin([agent({ timeout_seconds: 30 })]);
  await lab.until(async () => (await lab.tasks())[0]?.state === "failed");
  expect((await lab.tasks())[0]).toMatchObject({
    attempts: 1,
    error: "TIMEOUT: It took longer than its 30 s.",
  });
});
