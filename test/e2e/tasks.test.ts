import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { hasSandbox } from "../fixtures/sandbox.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const daemons = ownDaemons("tasks");
let count = 0;
const newFolder = () => join(daemons.root, `d${++count}`);
const api = "agents: { api: { requests_per_minute: 100000 } }\n";

/** A task of `POST /api/v1/agent/task`, or what becomes of one. */
async function ask(daemon: DaemonProcess, method: string, path = "", body?: unknown) {
  const file = daemon.file();
  const response = await fetch(daemonUrl(file, `/api/v1/agent/task${path}`), {
    method,
    headers: { ...daemonHeaders(file, "test/1"), "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return z
    .looseObject({ task_id: z.string().optional(), state: z.string().optional() })
    .parse(await response.json());
}
const start = async (daemon: DaemonProcess, task: Record<string, unknown>) =>
  (await ask(daemon, "POST", "?wait=false", task)).task_id ?? "";
const stateOf = async (daemon: DaemonProcess, id: string) => (await ask(daemon, "GET", `/${id}`)).state;

const resultsSchema = z.object({
  executions: z.array(z.looseObject({ status: z.string(), device: z.string().optional() })),
});
async function plans(daemon: DaemonProcess) {
  const { result } = await daemon.call("get_execution_results", { kind: "plan", max_tokens: 20_000 });
  return resultsSchema.parse(result).executions;
}

test("ten tasks run at once on ten devices; an eleventh waits for its turn, then runs on its own", async () => {
  const devices = [...Array(11).keys()].map((at) => `box${at}`);
  const daemon = await daemons.start({
    dataDir: newFolder(),
    config: `devices: [${devices.map((name) => `{ name: ${name}, model: simulated }`).join(", ")}]
limits: { max_parallel_devices: 16 }
${api}`,
  });
  await daemon.call("import_userinterface", { yaml: boxYaml("horizon") });
  const ids: string[] = [];
  for (const device of devices)
    ids.push(
      await start(daemon, {
        ...{ task: 'wait for text "Nowhere" for 60 s', userinterface_name: "horizon" },
        device_ids: [device],
      }),
    );
  const running = async () => {
    const found = (await plans(daemon)).filter(({ status }) => status === "running");
    return found.map(({ device }) => device?.split("/").at(-1)).toSorted();
  };
  await expect.poll(running, within).toEqual(devices.slice(0, 10).toSorted());
  const [first = "", eleventh = ""] = [ids[0], ids[10]];
  expect(await stateOf(daemon, eleventh)).toBe("pending");
  expect(await ask(daemon, "DELETE", `/${first}`)).toMatchObject({ cancelled: true });
  await expect.poll(() => stateOf(daemon, first), within).toBe("cancelled");
  await expect.poll(running, within).toEqual(devices.slice(1).toSorted());
  expect(await stateOf(daemon, eleventh)).toBe("running");
});

describe("a daemon that is killed with -9 in the middle of a plan", () => {
  /** What reached the shop, in order. */
  const asked: string[] = [];
  let shop: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    shop = await serve((request, response) => {
      if (request.url !== "/favicon.ico") asked.push(`${request.method} ${request.url}`);
      response.setHeader("content-type", "text/html");
      response.end(`<title>Shop</title><button onclick="fetch('/pay', { method: 'POST' })">Pay</button>`);
    });
    return () => shop.close();
  });

  const once = ["GET /", "POST /pay"];
  async function openShop() {
    asked.length = 0;
    const dataDir = newFolder();
    const daemon = await daemons.start({
      dataDir,
      config: `devices: [{ name: browser, model: web }]\n${api}`,
    });
    await daemon.call("create_userinterface", { name: "shop", models: ["web"] });
    return daemon;
  }
  /** Kills it when the plan has paid and waits, and starts the next one. */
  async function killWhenPaid(daemon: DaemonProcess): Promise<DaemonProcess> {
    await expect.poll(() => asked, within).toEqual(once);
    expect(await plans(daemon)).toMatchObject([{ status: "running" }]);
    await daemons.kill(daemon);
    return daemons.start({ dataDir: daemon.dataDir });
  }
  const words = () => `open ${shop.url}/ and click "Pay" and wait for text "Nowhere" for 60 s`;
  const interrupted = [{ status: "error", reason: expect.stringMatching(/^INTERRUPTED/) }];

  test("a task ends INTERRUPTED without being asked for, and nothing is done twice", async () => {
    const killed = await openShop();
    const task = { task: words(), userinterface_name: "shop", device_ids: ["browser"] };
    const id = await start(killed, task);
    const daemon = await killWhenPaid(killed);
    // No request to the agents: they open by themselves, since a task was left.
    const left = async () => {
      const file = daemon.file();
      const url = daemonUrl(file, "/server/agent/store/tasks?agent=task");
      const response = await fetch(url, { headers: daemonHeaders(file, "test/1") });
      return JSON.stringify(await response.json());
    };
    await expect.poll(left, within).toContain('"state":"failed"');
    expect(await ask(daemon, "GET", `/${id}`)).toMatchObject({
      state: "failed",
      error: expect.stringMatching(/^INTERRUPTED: The server ended while this task ran/),
    });
    expect(await plans(daemon)).toMatchObject(interrupted);
    expect(asked).toEqual(once);
  });

  test("execute_plan over REST ends INTERRUPTED, also for its repeated call, and nothing is done twice", async () => {
    const killed = await openShop();
    const steps = [
      { index: 1, objective: "Open", command: "navigate_to_url", params: { url: `${shop.url}/` } },
      {
        ...{ index: 2, objective: "Pay", command: "click_element", params: { selector: "Pay" } },
        depends_on: [1],
      },
      { index: 3, objective: 'wait for text "Nowhere" for 60 s', depends_on: [2] },
    ];
    const plan = {
      ...{ plan: { task: "Pay", steps }, userinterface_name: "shop", device_id: "browser" },
      idempotency_key: "pay once",
    };
    const call = killed.call("execute_plan", plan).catch(() => "nobody answered");
    const daemon = await killWhenPaid(killed);
    expect(await call).toBe("nobody answered");
    expect(await plans(daemon)).toMatchObject(interrupted);
    expect((await daemon.call("execute_plan", plan)).error?.code).toBe("OUTCOME_UNKNOWN");
    expect(await plans(daemon)).toHaveLength(1);
    expect(asked).toEqual(once);
  });
});

test.runIf(hasSandbox)(
  "the code of a daemon that is killed while it runs does not stay in the workspace",
  async () => {
    const killed = await daemons.start({
      dataDir: newFolder(),
      config: "devices: [{ name: box, model: simulated }]\n",
    });
    const folder = join(killed.dataDir, "workspace");
    const names = () => {
      try {
        return readdirSync(folder).toSorted();
      } catch {
        return [];
      }
    };
    const code = { language: "bash", code: "touch started; sleep 60" };
    const call = killed.call("execute_code", code).catch(() => "nobody answered");
    await expect.poll(names, within).toContain("started");
    expect(names()).toEqual([expect.stringMatching(/^\.inline-\d+-.*\.sh$/), "started"]);
    await daemons.kill(killed);
    expect(await call).toBe("nobody answered");
    // Of a process that lives, and of a user.
    const kept = [`.inline-${process.pid}-a.sh`, ".inline-notes"];
    for (const name of kept) writeFileSync(join(folder, name), "");
    const daemon = await daemons.start({ dataDir: killed.dataDir });
    const { result } = await daemon.call("workspace_files", { operation: "list", path: "" });
    expect(result.entries).toMatchObject([...kept, "started"].map((name) => ({ name })));
  },
);
