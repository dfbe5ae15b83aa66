import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type RunConnection, type RunOptions, runTestcases } from "#mcp-server/cli/run/run.ts";
import type { Reply, TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type Site, startSite } from "../fixtures/site.ts";
import { chain } from "../services/apps/testcases/testcaseBench.ts";

let site: Site;
let product: Product;
let anna: TestClient;
let session_id: unknown;
beforeAll(async () => {
  site = await startSite();
  product = await openProduct("devices: [{ name: web, model: web }]\nunsafe: { javascript: true }");
  anna = await product.connect({ principal: "anna", client: "a" });
  ({ session_id } = (await anna.call("take_control", { device_id: "web" })).structured);
  await act("navigate_to_url", { url: `${site.url}/storage` });
  await act("click_element", { selector: "Log in" });
  await act("save_storage_state", { name: "ada" });
  await act("load_storage_state", {});
});
afterAll(async () => {
  await product.dispose();
  await site.close();
});
afterEach(() => act("load_storage_state", {}));

const act = (command: string, params: object): Promise<Reply> =>
  anna.call("execute_device_action", { session_id, actions: [{ command, params }] });

type Given = Record<string, unknown>;
const go = (path: string): Given => ({
  type: "action",
  command: "navigate_to_url",
  params: { url: `${site.url}${path}` },
});
const click = (selector: string): Given => ({
  type: "action",
  command: "click_element",
  params: { selector },
});
const sees = (text: string): Given => ({
  type: "verification",
  command: "text_visible",
  params: { text },
  timeout_ms: 0,
});

/** Saves a test case of these blocks, one after the other. */
async function save(name: string, blocks: readonly Given[], more: Given = {}): Promise<void> {
  const saved = await anna.call("save_testcase", {
    testcase: { name, ...chain(blocks), ...more },
    replace: true,
  });
  expect(saved.error).toBeUndefined();
}

const run = (testcase: string, more: Given = {}) =>
  anna.call("execute_testcase", { testcase, session_id, ...more });
const loggedOut = "cookie none, item none";
const loggedIn = "cookie user=ada, item kept";

/** What the run's record keeps of how it started. */
async function startOf(reply: Reply): Promise<unknown> {
  const { execution_id } = reply.structured;
  const query = "select input->'start' as start from executions where id = $1";
  const { by, ...start } = (await product.storage.pool.query(query, [execution_id])).rows[0]?.start ?? {};
  expect(by).toBe("a");
  return start;
}

describe("a test case", () => {
  it("starts fresh, and leaves nothing to the next", async () => {
    await save("logs in", [go("/storage"), sees(loggedOut), click("Log in"), go("/storage"), sees(loggedIn)]);
    for (let round = 0; round < 2; round++) {
      const reply = await run("logs in");
      expect(reply.structured).toMatchObject({ status: "passed" });
      expect(await startOf(reply)).toEqual({ fresh: true });
    }
  });

  it("leaves the holder's pages, refs and looks as they were", async () => {
    await act("navigate_to_url", { url: `${site.url}/form` });
    await act("input_text", { selector: "Name", text: "half typed" });
    const dump = await anna.call("dump_ui_elements", { session_id });
    const ref = /^(e\d+) .*Agree/m.exec(dump.text.replaceAll(/\\n/g, "\n"))?.[1];
    expect(ref).toBeDefined();
    await save("elsewhere", [go("/second"), sees("Second")]);
    expect((await run("elsewhere")).structured).toMatchObject({ status: "passed" });
    const after = await anna.call("dump_ui_elements", {
      session_id,
      changes_since: Number(dump.structured.generation),
    });
    expect(after.text).toContain("nothing changed");
    expect((await act("click_element", { ref })).structured).toMatchObject({ status: "passed" });
    const info = await act("get_page_info", {});
    expect(info.text).toContain("/form");
  });

  it("goes on in what the holder has open when it, its app or its caller says so", async () => {
    await act("navigate_to_url", { url: `${site.url}/storage` });
    await act("click_element", { selector: "Log in" });
    await save("kept", [go("/storage"), sees(loggedIn)], { fresh: false });
    const kept = await run("kept");
    expect(kept.structured).toMatchObject({ status: "passed" });
    expect(await startOf(kept)).toEqual({ fresh: false });
    await save("by the caller", [go("/storage"), sees(loggedIn)]);
    expect((await run("by the caller")).structured).toMatchObject({ status: "failed" });
    expect((await run("by the caller", { fresh: false })).structured).toMatchObject({ status: "passed" });
    await anna.call("create_userinterface", { name: "keeping", app: { fresh: false } });
    await save("by the app", [go("/storage"), sees(loggedIn)], { userinterface_name: "keeping" });
    expect((await run("by the app")).structured).toMatchObject({ status: "passed" });
  });

  it("starts with a saved storage state, and says when there is none", async () => {
    await save("with a state", [go("/storage"), sees(loggedIn)], { storage_state: "ada" });
    const reply = await run("with a state");
    expect(reply.structured).toMatchObject({ status: "passed" });
    expect(await startOf(reply)).toEqual({ fresh: true, storage_state: "ada" });
    await save("with none", [go("/storage"), sees(loggedIn)], { storage_state: "nobody" });
    expect((await run("with none")).structured).toMatchObject({
      status: "error",
      reason: { code: "PATH_DENIED" },
    });
  });

  it("has its set-up run once, and starts with what that left", async () => {
    await save("sign in", [go("/storage"), click("Log in"), go("/storage"), sees(loggedIn)]);
    await save("signed in", [go("/storage"), sees(loggedIn)], { setup: "sign in" });
    const logins = () => site.requests.filter((request) => request === "GET /storage").length;
    const before = logins();
    expect((await run("signed in")).structured).toMatchObject({ status: "passed", verified_count: 1 });
    expect(logins() - before).toBe(3);
    expect((await run("signed in")).structured).toMatchObject({ status: "passed" });
    expect(logins() - before).toBe(4);
  });

  it("ends with the step of a set-up that failed", async () => {
    await save("bad sign in", [go("/storage"), sees("Welcome, Ada")]);
    await save("never signed in", [go("/storage"), sees(loggedIn)], { setup: "bad sign in" });
    expect((await run("never signed in")).structured).toMatchObject({
      status: "failed",
      failed_step: { path: expect.stringContaining("setup/") },
    });
  });

  it("shares the context of the test case that calls it", async () => {
    await save("part", [go("/storage"), click("Log in"), sees("Log in")]);
    await save("whole", [{ type: "call_testcase", testcase: "part" }, go("/storage"), sees(loggedIn)]);
    expect((await run("whole")).structured).toMatchObject({ status: "passed" });
  });

  it("is refused when its start contradicts itself or names no test case", async () => {
    const refusal = async (more: Given) => {
      const testcase = { name: "wrong", ...chain([sees("x")]), ...more };
      return (await anna.call("save_testcase", { testcase })).error;
    };
    expect((await refusal({ setup: "nobody" }))?.message).toContain("no test case");
    expect((await refusal({ fresh: false, storage_state: "ada" }))?.message).toContain("fresh");
    expect((await refusal({ setup: "part", storage_state: "ada" }))?.message).toContain("not both");
  });

  it("is shown in the holder's recording, which goes on after it", async () => {
    await act("navigate_to_url", { url: `${site.url}/form` });
    const { recording_id } = (await anna.call("start_recording", { device_id: "web" })).structured;
    await save("recorded", [go("/second"), sees("Second")]);
    expect((await run("recorded")).structured).toMatchObject({ status: "passed" });
    await act("click_element", { selector: "Agree" });
    const stopped = await anna.call("stop_recording", { recording_id });
    expect(stopped.structured).toMatchObject({ ended: "stopped" });
    expect(stopped.structured).not.toHaveProperty("lost");
  });
});

