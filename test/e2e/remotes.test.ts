import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";
import { freePort } from "../fixtures/loopback.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

const daemons = ownDaemons("remotes");
let count = 0;
beforeEach(() => {
  count++;
});

const token = "token-of-these-tests-only";
/** A server with one simulated box of its name, and these remotes by their ports. */
const start = (name: string, remotes: Record<string, number> = {}, port = 0) => {
  const listed = Object.entries(remotes).map(
    ([other, at]) => `{ name: ${other}, url: "http://127.0.0.1:${at}", token: { env: OTHER_TOKEN } }`,
  );
  return daemons.start({
    dataDir: join(daemons.root, `${name}${count}`),
    config: [
      `server: { name: ${name} }`,
      `devices: [{ name: ${name}-box, model: simulated }]`,
      `agents: { remotes: [${listed}] }`,
    ].join("\n"),
    args: ["--port", String(port)],
    env: { LABWRIGHT_TOKEN: token, OTHER_TOKEN: token },
  });
};
const addApp = async (daemon: DaemonProcess) =>
  expect((await daemon.call("import_userinterface", { yaml: boxYaml("horizon") })).error).toBeUndefined();

async function ask(daemon: DaemonProcess, method: string, path: string, body?: unknown) {
  const file = daemon.file();
  const response = await fetch(daemonUrl(file, `/api/v1/agent/task${path}`), {
    method,
    headers: { ...daemonHeaders(file, "test/1"), "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: z.looseObject({}).parse(await response.json()) };
}
const task = (text: string, device_id?: string) => ({
  ...{ task: text, userinterface_name: "horizon" },
  ...(device_id && { device_ids: [device_id] }),
});
const plansOf = async (daemon: DaemonProcess) =>
  JSON.stringify((await daemon.call("get_execution_results", { kind: "plan" })).result);
const wait = { timeout: 30_000, interval: 1_000 };

describe("two servers, one of them the other's remote", () => {
  test("2. Remote task delegation: a task runs where its app is; its progress comes back, and its run is named as the remote's", async () => {
    const far = await start("far");
    const near = await start("near", { far: far.file().port });
    await addApp(far);
    const file = near.file();
    const socket = new WebSocket(daemonUrl(file, "/api/v1/agent/stream").href.replace("http", "ws"), {
      headers: daemonHeaders(file, "test/1"),
    });
    const heard: { type: string; payload: unknown }[] = [];
    socket.on("message", (data) => heard.push(JSON.parse(String(data))));
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    const payload = { ...task("go to Live and then check that Live is shown"), stream_responses: true };
    socket.send(JSON.stringify({ id: "1", type: "task_request", payload }));
    await expect.poll(() => heard.at(-1)?.type, wait).toBe("result");
    socket.terminate();
    const progress = heard.filter(({ type }) => type === "progress_update").map((one) => one.payload);
    expect(progress).toContainEqual(
      expect.objectContaining({ status: "executing", message: expect.stringContaining("steps") }),
    );
    const result = z
      .looseObject({
        details: z.looseObject({
          remote: z.object({
            name: z.string(),
            url: z.string(),
            executions: z.array(z.string()),
            artifacts: z.array(z.string()),
          }),
        }),
      })
      .parse(heard.at(-1)?.payload);
    expect(result).toMatchObject({
      success: true,
      details: {
        remote: { name: "far" },
        place: {
          reason: "far has what this server has not: a device for the app horizon.",
          requires_remote_execution: true,
        },
      },
    });
    const [execution_id = ""] = result.details.remote.executions;
    expect((await far.call("get_execution_status", { execution_id })).error).toBeUndefined();
    expect((await near.call("get_execution_status", { execution_id })).error?.code).toBe(
      "EXECUTION_NOT_FOUND",
    );

    await addApp(near);
    const local = await ask(near, "POST", "", task("go to Live and then check that Live is shown"));
    expect(local.body).toMatchObject({
      success: true,
      result: { details: { place: { requires_remote_execution: false } } },
    });
    expect(local.body).not.toHaveProperty("result.details.remote");
  });

  test("a remote killed in the middle of a task: the task ends by name, and nothing is done twice", async () => {
    const far = await start("far");
    const near = await start("near", { far: far.file().port });
    await addApp(far);
    const begin = async () => {
      const order = task('wait for text "Nowhere" for 60 s', "far-box");
      return String((await ask(near, "POST", "?wait=false", order)).body.task_id);
    };
    const stateOf = async (id: string) => (await ask(near, "GET", `/${id}`)).body;

    const cancelled = await begin();
    await expect.poll(() => plansOf(far), wait).toContain("running");
    await ask(near, "DELETE", `/${cancelled}`);
    await expect.poll(() => plansOf(far), wait).toContain("cancelled");

    const lost = await begin();
    await expect.poll(() => plansOf(far), wait).toContain("running");
    const { port } = far.file();
    await daemons.kill(far);
    await expect.poll(async () => (await stateOf(lost)).state, wait).toBe("failed");
    const { error } = await stateOf(lost);
    expect(error).toMatch(/^OUTCOME_UNKNOWN: The remote far .*effect is unknown/);
    const restarted = await start("far", {}, port);
    expect((await plansOf(restarted)).match(/INTERRUPTED/g)).toHaveLength(1);
    expect(await plansOf(restarted)).not.toContain("running");

    const { body } = await ask(
      near,
      "POST",
      "",
      task("go to Live and then check that Live is shown", "far-box"),
    );
    expect(body).toMatchObject({ success: true, result: { details: { remote: { name: "far" } } } });
  });

  test("a remote that is absent at the start: only tasks that need it fail, CONNECTION_REFUSED, until it is there", async () => {
    const port = await freePort();
    const near = await start("near", { far: port });
    await addApp(near);
    const there = task("go to Live and then check that Live is shown", "far-box");
    expect(await ask(near, "POST", "", there)).toMatchObject({
      status: 503,
      body: {
        error: { code: "CONNECTION_REFUSED", details: { remote: "far", missing: ["the device far-box"] } },
      },
    });
    const here = await ask(
      near,
      "POST",
      "",
      task("go to Live and then check that Live is shown", "near-box"),
    );
    expect(here.body).toMatchObject({ success: true });
    await addApp(await start("far", {}, port));
    expect((await ask(near, "POST", "", there)).body).toMatchObject({ success: true });
    expect(near.said()).not.toContain(token);
  });

  test("servers that name each other make no loop: a task that neither can do ends with what is missing", async () => {
    const farPort = await freePort();
    const near = await start("near", { far: farPort });
    await start("far", { near: near.file().port }, farPort);
    const { status, body } = await ask(near, "POST", "", task("press OK", "tv"));
    expect([status, body]).toMatchObject([
      404,
      { error: { code: "NOT_FOUND", message: expect.stringMatching(/this server has not.*far has not/) } },
    ]);
  });
});
