import { AgentError, systemClock, type TaskRequest, type TaskResult } from "@labwright/agent-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { createTasks, type Tasks, type TasksDeps } from "#mcp-server/agents/tasks.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { memoryTasks } from "../../fixtures/memoryStore/memoryTasks.ts";
import { type ApiFixture, ownerToken, startFixture } from "./apiFixture.ts";

const path = "/api/v1/agent/task";
const resultOf = (task: string, more: Partial<TaskResult> = {}): TaskResult => ({
  task,
  success: true,
  response: `Did ${task}.`,
  executed_steps: [],
  verification: {
    task_complete: true,
    reasoning: "A check held.",
    remaining_steps: [],
    should_replan: false,
  },
  execution_time_ms: 5,
  replans: 0,
  ...more,
});

let store: ReturnType<typeof memoryTasks>;
let runs: TaskRequest[];
let run: (request: TaskRequest) => Promise<TaskResult>;
let tasks: Tasks;
let api: ApiFixture;
const open = (given: Partial<TasksDeps> = {}) =>
  createTasks({
    ...{ store, clock: systemClock, holder: `test/${Math.random()}`, log: () => undefined },
    ...given,
    runner: {
      run(request) {
        runs.push(request);
        return run(request);
      },
    },
  });

beforeEach(async () => {
  store = memoryTasks(systemClock);
  runs = [];
  run = async ({ task }) => resultOf(task);
  tasks = open();
  api = await startFixture({ tasks });
});
afterEach(async () => {
  await tasks.close();
  await api.close();
});

const forever = ({ signal }: TaskRequest) =>
  new Promise<TaskResult>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const cancelled = { state: "cancelled", error: "CANCELLED: The task was cancelled." };
const idOf = (body: unknown) => z.looseObject({ task_id: z.string() }).parse(body).task_id;
const stateOf = async (id: string) => (await api.call("GET", `${path}/${id}`)).body;

