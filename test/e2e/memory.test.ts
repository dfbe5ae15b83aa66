import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { run } from "../cli/fixtures.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

const daemons = ownDaemons("memory");
let daemon: DaemonProcess;
let count = 0;
beforeEach(async () => {
  daemon = await daemons.start({
    dataDir: join(daemons.root, `d${++count}`),
    config: "devices: [{ name: box, model: simulated }]\n",
  });
  await daemon.call("import_userinterface", { yaml: boxYaml("box") });
});

const app = { userinterface_name: "box" };
const words = "bring up the film shelf";
const labwright = (...args: string[]) =>
  run(args, { env: { HOME: daemons.root, LABWRIGHT_DATA_DIR: daemon.dataDir }, cwd: daemons.root });
const memorySchema = z.array(
  z.object({
    id: z.string(),
    scope: z.string(),
    subject: z.string(),
    kind: z.string(),
    text: z.string(),
    seen: z.int(),
  }),
);
const listed = async () => memorySchema.parse(JSON.parse((await labwright("memory", "list", "--json")).out));
const rest = async (method: string, query = "", headers: Record<string, string> = {}) => {
  const file = daemon.file();
  const url = daemonUrl(file, `/api/v1/memory${query}`);
  const response = await fetch(url, { method, headers: { ...daemonHeaders(file, "test/1"), ...headers } });
  return { status: response.status, body: z.looseObject({}).parse(await response.json()) };
};

test("a task's words do what they did in the first run, also after a restart, until `labwright memory forget`", async () => {
  const task = () => daemon.call("execute_plan", { ...app, task: words });
  expect((await task()).result).toMatchObject({ success: false, results: [], plan: { feasible: false } });
  const steps = [
    { index: 1, objective: "Go home", command: "execute_navigation", params: { target_node: "Home" } },
    {
      index: 2,
      objective: "Open Movies",
      command: "click_element",
      params: { selector: "Movies" },
      depends_on: [1],
    },
    {
      index: 3,
      objective: "See films",
      command: "text_visible",
      params: { text: "All movies" },
      depends_on: [2],
    },
  ];
  expect((await daemon.call("execute_plan", { ...app, plan: { task: words, steps } })).result.success).toBe(
    true,
  );
  await daemons.kill(daemon);
  daemon = await daemons.start({ dataDir: daemon.dataDir });
  expect((await task()).result).toMatchObject({
    success: true,
    message: expect.stringContaining("Planned from memory, as in execution "),
    results: [{ status: "completed" }, { status: "completed" }, { status: "completed", check: true }],
  });

  const [row, ...others] = await listed();
  expect(others).toEqual([]);
  expect(row).toMatchObject({ scope: "userinterface", subject: "box", kind: "sequence", seen: 2 });
  expect((await labwright("memory")).out).toContain(words);
  expect((await labwright("memory", "list", "--kind", "flaky")).out).toContain("Nothing is remembered");
  expect(await labwright("memory", "forget")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--all"),
  });
  expect(await labwright("memory", "forget", "nothing")).toMatchObject({
    code: 2,
    err: expect.stringContaining('Nothing in memory has the id "nothing"'),
  });
  expect(await labwright("memory", "forget", row?.id ?? "")).toMatchObject({
    code: 0,
    out: "Forgot 1 memory.\n",
  });
  expect((await task()).result).toMatchObject({ success: false, results: [], plan: { feasible: false } });
});

test("a test that fails the same way twice is remembered by code, shown to a planner, and forgotten over REST", async () => {
  const testcase = {
    name: "misses",
    app: "box",
    steps: [{ go: "Home" }, { text_visible: { text: "Nothing of the kind" }, timeout_ms: 0 }],
  };
  expect((await daemon.call("save_testcase", { testcase })).error).toBeUndefined();
  for (let n = 0; n < 2; n++) await daemon.call("execute_testcase", { testcase: "misses" });
  const pattern = async () =>
    (await listed()).filter(({ kind, seen }) => kind === "failure" && seen === 2).length;
  await expect.poll(pattern, { timeout: 20_000, interval: 1_000 }).toBe(1);
  const known = async () => JSON.stringify((await daemon.call("get_task_context", app)).result);
  expect(await known()).toContain("fails with VERIFICATION_FAILED (seen 2x");

  expect((await rest("GET", "", { authorization: "Bearer nobody" })).status).toBe(401);
  for (const query of ["", "?id=x&all=true", "?all=yes", "?id=nothing"])
    expect(await rest("DELETE", query)).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_INPUT" } },
    });
  expect((await rest("GET", "?scope=planet")).status).toBe(400);
  expect((await rest("DELETE", "?all=true")).body).toEqual({ forgotten: 1 });
  expect(await known()).not.toContain("fails with");
});