describe("a test case with an app", () => {
  it("knows no position of what ran before, and gives the holder's back", async () => {
    const ui = { userinterface_name: "shop" };
    await anna.call("create_userinterface", { name: "shop", app: { url: `${site.url}/form` } });
    await anna.call("create_node", { ...ui, label: "Start", type: "entry" });
    const check = (text: string) => [{ command: "text_visible", params: { text } }];
    await anna.call("create_node", { ...ui, label: "Form", verifications: check("Agree") });
    const actions = [{ command: "navigate_to_url", params: { url: "{{app.url}}" } }];
    const edge = { source: "Start", target: "Form", action_sets: [{ id: "go", actions }] };
    expect((await anna.call("create_edge", { ...ui, ...edge })).error).toBeUndefined();
    const arrived = await anna.call("navigate_to_node", { ...ui, node: "Form", session_id });
    expect(arrived.error).toBeUndefined();
    await save("goes to the form", [{ type: "navigation", target: "Form" }], ui);
    const before = site.requests.length;
    expect((await run("goes to the form")).structured).toMatchObject({ status: "passed" });
    expect(site.requests.slice(before)).toContain("GET /form");
    const position = await product.services.navigation.position(
      await product.services.devices.open(product.services.devices.find("web"), new AbortController().signal),
      { userinterface_name: "shop", identify: false },
      new AbortController().signal,
    );
    expect(position).toMatchObject({ node: "Form", source: "tracked" });
  });
});

describe("labwright run", () => {
  const connection: RunConnection = {
    async call(name, args) {
      const { error, structured } = await anna.call(name, args);
      return error ? { ok: false, error } : { ok: true, structured };
    },
    artifact: () => Promise.reject(new Error("no report was asked for")),
  };
  const statuses = async (more: Partial<RunOptions>) => {
    let printed = "";
    const testcases = ["leaves a login", "sees no login"];
    await runTestcases({ testcases, inputs: [], repeat: 1, ...more }, connection, {
      out: (text) => {
        printed += text;
      },
      err: () => {},
      cwd: product.config.data_dir,
      signal: new AbortController().signal,
    });
    return printed.match(/(?<=^\[\d\/\d\] )(passed|failed|error)/gm);
  };

  it("starts each test case fresh, and chains them with --keep", async () => {
    await save("leaves a login", [go("/storage"), click("Log in"), sees("Log in")]);
    await save("sees no login", [go("/storage"), sees(loggedOut)]);
    expect(await statuses({})).toEqual(["passed", "passed"]);
    expect(await statuses({ keep: true })).toEqual(["passed", "failed"]);
  });
});
