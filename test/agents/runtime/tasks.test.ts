import type { ToolCall, ToolResult } from "@labwright/agent-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { agentSchema } from "#agent-client/agents/agent.ts";
import { startRuntime } from "#mcp-server/agents/runtime/startRuntime.ts";
import type { LabEvent, RuntimeDeps } from "#mcp-server/agents/runtime/types.ts";
import type { AgentTask } from "#mcp-server/agents/store.ts";
import type { StoredEvent } from "#mcp-server/services/index.ts";
import { memoryTasks } from "../../fixtures/memoryStore/memoryTasks.ts";
import { agentClock, type RuntimeServer, runtimeOn } from "./lab.ts";

const agent = (more: object = {}) =>
  agentSchema.parse({
    name: "watcher",
    nickname: "W",
    description: "Watches.",
    mode: "autonomous",
    system_prompt: "Watch.",
    available_skills: ["health-check"],
    triggers: (["critical", "high", "normal"] as const).map((priority) => ({
      event: `test.${priority}`,
      priority,
      skill: "health-check",
    })),
    config: more,
  });

type Script = (use: ToolCall, signal: AbortSignal) => Promise<Record<string, unknown>>;
const fine: Script = async ({ name }) => (name === "list_hosts" ? { hosts: [] } : { event_id: 1 });

/** A server with the store in memory, whose tools and events are the test's. */
function openServer(clock: RuntimeDeps["clock"], script: Script = fine) {
  const events: StoredEvent[] = [];
  const calls: ToolCall[] = [];
  const cursors = new Map<string, number>();
  let tell: (event: StoredEvent) => void = () => {};
  const server: RuntimeServer = {
    store: memoryTasks(clock),
    toolbox: {
      specs: async () => [],
      async call(use, { signal }): Promise<ToolResult> {
        calls.push(use);
        try {
          return { parts: [], isError: false, structured: await script(use, signal) };
        } catch (error) {
          if (signal.aborted) throw error;
          return { parts: [{ type: "text", text: String(error) }], isError: true };
        }
      },
    },
    events: {
      cursor: async (consumer) => cursors.get(consumer) ?? 0,
      done: async (consumer, id) => {
        cursors.set(consumer, id);
        return id;
      },
      latestId: async () => events.length,
      read: async ({ after, limit }) => events.slice(after, after + limit),
      async subscribe(listener) {
        tell = listener;
        return () => {};
      },
    },
  };
  return {
    server,
    calls,
    cursors,
    happens(type: string) {
      const id = events.length + 1;
      const at = new Date(clock.now()).toISOString();
      const event: StoredEvent = { id, type, priority: "normal", source: "test", payload: {}, at };
      events.push(event);
      tell(event);
      return id;
    },
    tasks: async (): Promise<AgentTask[]> => (await server.store.tasks({ limit: 1_000 })).toReversed(),
    /** The events that were reported, in order. */
    reported: () =>
      calls.filter(({ name }) => name === "publish_event").map(({ input }) => Object(input.payload).event_id),
  };
}

async function begin(clock: ReturnType<typeof agentClock>, deps: RuntimeDeps) {
  const runtime = startRuntime(deps);
  onTestFinished(() => runtime.close());
  await clock.advance(200);
  return runtime;
}

/** Moves the clock until it holds. */
const until = (clock: ReturnType<typeof agentClock>, holds: () => Promise<unknown> | unknown, stepMs = 500) =>
  vi.waitFor(
    async () => {
      await clock.advance(stepMs);
      expect(await holds()).toBeTruthy();
    },
    { timeout: 20_000, interval: 1 },
  );
const allDone = async (given: { tasks(): Promise<AgentTask[]> }, count: number) => {
  const tasks = await given.tasks();
  return tasks.length === count && tasks.every(({ state }) => state === "done");
};

test("ten that come at once are done by their urgency, then by their age", async () => {
  const clock = agentClock();
  const lab = openServer(clock);
  for (const type of [
    "normal",
    "high",
    "normal",
    "critical",
    "normal",
    "high",
    "critical",
    "normal",
    "critical",
    "high",
  ])
    lab.happens(`test.${type}`);
  await begin(clock, runtimeOn(lab.server, [agent()], { clock }));
  await until(clock, () => allDone(lab, 10));
  expect(lab.reported()).toEqual([4, 7, 9, 2, 6, 10, 1, 3, 5, 8]);
});

test("an urgent one that comes while another is worked on is next", async () => {
  const clock = agentClock();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const lab = openServer(clock, async (use, signal) => {
    if (use.name === "list_hosts" && lab.reported().length === 0) await held;
    return fine(use, signal);
  });
  await begin(clock, runtimeOn(lab.server, [agent()], { clock }));
  lab.happens("test.normal");
  await until(clock, () => lab.calls.length === 1);
  lab.happens("test.normal");
  lab.happens("test.critical");
  await until(clock, async () => (await lab.tasks()).length === 3);
  release();
  await until(clock, () => allDone(lab, 3));
  expect(lab.reported()).toEqual([1, 3, 2]);
});

