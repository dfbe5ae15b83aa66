import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

const daemons = ownDaemons("seed004");
let daemon: DaemonProcess;
let count = 0;
beforeEach(async () => {
  daemon = await daemons.start({
    dataDir: join(daemons.root, `d${++count}`),
    config: "devices: [{ name: device1, model: simulated }, { name: device2, model: simulated }]\n",
  });
  const made = await daemon.call("import_userinterface", { yaml: boxYaml("horizon") });
  expect(made.error).toBeUndefined();
});

async function executeTask(body: unknown, headers: Record<string, string> = {}) {
  const file = daemon.file();
  const response = await fetch(daemonUrl(file, "/host/aiagent/executeTask"), {
    method: "POST",
    headers: { ...daemonHeaders(file, "test/1"), "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: z.looseObject({}).parse(await response.json()) };
}

const request = (prompt: string) => ({ prompt, userinterface_name: "horizon", device_id: "device1" });
const log = () => readFileSync(join(daemon.dataDir, "logs", "daemon.log"), "utf8");

describe("the workflow of seed 004", () => {
  test("a prompt becomes a plan, runs by detected action types, and its results go back", async () => {
    const { status, body } = await executeTask(
      request('Navigate to Home and click Movies, then check text "All movies" is visible'),
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      message: expect.stringContaining("3 of 3 steps"),
      results: [
        { step: 1, command: "execute_navigation", action_type: "navigation", status: "completed" },
        { step: 2, command: "click_element", action_type: "remote", status: "completed" },
        { step: 3, command: "text_visible", status: "completed" },
      ],
    });
    const id = String(body.execution_id);
    expect(log()).toContain(`Plan ${id}: step 1, action_type: navigation, completed, time=`);
    expect(log()).toMatch(new RegExp(`Plan ${id}: step 2, action_type: remote, completed, time=\\d+ms`));
    expect(log()).toContain(`Plan ${id}: step 3, action_type: verification_text, completed, time=`);
  });

  test("the context of the three executors has a line each, and the log says how many there are", async () => {
    const { result } = await daemon.call("get_task_context", {
      userinterface_name: "horizon",
      device_ids: ["device1"],
    });
    const [context] = z
      .array(
        z.object({
          navigation: z.array(z.string()),
          actions: z.array(z.string()),
          verifications: z.array(z.string()),
        }),
      )
      .parse(result.contexts);
    expect(context?.navigation).toEqual(expect.arrayContaining(["Home", "Live", "Movies", "Settings"]));
    expect(context?.actions.length).toBeGreaterThan(5);
    expect(context?.actions.length).toBeLessThanOrEqual(20);
    expect(log()).toMatch(
      /Loaded context for \S+device1 \(simulated\) in horizon: tree_id: \S+, .*current_node: \S+/,
    );
    expect(log()).toContain(
      `actions: ${context?.actions.length}, verifications: ${context?.verifications.length}, navigation nodes: ${context?.navigation.length}`,
    );
  });

  test("the place that the device is led to is told with the results, and the next task begins there", async () => {
    expect((await executeTask(request("go to Live"))).body).toMatchObject({
      success: true,
      current_node: "Live",
    });
    expect(log()).toContain("current node: Live");
    expect((await executeTask(request("check Live is shown"))).body).toMatchObject({ success: true });
  });

  test("a task that is not understood runs nothing and says so; a request that is wrong is refused", async () => {
    expect((await executeTask(request("make me a sandwich"))).body).toMatchObject({
      success: false,
      results: [],
    });
    expect(await executeTask({ ...request("go to Live"), prompt: "" })).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_INPUT" } },
    });
    expect((await executeTask({ ...request("go to Live"), device_id: "device3" })).body).toMatchObject({
      error: { code: "DEVICE_NOT_FOUND" },
    });
    expect((await executeTask(request("go to Live"), { authorization: "Bearer nobody" })).status).toBe(401);
    expect((await daemon.call("get_execution_results", { kind: "plan" })).result.total ?? 0).toBe(0);
  });

  const words = 'wait for text "Nowhere" for 60 s';
  const waitOn = (device_id: string, index: number) => ({ index, objective: words, params: { device_id } });
  const both = { task: "both", steps: [waitOn("device1", 1), waitOn("device2", 2)] };
  test.each([
    ["a task", 1, () => executeTask(request(words))],
    [
      "a plan for two devices",
      3,
      () => daemon.call("execute_plan", { userinterface_name: "horizon", plan: both }),
    ],
  ])("%s whose daemon is killed ends INTERRUPTED after the next start, and is not run again", async (_, runs, start) => {
    const waiting = start().catch(() => undefined);
    const running = async () => {
      const { result } = await daemon.call("get_execution_results", { kind: "plan" });
      return JSON.stringify(result).match(/"status":"running"/g)?.length;
    };
    await expect.poll(running, { timeout: 20_000 }).toBe(runs);
    await daemons.kill(daemon);
    await waiting;
    daemon = await daemons.start({ dataDir: daemon.dataDir });
    const { result } = await daemon.call("get_execution_results", { kind: "plan" });
    expect(JSON.stringify(result).match(/INTERRUPTED/g)?.length).toBeGreaterThanOrEqual(runs);
    expect(JSON.stringify(result)).not.toContain('"running"');
  });
});
