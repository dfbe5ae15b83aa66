import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { systemClock } from "#agent-client/clock.ts";
import { taskErrors } from "#agent-client/errors.ts";
import { createTaskRunner } from "#agent-client/planExecute/runner.ts";
import type { Clock, ToolResult } from "#agent-client/ports.ts";
import { settingsSchema } from "#agent-client/settings.ts";
import { createTasks } from "#mcp-server/agents/tasks.ts";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { startFixture } from "../agents/api/apiFixture.ts";
import { answersJson, fakeToolbox, openTasks } from "../agents/planExecute/taskLab.ts";
import { answers } from "../fixtures/agentLab.ts";
import { modelsAt, toolSpec } from "../fixtures/agentLoop.ts";
import { type Bench, productBench } from "../fixtures/daemon.ts";
import { fakeClock } from "../fixtures/fakeClock.ts";
import { freePort, serve } from "../fixtures/loopback.ts";
import { memoryTasks } from "../fixtures/memoryStore/memoryTasks.ts";
import { hold } from "../fixtures/messagesApi/gate.ts";
import { calls, says } from "../fixtures/messagesApi/reply.ts";
import type { Step } from "../fixtures/messagesApi/script.ts";
import { hasSandbox } from "../fixtures/sandbox.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

let bench: Bench;
let site: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  site = await serve((request, response) => {
    if (request.url !== "/broken") return;
    response.writeHead(200, { "content-length": 30 }).write("abc", () => response.destroy());
  });
  bench = productBench();
  const far = `{ name: far, url: "http://127.0.0.1:${await freePort()}", token: { env: FAR_TOKEN } }`;
  const config = `devices: [{ name: box, model: simulated }]\nagents: { remotes: [${far}] }\n`;
  writeFileSync(join(bench.dataDir, "labwright.yaml"), config);
  await bench.startDaemon([], { ANTHROPIC_API_KEY: "", FAR_TOKEN: "a-token-of-these-tests" });
  await tool("import_userinterface", { yaml: boxYaml("box") });
  for (const name of ["broken", "silent"]) {
    const api_request = { url: `${site.url}/${name}`, timeout_ms: 200, checks: [{ status: 200 }] };
    const testcase = { name, app: "box", steps: [{ api_request }] };
    expect(await tool("save_testcase", { testcase })).toMatchObject({ success: true });
  }
}, 120_000);
afterAll(async () => {
  await bench.end();
  await site.close();
});