describe("POST /api/v1/agent/task", () => {
  it("answers with the result when the task has ended, and keeps it", async () => {
    const { status, body } = await api.call("POST", path, {
      body: { task: "sign in", context: { user: "ann" } },
    });
    expect([status, body]).toMatchObject([
      200,
      {
        success: true,
        result: { task_description: "sign in", response: "Did sign in.", execution_time: 0.005, replans: 0 },
      },
    ]);
    expect(runs).toMatchObject([{ task: "sign in", context: { user: "ann" } }]);
    const { result } = z.looseObject({ result: z.unknown() }).parse(body);
    expect(await stateOf(idOf(body))).toEqual({ task_id: idOf(body), state: "done", result });
  });

  it("reports the plan and how far it is while it runs, and nothing of it then", async () => {
    const plan = { task: "x", version: 1, feasible: true, analysis: "", steps: [] };
    const progress = { current_step: 0, total_steps: 0, status: "executing", percent: 0 } as const;
    let finish = () => {};
    run = async ({ task, emit }) => {
      emit?.({ type: "plan", plan });
      emit?.({ type: "progress", ...progress });
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return resultOf(task);
    };
    const { id, ended } = await tasks.start("local", { task: "x" });
    await expect.poll(() => tasks.progressOf(id)).toMatchObject({ plan, progress });
    finish();
    await ended;
    await expect.poll(() => tasks.progressOf(id)).toBeUndefined();
  });

  it("takes up to 1 MB of context", async () => {
    const context = { text: "y".repeat(1_048_000) };
    expect((await api.call("POST", path, { body: { task: "x", context } })).status).toBe(200);
    expect(runs).toMatchObject([{ context }]);
  });

  it("keeps a result that is too long for its row without what its steps returned", async () => {
    const step: TaskResult["executed_steps"][number] = {
      ...{ index: 1, version: 1, objective: "look", retry_count: 0, completed_at: "", execution_time_ms: 1 },
      ...{ status: "completed", tool_outputs: { look: "é".repeat(200_000) } },
    };
    run = async ({ task }) => resultOf(task, { executed_steps: [step] });
    const { body } = await api.call("POST", path, { body: { task: "x" } });
    expect(JSON.stringify(body).length).toBeGreaterThan(200_000);
    expect(await stateOf(idOf(body))).toMatchObject({
      ...{ state: "done", result: { success: true, executed_steps: [{ step_index: 1, tool_outputs: {} }] } },
    });
  });

  it("answers with the result also when it cannot be stored", async () => {
    await tasks.close();
    const updateTask = () => Promise.reject(new Error("the database is away"));
    tasks = open({ store: { ...store, updateTask } });
    const other = await startFixture({ tasks });
    expect(await other.call("POST", path, { body: { task: "x" } })).toMatchObject({
      status: 200,
      body: { success: true },
    });
  });

  it("answers at once with wait=false, and the task goes on without its caller", async () => {
    let finish: (() => void) | undefined;
    run = ({ task }) => new Promise((resolve) => (finish = () => resolve(resultOf(task))));
    const { status, body } = await api.call("POST", `${path}?wait=false`, { body: { task: "long" } });
    expect(status).toBe(202);
    const id = idOf(body);
    expect(await stateOf(id)).toMatchObject({ state: "running" });
    finish?.();
    await expect.poll(() => stateOf(id)).toMatchObject({ state: "done" });
  });

  it("gives why there was no plan with its code and status", async () => {
    run = () => Promise.reject(new AgentError("INVALID_INPUT", "It names no app.", "Name one."));
    const { status, body } = await api.call("POST", path, { body: { task: "x" } });
    expect([status, body]).toMatchObject([
      400,
      { success: false, error: { code: "INVALID_INPUT", message: "It names no app." } },
    ]);
  });

  it("says success: false of a task that was not proved", async () => {
    run = async ({ task }) =>
      resultOf(task, { success: false, final_error: { code: "NOTHING_VERIFIED", message: "No check." } });
    const { body } = await api.call("POST", path, { body: { task: "look" } });
    expect(body).toMatchObject({
      success: false,
      result: { final_error: "NOTHING_VERIFIED: No check." },
      error: {
        ...{ code: "NOTHING_VERIFIED", message: "No check.", http_status: 500, details: {} },
        ...{ trace_id: expect.stringMatching(/^[\da-f]{32}$/), timestamp: expect.any(String) },
      },
    });
    expect(await stateOf(idOf(body))).toMatchObject({
      state: "failed",
      error: "NOTHING_VERIFIED: No check.",
    });
  });

  it.each([
    ["no task", {}],
    ["an empty task", { task: " " }],
    ["1,001 characters", { task: "x".repeat(1_001) }],
    ["a script", { task: "hi <ScRiPt>alert(1)</script>" }],
    ["more than 1 MB of context", { task: "x", context: { text: "y".repeat(1_048_576) } }],
    ["a context that is no object", { task: "x", context: "y" }],
    ["an unknown key", { task: "x", prompt: "y" }],
    ["eleven devices", { task: "x", device_ids: Array(11).fill("d") }],
  ])("refuses %s, and runs nothing", async (_, body) => {
    expect(await api.call("POST", path, { body })).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_INPUT" } },
    });
    expect(runs).toEqual([]);
  });

  it("lets nobody in without credentials", async () => {
    expect((await api.call("POST", path, { body: { task: "x" }, token: null })).status).toBe(401);
    expect((await api.call("GET", `${path}/1`, { token: "wrong" })).status).toBe(401);
  });
});

