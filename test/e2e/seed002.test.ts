import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

const daemons = ownDaemons("seed002");
const dataDir = () => join(daemons.root, `d${count}`);
let daemon: DaemonProcess;
let count = 0;
beforeEach(async () => {
  count++;
  daemon = await daemons.start({
    dataDir: dataDir(),
    config: "devices: [{ name: device1, model: simulated }]\n",
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

describe("the flow of seed 002, without a model", () => {
  test("a task is planned, executed, verified on evidence, and its AgentResult goes back over REST", async () => {
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

  test("a task that cannot be planned is PLANNING_FAILED 500, in the error format of the seed", async () => {
    const { status, body } = await ask("POST", "/api/v1/agent/task", task("make me a sandwich"));
    expect([status, body]).toMatchObject([
      500,
      { success: false, error: { code: "PLANNING_FAILED", http_status: 500 } },
    ]);
  });

  test("progress and the result come over the WebSocket, each with the id of its request", async () => {
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

  test("a daemon killed in the middle of a task reports it as interrupted, and does nothing twice", async () => {
    const { body } = await ask(
      "POST",
      "/api/v1/agent/task?wait=false",
      task('wait for text "Nowhere" for 60 s'),
    );
    const state = async () => (await ask("GET", `/api/v1/agent/task/${body.task_id}`)).body.state;
    await expect.poll(state, { timeout: 20_000 }).toBe("running");
    const plans = async () =>
      JSON.stringify((await daemon.call("get_execution_results", { kind: "plan" })).result);
    await expect.poll(plans, { timeout: 20_000 }).toContain("running");
    await daemons.kill(daemon);
    daemon = await daemons.start({ dataDir: dataDir() });
    // The dead process has the task until its hold is over; requests are limited per minute.
    await expect.poll(state, { timeout: 40_000, interval: 2_000 }).toBe("failed");
    const { error } = (await ask("GET", `/api/v1/agent/task/${body.task_id}`)).body;
    expect(error).toContain("INTERRUPTED");
    expect((await plans()).match(/INTERRUPTED/g)).toHaveLength(1);
  });
});