/** A request to a real daemon without a model. */
async function post(path: string, body: unknown): Promise<unknown> {
  const file = bench.daemon();
  if (!file) throw new Error("no daemon");
  const headers = { ...daemonHeaders(file, "test/1"), "content-type": "application/json" };
  const response = await fetch(daemonUrl(file, path), {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return response.json();
}
const tool = (name: string, args: object) => post(`/api/v1/tools/${name}`, args);
const inWords = (task: string, device = "box") =>
  post("/api/v1/agent/task", { task, userinterface_name: "box", device_ids: [device] });
const code = (language: string, text: string) => tool("execute_code", { language, code: text });

const { api } = openTasks();
const specs = [toolSpec("check_it", { readOnly: true, capabilities: ["UI_VALIDATION"] })];
const plan = answersJson({ steps: [{ step: 1, objective: "Check", tools: ["check_it"] }] });
const [holds, fails] = [answers("ok", { pass: true }), answers("not so", { pass: false })];
const noPlan = says("I cannot.");

type Lab = {
  model?: Step[];
  tool?: () => ToolResult | Promise<ToolResult>;
  clock?: Clock;
  settings?: object;
  order?: object;
};

/** A task over the API, with a model that follows a script and a tool that does as the row says. */
async function planned({
  model = [],
  tool: call,
  clock = systemClock,
  settings,
  order,
}: Lab): Promise<unknown> {
  const models = modelsAt((await api(...model)).url);
  const toolbox = fakeToolbox(specs, () => call?.() ?? holds);
  const tasks = createTasks({
    ...{ store: memoryTasks(systemClock), clock: systemClock, holder: "test/1", log: () => undefined },
    runner: createTaskRunner({ toolbox, models, clock, settings: settingsSchema.parse(settings ?? {}) }),
  });
  const http = await startFixture({ tasks });
  const { body } = await http.call("POST", "/api/v1/agent/task", { body: { task: "verify it", ...order } });
  await tasks.close();
  return body;
}

/** The time passes as soon as each of these is reached. */
async function late(steps: readonly number[], lab: (stops: Step[], clock: Clock) => Lab): Promise<unknown> {
  const clock = fakeClock();
  const gates = steps.map(() => hold());
  const stops = gates.map(
    (gate): Step =>
      async () => {
        await gate.pass();
        return noPlan;
      },
  );
  const ended = planned({ ...lab(stops, clock), clock });
  for (const [at, gate] of gates.entries()) {
    await gate.reached;
    await clock.advance(steps[at] ?? 0);
  }
  const body = await ended;
  for (const gate of gates) gate.open();
  return body;
}

const codes: Readonly<Record<string, () => Promise<unknown>>> = {
  INVALID_PLAN: () => {
    const step = { objective: "Press", command: "press_key", params: { key: "OK" } };
    const steps = [
      { ...step, index: 1, depends_on: [2] },
      { ...step, index: 2, depends_on: [1] },
    ];
    return tool("execute_plan", { userinterface_name: "box", plan: { task: "press", steps } });
  },
  PLANNING_FAILED: () => planned({ model: [noPlan, noPlan] }),
  PLANNING_TIMEOUT: () => late([10_000, 10_000], (stops) => ({ model: stops })),
  WEAK_MODEL: () => planned({ model: [plan, says("All checked!"), says("-"), noPlan, noPlan] }),
  TOOL_NOT_FOUND: () => tool("excute_code", {}),
  TOOL_FAILED: () =>
    planned({
      model: [plan, calls("check_it"), says("It broke."), says("-"), noPlan, noPlan],
      tool: () => ({ parts: [{ type: "text", text: "Something broke." }], isError: true }),
    }),
  EXECUTION_TIMEOUT: () =>
    late([5_000], ([stop]) => ({ model: [plan, stop ?? noPlan], order: { timeout_ms: 5_000 } })),
  INSUFFICIENT_RESOURCES: () =>
    planned({
      model: [plan, calls("check_it"), says("-"), noPlan, noPlan],
      settings: { limits: { tokens: 1 } },
    }),
  VERIFICATION_FAILED: () =>
    planned({
      model: [plan, calls("check_it"), says("It does not hold."), noPlan, noPlan],
      tool: () => fails,
    }),
  VERIFICATION_TIMEOUT: () =>
    late([5_000], ([stop]) => ({
      model: [plan, calls("check_it"), says("Done."), stop ?? noPlan, noPlan, noPlan],
      tool: () => answers("ok", {}),
    })),
  CONNECTION_REFUSED: () => inWords("go to Live", "far-box"),
  REQUEST_TIMEOUT: () => inWords('call test "silent"'),
  INVALID_RESPONSE: () => inWords('call test "broken"'),
  OUT_OF_MEMORY: () => code("python", "a = [b'1' * 20_000_000 for _ in range(100)]"),
  RATE_LIMITED: async () => {
    const http = await startFixture({ api: { requests_per_minute: 1 } });
    await http.call("GET", "/sessions");
    return (await http.call("POST", "/api/v1/agent/task", { body: { task: "verify it" } })).body;
  },
  MAX_RETRIES_EXCEEDED: () =>
    planned({
      model: [plan, calls("check_it"), calls("check_it"), says("-"), noPlan, noPlan],
      settings: { limits: { turns: 2 } },
    }),
};
const details: Readonly<Record<string, object>> = {
  INVALID_PLAN: { problems: [expect.stringContaining("wait for each other")] },
  PLANNING_FAILED: { problems: [expect.stringContaining("no whole JSON object")] },
  TOOL_NOT_FOUND: {
    requested_tool: "excute_code",
    available_tools: expect.arrayContaining(["execute_code"]),
  },
};
/** Without a sandbox no code runs that could eat memory. */
const needsSandbox = ["OUT_OF_MEMORY"];

test.each(
  Object.entries(taskErrors).filter(([name]) => hasSandbox || !needsSandbox.includes(name)),
)("%s can be provoked, and has its status and what the seed shows of an error", async (name, { status }) => {
  const body = z.looseObject({ success: z.boolean(), error: z.unknown() }).parse(await codes[name]?.());
  expect(body).toMatchObject({
    success: false,
    error: {
      ...{ code: name, http_status: status, message: expect.stringMatching(/\w/) },
      details: details[name] ?? expect.any(Object),
      trace_id: expect.stringMatching(/^[\da-f]{32}$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    },
  });
});