describe("tasks", () => {
  it("run ten at a time; the eleventh waits for its turn", async () => {
    const ends: (() => void)[] = [];
    run = ({ task }) => new Promise((resolve) => ends.push(() => resolve(resultOf(task))));
    const ids: string[] = [];
    for (let at = 0; at < 11; at++)
      ids.push(idOf((await api.call("POST", `${path}?wait=false`, { body: { task: `t${at}` } })).body));
    expect(runs).toHaveLength(10);
    expect(await stateOf(ids[10] ?? "")).toMatchObject({ state: "pending" });
    ends[0]?.();
    await expect.poll(() => runs.length).toBe(11);
    for (const end of ends) end();
    await expect.poll(() => stateOf(ids[10] ?? "")).toMatchObject({ state: "done" });
  });

  it("are stopped by DELETE, and are none of another owner's business", async () => {
    run = forever;
    const id = idOf((await api.call("POST", `${path}?wait=false`, { body: { task: "x" } })).body);
    await expect(tasks.get("someone", id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(tasks.cancel("someone", id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await api.call("DELETE", `${path}/${id}`)).body).toEqual({ cancelled: true });
    await expect.poll(() => stateOf(id)).toMatchObject(cancelled);
    expect((await api.call("DELETE", `${path}/${id}`)).body).toEqual({ cancelled: false });
    expect((await api.call("GET", `${path}/nowhere`)).status).toBe(404);
  });

  it("that wait for their turn are stopped by DELETE too, and never run", async () => {
    run = forever;
    for (let at = 0; at < 10; at++) await tasks.start("local", { task: `t${at}` });
    const { id, ended } = await tasks.start("local", { task: "eleventh" });
    expect(await stateOf(id)).toMatchObject({ state: "pending" });
    expect((await api.call("DELETE", `${path}/${id}`)).body).toEqual({ cancelled: true });
    await expect(ended).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await stateOf(id)).toMatchObject(cancelled);
    await tasks.close();
    tasks = open();
    const { ended: next } = await tasks.start("local", { task: "next" });
    await tasks.close();
    await expect(next).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect(runs.map(({ task }) => task)).toEqual([...Array(10).keys()].map((at) => `t${at}`).concat("next"));
  });

  it("are found by their id, however many came after them", async () => {
    const { body } = await api.call("POST", path, { body: { task: "first" } });
    await tasks.close();
    const event = { type: "task.asked", owner: "local", order: { task: "later" } };
    for (let at = 0; at < 1_000; at++)
      await store.addTask({ agent: "task", key: `later ${at}`, priority: "normal", event });
    expect(await stateOf(idOf(body))).toMatchObject({ state: "done" });
  });

  it("end INTERRUPTED where they ran when the server shut down, and wait on where they did not run yet", async () => {
    run = forever;
    const running = await Promise.all(
      [...Array(10).keys()].map((at) => tasks.start("local", { task: `t${at}` })),
    );
    const waiting = await tasks.start("local", { task: "waiting" });
    await tasks.close();
    for (const { id, ended } of running) {
      await expect(ended).rejects.toMatchObject({ code: "INTERRUPTED" });
      expect(await stateOf(id)).toMatchObject({
        state: "failed",
        error: expect.stringMatching(/^INTERRUPTED: /),
      });
    }
    await expect(waiting.ended).rejects.toMatchObject({ code: "SERVER_UNREACHABLE" });
    expect(await stateOf(waiting.id)).toMatchObject({ state: "pending" });
  });

  it("that were under way when the server ended are not run again, and end by name", async () => {
    await tasks.close();
    await store.addTask({
      agent: "task",
      key: "left",
      priority: "normal",
      event: { type: "task.asked", owner: "local", order: { task: "pay" } },
    });
    await store.claimTask("task", { holder: "a dead process", ttl_ms: 0, max_parallel: 10 });
    tasks = open();
    await expect
      .poll(() => stateOf("left"))
      .toMatchObject({ state: "failed", error: expect.stringMatching(/^INTERRUPTED: The server ended/) });
    expect(runs).toEqual([]);
  });

  it("that waited for their turn when the server ended run after the next start", async () => {
    await tasks.close();
    await store.addTask({
      agent: "task",
      key: "later",
      priority: "normal",
      event: { type: "task.asked", owner: "local", order: { task: "later" } },
    });
    tasks = open();
    await expect.poll(() => runs.map(({ task }) => task)).toEqual(["later"]);
    await expect.poll(async () => (await tasks.get("local", "later")).state).toBe("done");
  });
});

describe("a task that another server on the database takes", () => {
  /** Takes no task itself. */
  const busy = () => ({ ...store, claimTask: async () => undefined });
  let other: Tasks;
  let clock: ReturnType<typeof fakeClock>;
  beforeEach(async () => {
    await tasks.close();
    await api.close();
    clock = fakeClock();
    tasks = open({ store: busy(), clock });
    api = await startFixture({ tasks });
  });
  afterEach(() => other.close());
  it("answers where it was asked, with its result or why there is none", async () => {
    run = async ({ task }) => {
      if (task === "bad") throw new AgentError("INVALID_INPUT", "It names no app.", "Name one.");
      return resultOf(task);
    };
    const asked = ["good", "bad"].map((task) => api.call("POST", path, { body: { task } }));
    await expect.poll(async () => (await store.tasks({ agent: "task", limit: 9 })).length).toBe(2);
    other = open();
    await expect.poll(() => store.hasOpenTask("task")).toBe(false);
    await clock.advance(2_000);
    const [good, bad] = await Promise.all(asked);
    expect(good).toMatchObject({ status: 200, body: { success: true, result: { response: "Did good." } } });
    expect(bad).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_INPUT", message: "It names no app." } },
    });
  });

  it("is stopped there by DELETE here", async () => {
    run = forever;
    const { id, ended } = await tasks.start("local", { task: "x" });
    other = open({ clock });
    await expect.poll(() => runs.length).toBe(1);
    expect((await api.call("DELETE", `${path}/${id}`)).body).toEqual({ cancelled: true });
    await expect(ended).rejects.toMatchObject({ code: "CANCELLED" });
    await clock.advance(5_000);
    expect(runs[0]?.signal.aborted).toBe(true);
    expect(await stateOf(id)).toMatchObject(cancelled);
  });
});

