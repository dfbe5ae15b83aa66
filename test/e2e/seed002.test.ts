import { createServer, connect as dial, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";
import { says } from "../fixtures/messagesApi/reply.ts";
import { type MessagesApi, startMessagesApi } from "../fixtures/messagesApi/server.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

const daemons = ownDaemons("seed002");
const dataDir = () => join(daemons.root, `d${count}`);
let daemon: DaemonProcess;
let model: MessagesApi;
let gate: Awaited<ReturnType<typeof openGate>>;
let count = 0;

/** Before the model: what passes can be cut off. */
async function openGate(target: URL) {
  let refused = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    if (refused-- > 0) return void socket.resetAndDestroy();
    const onward = dial(Number(target.port), target.hostname).on("error", () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = z.object({ port: z.int() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${address.port}`,
    /** Ends what is open, and resets the next connections. */
    cut(connections: number) {
      refused = connections;
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    reset: () => {
      refused = 0;
    },
    close: () => server.close(),
  };
}

const [away, back] = [
  { step: 1, command: "press_key", params: { key: "NO_SUCH_KEY" }, description: "Press" },
  { step: 2, command: "text_visible", params: { text: "All movies" }, description: "See the films" },
];
const go = { step: 1, command: "execute_navigation", params: { target_node: "Movies" }, description: "Go" };
const planned = (...plan: object[]) => says(JSON.stringify({ analysis: "", feasible: true, plan }));
/** The first plan cannot work; what comes after a failure can. */
beforeAll(async () => {
  model = await startMessagesApi({
    respond: (_, { firstText }) => {
      if (firstText.includes("press OK")) return says("I cannot.");
      if (firstText.includes("An earlier plan did not finish")) return planned(go, back);
      if (firstText.includes("wrong first")) return planned(away, back);
      return planned(go, back);
    },
  });
  gate = await openGate(new URL(model.url));
});
afterAll(async () => {
  gate.close();
  await model.close();
});
beforeEach(async () => {
  count++;
  gate.reset();
  daemon = await daemons.start({
    dataDir: dataDir(),
    config: "devices: [{ name: device1, model: simulated }]\n",
    env: { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: gate.url },
  });
  expect((await daemon.call("import_userinterface", { yaml: boxYaml("horizon") })).error).toBeUndefined();
});

async function ask(method: string, path: string, body?: unknown) {
  const file = daemon.file();
  const response = await fetch(daemonUrl(file, path), {
    method,
    headers: { ...daemonHeaders(file, "test/1"), "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: z.looseObject({}).parse(await response.json()) };
}
const task = (text: string) => ({ task: text, userinterface_name: "horizon", device_ids: ["device1"] });

describe("the integration scenarios of seed 002", () => {
  test("1. Local task execution: a task is planned, executed, verified on evidence, and answered over REST", async () => {
    const { status, body } = await ask(
      "POST",
      "/api/v1/agent/task",
      task("go to Live and then check that Live is shown"),
    );
    expect([status, body]).toMatchObject([
      200,
      {
        success: true,
        result: {
          task_description: "go to Live and then check that Live is shown",
          success: true,
          executed_steps: [
            { step_index: 1, status: "completed" },
            { step_index: 2, status: "completed" },
          ],
          execution_time: expect.any(Number),
          replans: 0,
          verification: { task_complete: true },
        },
      },
    ]);
    expect(await ask("GET", `/api/v1/agent/task/${body.task_id}`)).toMatchObject({ body: { state: "done" } });
  });

  test("a task that acts and proves nothing is no success", async () => {
    const { body } = await ask("POST", "/api/v1/agent/task", task("press OK"));
    expect(body).toMatchObject({ success: false, result: { verification: { task_complete: false } } });
  });

  test("8. Error handling: a tool that is not there is refused with what there is", async () => {
    const { status, body } = await ask("POST", "/api/v1/tools/ui_validater", {});
    expect([status, body]).toMatchObject([
      400,
      {
        success: false,
        error: {
          code: "TOOL_NOT_FOUND",
          http_status: 400,
          details: {
            requested_tool: "ui_validater",
            available_tools: expect.arrayContaining(["verify_device_state"]),
          },
          trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        },
      },
    ]);
    expect(await ask("POST", "/api/v1/agent/task", task("x".repeat(1_001)))).toMatchObject({ status: 400 });
    expect(await ask("GET", "/api/v1/health")).toMatchObject({ status: 200 });
  });

  test("3. Multi-step execution: a model's plan runs step by step, each with its result, and is verified", async () => {
    const { body } = await ask("POST", "/api/v1/agent/task", task("verify the films, please"));
    expect(body).toMatchObject({
      success: true,
      result: {
        executed_steps: [
          { step_index: 1, status: "completed", completed_at: expect.any(String) },
          { step_index: 2, status: "completed", retry_count: 0 },
        ],
        replans: 0,
        verification: { task_complete: true },
      },
    });
  });

  test("4. Replanning on failure: a plan that fails is followed by another, from where the device is", async () => {
    const { body } = await ask("POST", "/api/v1/agent/task", task("verify the films, wrong first"));
    expect(body).toMatchObject({
      success: true,
      result: { replans: 1, executed_steps: [{ status: "failed" }, {}, {}, { status: "completed" }] },
    });
  });

  test("5. Network failure recovery: the model's connection is reset, and the task goes on", async () => {
    gate.cut(2);
    const before = model.requests.length;
    const { body } = await ask("POST", "/api/v1/agent/task", task("verify the films, please"));
    expect(body).toMatchObject({ success: true });
    expect(model.requests.length).toBeGreaterThan(before);
  });

  test("7. Tool discovery: by capability and domain, with what the seed says of a tool", async () => {
    const names = async (query: string) => {
      const { body } = await ask("GET", `/api/v1/tools?${query}`);
      return z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) }).parse(body).tools;
    };
    const found = await names("capability=UI_VALIDATION&domain=ui_testing");
    expect(found.map(({ name }) => name)).toContain("verify_device_state");
    expect(found[0]).toMatchObject({
      capabilities: expect.arrayContaining(["UI_VALIDATION"]),
      domain: expect.any(String),
    });
    expect((await names("")).length).toBeGreaterThan(found.length);
    expect(await ask("GET", "/api/v1/tools?capability=COOKING")).toMatchObject({ status: 400 });
  });

  test("6. Streaming responses: progress and the result come over the WebSocket, with the id of their request", async () => {
    const file = daemon.file();
    const socket = new WebSocket(daemonUrl(file, "/api/v1/agent/stream").href.replace("http", "ws"), {
      headers: daemonHeaders(file, "test/1"),
    });
    const heard: { id?: string; type: string }[] = [];
    socket.on("message", (data) => heard.push(JSON.parse(String(data))));
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    const payload = { ...task("go to Movies and then check that Movies is shown"), stream_responses: true };
    socket.send(JSON.stringify({ id: "msg-1", type: "task_request", payload }));
    await expect.poll(() => heard.at(-1)?.type, { timeout: 20_000 }).toBe("result");
    expect(heard.map(({ id }) => id)).toEqual(heard.map(() => "msg-1"));
    expect(heard.map(({ type }) => type)).toContain("progress_update");
    expect(heard.at(-1)).toMatchObject({ payload: { success: true } });
    socket.terminate();
  });
});