/** A server whose calls take so many milliseconds, and how many of them were open at once at most. */
function counting(clock: ReturnType<typeof agentClock>, ms: number) {
  let open = 0;
  let most = 0;
  const lab = openServer(clock, async (use, signal) => {
    open += 1;
    most = Math.max(most, open);
    await clock.sleep(ms, signal);
    open -= 1;
    return fine(use, signal);
  });
  return { lab, most: () => most };
}

test("no more run at once than the agent may have", async () => {
  const clock = agentClock();
  const { lab, most } = counting(clock, 50);
  for (let i = 0; i < 9; i++) lab.happens("test.normal");
  await begin(clock, runtimeOn(lab.server, [agent({ max_parallel_tasks: 3 })], { clock }));
  await until(clock, () => allDone(lab, 9), 20);
  expect(most()).toBe(3);
});

test("two processes on one database share the work: each task once, and no more at once than the agent may", async () => {
  const clock = agentClock();
  const { lab, most } = counting(clock, 2_000);
  for (let i = 0; i < 12; i++) lab.happens("test.normal");
  const both = [1, 2].map(() => runtimeOn(lab.server, [agent({ max_parallel_tasks: 3 })], { clock }));
  for (const deps of both) await begin(clock, deps);
  await until(clock, () => allDone(lab, 12));
  expect(lab.reported().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
  expect(most()).toBe(3);
  const done = both.flatMap(({ lines }) => lines.filter(({ text }) => text.endsWith("is done.")));
  expect(done).toHaveLength(12);
});

test("when one of two processes dies in its work, the other goes on, and does what it left", async () => {
  const clock = agentClock();
  let isDead = false;
  const gone = () => new Promise<never>(() => {});
  const lab = openServer(clock, async (use, signal) => {
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
  startRuntime(runtimeOn({ ...lab.server, store: mortal }, [agent()], { clock }));
  await until(clock, () => lab.calls.length === 1);
  isDead = true;
  lab.happens("test.high");
  await begin(clock, runtimeOn(lab.server, [agent({ max_parallel_tasks: 2 })], { clock }));
  await until(clock, () => lab.reported().length === 1);
  expect(lab.reported()).toEqual([2]);
  await until(clock, () => allDone(lab, 2));
  expect(lab.reported()).toEqual([2, 1]);
  expect((await lab.tasks()).map(({ attempts }) => attempts)).toEqual([2, 1]);
});

test("work that another process has by now is given up, and not written", async () => {
  const clock = agentClock();
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const lab = openServer(clock, async (use, signal) => {
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
  await begin(clock, runtimeOn({ ...lab.server, store }, [agent()], { clock }));
  await until(clock, () => lab.calls.length === 1);
  let taken: AgentTask | undefined;
  await until(clock, async () => {
    taken ??= await lab.server.store.claimTask("watcher", {
      holder: "another",
      ttl_ms: 600_000,
      max_parallel: 9,
    });
    return taken;
  });
  go();
  await clock.advance(1_000);
  expect(lab.reported()).toEqual([]);
  expect((await lab.tasks())[0]).toMatchObject({ state: "running", finding: null, attempts: 2 });
});

test("work under way when a process ends is done after the next start", async () => {
  const clock = agentClock();
  let hangs = true;
  const lab = openServer(clock, async (use, signal) => {
    if (hangs && use.name === "list_hosts") await clock.sleep(3_600_000, signal);
    return fine(use, signal);
  });
  lab.happens("test.normal");
  lab.happens("test.critical");
  const runtime = await begin(clock, runtimeOn(lab.server, [agent()], { clock }));
  await until(clock, () => lab.calls.length === 1);
  await runtime.close();
  expect((await lab.tasks()).map(({ state }) => state)).toEqual(["pending", "pending"]);
  hangs = false;
  await begin(clock, runtimeOn(lab.server, [agent()], { clock }));
  await until(clock, () => allDone(lab, 2));
  expect(lab.reported()).toEqual([2, 1]);
});

test("an event whose task was stored and whose cursor was not moved makes no second task", async () => {
  const clock = agentClock();
  const lab = openServer(clock);
  const done = vi.fn(lab.server.events.done).mockRejectedValueOnce(new Error("the server went away"));
  const server = { ...lab.server, events: { ...lab.server.events, done } };
  lab.happens("test.normal");
  lab.happens("test.high");
  await begin(clock, runtimeOn(server, [agent()], { clock }));
  await until(clock, () => allDone(lab, 2));
  await until(clock, () => lab.cursors.get("agent:watcher") === 2);
  expect(done.mock.calls.map(([, id]) => id)).toEqual([2, 2]);
  expect((await lab.tasks()).map(({ key }) => key)).toEqual(["event:1", "event:2"]);
  expect(lab.reported()).toHaveLength(2);
});

test("agents that are new to a lab do not answer what happened long before", async () => {
  const clock = agentClock();
  const lab = openServer(clock);
  lab.happens("test.normal");
  await clock.advance(2 * 3_600_000);
  lab.happens("test.high");
  await begin(clock, runtimeOn(lab.server, [agent()], { clock }));
  await until(clock, () => allDone(lab, 1));
  expect((await lab.tasks()).map(({ key }) => key)).toEqual(["event:2"]);
  expect(lab.cursors.get("agent:watcher")).toBe(2);
});

test("the cursor moves behind an event only when its task is stored", async () => {
  const clock = agentClock();
  const lab = openServer(clock);
  const addTask = vi.fn(lab.server.store.addTask).mockRejectedValueOnce(new Error("the server went away"));
  lab.happens("test.normal");
  await begin(
    clock,
    runtimeOn({ ...lab.server, store: { ...lab.server.store, addTask } }, [agent()], { clock }),
  );
  await until(clock, () => allDone(lab, 1));
  expect(addTask).toHaveBeenCalledTimes(2);
  expect(lab.cursors.get("agent:watcher")).toBe(1);
});

test("a try that fails is repeated with a pause, and the third is the last", async () => {
  const clock = agentClock();
  const lab = openServer(clock, async () => {
    throw "DEVICE_ERROR: no lab";
  });
  const starts: number[] = [];
  const claimTask: typeof lab.server.store.claimTask = async (...args) => {
    const task = await lab.server.store.claimTask(...args);
    if (task) starts.push(clock.now());
    return task;
  };
  lab.happens("test.normal");
  await begin(
    clock,
    runtimeOn({ ...lab.server, store: { ...lab.server.store, claimTask } }, [agent()], { clock }),
  );
  await until(clock, async () => (await lab.tasks())[0]?.state === "failed");
  expect((await lab.tasks())[0]).toMatchObject({
    attempts: 3,
    error: expect.stringContaining("DEVICE_ERROR: no lab"),
  });
  expect(starts).toHaveLength(3);
  const [first = 0, second = 0, third = 0] = starts;
  expect([second - first >= 5_000, third - second >= 10_000]).toEqual([true, true]);
});

test("a task that killed its process three times is given up", async () => {
  const clock = agentClock();
  const lab = openServer(clock);
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
    await clock.advance(1_001);
  }
  await begin(clock, runtimeOn(lab.server, [agent()], { clock }));
  await until(clock, async () => (await lab.tasks())[0]?.state === "failed");
  expect((await lab.tasks())[0]).toMatchObject({ error: "It was left unfinished." });
  expect(lab.calls).toEqual([]);
});

test("a task that takes longer than its agent may is ended by name", async () => {
  const clock = agentClock();
  const lab = openServer(clock, async (_, signal) => {
    await clock.sleep(3_600_000, signal);
    return {};
  });
  lab.happens("test.normal");
  await begin(clock, runtimeOn(lab.server, [agent({ timeout_seconds: 30 })], { clock }));
  await until(clock, async () => (await lab.tasks())[0]?.state === "failed");
  expect((await lab.tasks())[0]).toMatchObject({
    attempts: 1,
    error: "TIMEOUT: It took longer than its 30 s.",
  });
});

test("an agent that is not enabled, or that people talk to, takes nothing", async () => {
  const clock = agentClock();
  const lab = openServer(clock);
  lab.happens("test.normal");
  const claimTask = vi.spyOn(lab.server.store, "claimTask");
  await begin(
    clock,
    runtimeOn(lab.server, [agent({ enabled: false }), { ...agent(), mode: "interactive" }], { clock }),
  );
  await clock.advance(60_000);
  expect(await lab.tasks()).toEqual([]);
  expect(claimTask).not.toHaveBeenCalled();
});

test("events that concern no one make no task, and the cursor passes them", async () => {
  const clock = agentClock();
  const lab = openServer(clock);
  for (let i = 0; i < 150; i++) lab.happens("other.thing");
  await begin(clock, runtimeOn(lab.server, [agent()], { clock }));
  await until(clock, () => lab.cursors.get("agent:watcher") === 150);
  expect(await lab.tasks()).toEqual([]);
});

test("a schedule that cannot be kept is reported and stops nothing else", async () => {
  const clock = agentClock();
  const lab = openServer(clock);
  const odd = agent();
  const triggers = [
    ...odd.triggers,
    {
      event: "schedule.odd",
      priority: "normal",
      skill: "health-check",
      schedule: "61 * * * *",
      webhook: false,
    } as const,
  ];
  const deps = runtimeOn(lab.server, [{ ...odd, triggers }], { clock });
  lab.happens("test.normal");
  await begin(clock, deps);
  await until(clock, () => allDone(lab, 1));
  expect(deps.lines).toContainEqual(
    expect.objectContaining({ level: "error", text: expect.stringContaining("schedule.odd") }),
  );
});