describe("the WebSocket /api/v1/agent/stream", () => {
  const heard: { id?: string; type: string; payload: unknown }[] = [];
  let socket: WebSocket;
  beforeEach(async () => {
    heard.length = 0;
    socket = new WebSocket(`${api.url.replace("http", "ws")}/api/v1/agent/stream`, {
      headers: { authorization: `Bearer ${ownerToken}` },
    });
    socket.on("message", (data) => heard.push(JSON.parse(String(data))));
    await new Promise((resolve) => socket.once("open", resolve));
  });
  afterEach(() => socket.terminate());
  const ask = (message: unknown) =>
    socket.send(typeof message === "string" ? message : JSON.stringify(message));

  it("has the messages of seed 002, each with the id of its request", async () => {
    run = async ({ task, emit }) => {
      emit?.({ type: "token", token: "Go", step_index: 1, phase: "execution" });
      emit?.({ type: "progress", current_step: 1, total_steps: 2, status: "executing", percent: 50 });
      return resultOf(task);
    };
    ask({ id: "msg-123", type: "task_request", payload: { task: "sign in", stream_responses: true } });
    await expect
      .poll(() => heard)
      .toEqual([
        { id: "msg-123", type: "stream_token", payload: { token: "Go", step_index: 1, phase: "execution" } },
        {
          id: "msg-123",
          type: "progress_update",
          payload: { current_step: 1, total_steps: 2, status: "executing", percent: 50 },
        },
        {
          id: "msg-123",
          type: "result",
          payload: expect.objectContaining({ success: true, response: "Did sign in." }),
        },
      ]);
    expect(runs[0]).toMatchObject({ stream: true });
  });

  it.each([
    ["what is no JSON", "{", undefined],
    ["another type", { id: "a", type: "result", payload: { task: "x" } }, "a"],
    ["a task that is empty", { id: "b", type: "task_request", payload: { task: "" } }, "b"],
  ])("answers %s with an error, and goes on", async (_, message, id) => {
    ask(message);
    await expect.poll(() => heard).toMatchObject([{ type: "error", payload: { code: "INVALID_INPUT" } }]);
    expect(heard[0]?.id).toBe(id);
    ask({ id: "next", type: "task_request", payload: { task: "x" } });
    await expect.poll(() => heard.at(-1)).toMatchObject({ id: "next", type: "result" });
  });

  it("gives a failure its code", async () => {
    run = () => Promise.reject(new AgentError("MODEL_OVERLOADED", "Too many.", "Later."));
    ask({ id: "c", type: "task_request", payload: { task: "x" } });
    await expect
      .poll(() => heard)
      .toMatchObject([{ id: "c", type: "error", payload: { code: "MODEL_OVERLOADED" } }]);
  });

  it("refuses a connection without the token", async () => {
    const other = new WebSocket(`${api.url.replace("http", "ws")}/api/v1/agent/stream`);
    const status = await new Promise((resolve) => {
      other.once("unexpected-response", (_, response) => resolve(response.statusCode));
      other.once("error", () => undefined);
    });
    expect(status).toBe(401);
  });
});
