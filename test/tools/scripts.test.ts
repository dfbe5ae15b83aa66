import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { hasSandbox, sleepers } from "../fixtures/sandbox.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";
import { chain } from "../services/apps/testcases/testcaseBench.ts";

const yaml = `
devices: [{ name: box, model: simulated }, { name: other, model: simulated }, { name: browser, model: web }]
unsafe: { script_needs: [save_testcase, other_devices] }
limits: { script_memory_mb: 256, script_processes: 32, script_ms: 120000 }`;
const within = { timeout: 20_000 };

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct(yaml, { PIN: "4711-secret" });
  client = await product.connect();
  mkdirSync(product.config.folders.scripts, { recursive: true });
  await client.call("import_userinterface", { yaml: boxYaml("box") });
});
afterAll(() => product.dispose());
// Whoever holds no device takes the one they name.
beforeEach(async () => void (await client.call("release_control", { device_id: "box" })));

const script = (name: string, text: string) =>
  writeFileSync(join(product.config.folders.scripts, name), text);
const execute = (args: Record<string, unknown>) =>
  client.call("execute_script", { device_id: "box", ...args });
const stepsOf = async (reply: { structured: Record<string, unknown> }) =>
  (await product.services.executions.get(z.string().parse(reply.structured.execution_id))).steps;

test("list_scripts names the user's scripts and the shipped ones, with what each says of itself", async () => {
  script("check.py", "#!/usr/bin/env python3\n# Checks the box\n");
  script("doc.py", '"""Says so in its docstring."""\n');
  script("zap.mjs", "// Zaps\n");
  script("plain.sh", "#!/bin/bash\necho\n");
  script("notes.txt", "not a script");
  symlinkSync("/etc/passwd", join(product.config.folders.scripts, "linked.py"));
  const { structured } = await client.call("list_scripts");
  const { scripts } = z.object({ scripts: z.array(z.record(z.string(), z.unknown())) }).parse(structured);
  expect(scripts).toContainEqual({ name: "check.py", language: "python", description: "Checks the box" });
  expect(scripts).toContainEqual({
    name: "doc.py",
    language: "python",
    description: "Says so in its docstring.",
  });
  expect(scripts).toContainEqual({ name: "zap.mjs", language: "node", description: "Zaps" });
  expect(scripts).toContainEqual({ name: "plain.sh", language: "bash" });
  expect(scripts).toContainEqual({
    ...{ name: "goto.py", language: "python", shipped: true },
    description: expect.stringContaining("screen"),
  });
  const names = scripts.map(({ name }) => name);
  expect(names).not.toContain("notes.txt");
  expect(names).not.toContain("linked.py");

  script("goto.py", "# Mine\n");
  const own = await client.call("list_scripts");
  expect(own.structured.scripts).toContainEqual({ name: "goto.py", language: "python", description: "Mine" });
  const short = await client.call("list_scripts", { max_tokens: 50 });
  const { scripts: few, more } = z
    .object({ scripts: z.array(z.unknown()), more: z.int() })
    .parse(short.structured);
  expect(few.length + more).toBe(scripts.length);
});

test("execute_script refuses what it cannot run, before anything runs", async () => {
  script("check.py", "print(1)\n");
  script("twice.py", "");
  script("twice.sh", "");
  const refused: [Record<string, unknown>, string, string][] = [
    [{ script: "chekc.py" }, "SCRIPT_NOT_FOUND", "check.py"],
    [{ script: "../labwright.yaml" }, "SCRIPT_NOT_FOUND", "../labwright.yaml"],
    [{ script: "/etc/passwd" }, "SCRIPT_NOT_FOUND", "/etc/passwd"],
    [{ script: "twice" }, "AMBIGUOUS", "twice"],
    [{}, "INVALID_INPUT", "script: is missing"],
    [{ script: "check.py", args: "a b" }, "INVALID_INPUT", "args"],
    [{ script: "check.py", argz: [] }, "INVALID_INPUT", "argz is called args"],
    [{ script: "check.py", device_id: "bxo" }, "DEVICE_NOT_FOUND", "bxo"],
    [{ execution_id: "x1" }, "INVALID_INPUT", 'get_execution_status {"execution_id":"x1","wait_ms":45000}'],
  ];
  for (const [args, code, part] of refused) {
    const { error } = await execute(args);
    expect(error, JSON.stringify(args)).toMatchObject({ code });
    expect(`${error?.message} ${error?.hint}`).toContain(part);
  }
  const { structured } = await client.call("get_execution_results", { kind: "script" });
  expect(structured).toMatchObject({ counts: {}, executions: [] });
});

test("diagnose says whether scripts can be run", async () => {
  const { structured } = await client.call("diagnose");
  expect(structured.findings).toContainEqual(
    expect.objectContaining({ what: "sandbox for scripts", status: hasSandbox ? "ok" : "warning" }),
  );
});

describe.runIf(hasSandbox)("execute_script", () => {
  test("gives back exit code, result and end of the log; arguments arrive as they are, secrets are masked", async () => {
    script("args.py", "import sys\nprint(sys.argv[1:])\nprint('pin 4711-secret')\nsys.exit(3)\n");
    const args = ["a b", "$(id)", "{{secret.PIN}}"];
    const reply = await execute({ script: "args.py", args });
    expect(reply.structured).toMatchObject({
      status: "failed",
      reason: { code: "SCRIPT_FAILED", message: expect.stringContaining("exit code 3") },
      exit_code: 3,
      verified_count: 0,
      log_tail: "['a b', '$(id)', '{{secret.PIN}}']\npin [secret PIN]",
    });
    const [step] = await stepsOf(reply);
    expect(step).toMatchObject({ kind: "script", status: "failed", input: { args } });
    const uri = step?.artifacts.find(({ kind }) => kind === "log")?.uri ?? "";
    const { bytes } = await product.artifacts.get(uri.replace("artifact://", ""));
    expect(Buffer.from(bytes).toString()).toBe("['a b', '$(id)', '{{secret.PIN}}']\npin [secret PIN]");
  });

  test.each([
    [
      "last.sh",
      `echo before; echo '{"labwright": {"status": "passed", "outputs": {"n": 5}}}'`,
      "passed",
      { n: 5 },
    ],
    [
      "file.sh",
      `echo '{"labwright": {"status": "failed", "message": "no"}}' > $LABWRIGHT_RESULT`,
      "failed",
      undefined,
    ],
    ["plain.sh", "true", "passed", undefined],
    ["lies.sh", `echo '{"labwright": {"status": "passed"}}'; exit 1`, "failed", undefined],
    ["broken.sh", `echo '{"labwright": {"status": "perhaps"}}'`, "error", undefined],
    ["killed.sh", "kill -SEGV $$", "error", undefined],
  ])("judges %s by what it says and how it ends", async (name, text, status, outputs) => {
    script(name, `${text}\n`);
    const { structured } = await execute({ script: name });
    expect(structured).toMatchObject({ status, ...(outputs && { outputs }) });
    if (status !== "passed") expect(structured).toMatchObject({ reason: { code: "SCRIPT_FAILED" } });
  });

  const python = `
import labwright
labwright.call("execute_device_action", actions=[{"command": "press_key", "params": {"key": "HOME"}}])
check = labwright.call("verify_device_state", checks=[{"command": "text_visible", "params": {"text": "Welcome home"}}])
try:
    labwright.call("navigate_to_node", userinterface_name="box", node="Nowhere")
except labwright.LabwrightError as error:
    labwright.result("passed" if check["pass"] else "failed", code=error.code, hint=error.hint != "")
`;
  const node = `
const { call, result } = await import(process.env.LABWRIGHT_CLIENT);
await call("execute_device_action", { actions: [{ command: "press_key", params: { key: "HOME" } }] });
const check = await call("verify_device_state", { checks: [{ command: "text_visible", params: { text: "Welcome home" } }] });
await call("navigate_to_node", { userinterface_name: "box", node: "Nowhere" }).catch((error) =>
  result(check.pass ? "passed" : "failed", { outputs: { code: error.code, hint: error.hint !== "" } }));
`;
  const bash = `
labwright call execute_device_action --json '{"actions": [{"command": "press_key", "params": {"key": "HOME"}}]}' > /dev/null || exit 1
labwright call verify_device_state checks='[{"command": "text_visible", "params": {"text": "Welcome home"}}]' | grep -q '"pass": true' || exit 1
labwright call navigate_to_node userinterface_name=box node=Nowhere 2> /tmp/error && exit 1
code=$(head -c 14 /tmp/error)
echo '{"labwright": {"status": "passed", "outputs": {"code": "'$code'", "hint": true}}}'
`;
  test.each([
    ["act.py", python],
    ["act.mjs", node],
    ["act.sh", bash],
  ])("lets %s act on its device, and records what it did as steps of its run", async (name, text) => {
    script(name, text);
    const reply = await execute({ script: name });
    expect(reply.structured).toMatchObject({
      status: "passed",
      verified_count: 1,
      outputs: { code: "NODE_NOT_FOUND", hint: true },
    });
    const steps = await stepsOf(reply);
    expect(steps.map(({ kind, label, status }) => [kind, label, status])).toEqual([
      ["tool", "execute_device_action", "passed"],
      ["tool", "verify_device_state", "passed"],
      ["tool", "navigate_to_node box Nowhere", "error"],
      ["script", name, "passed"],
    ]);
  });

  test("a run's report and its whole log, secrets masked, are linked, also of one that passed", async () => {
    script("says.py", 'import os\nprint("the word is " + os.environ.get("NOTHING", "blue"))\n');
    const { raw, structured } = await execute({ script: "says.py" });
    expect(structured.status).toBe("passed");
    const links = raw.content.flatMap((content) => (content.type === "resource_link" ? [content] : []));
    expect(links.map(({ name }) => name)).toEqual(["report.html", "log.txt"]);
    const [report, log] = await Promise.all(
      links.map(async ({ uri }) =>
        Buffer.from((await product.artifacts.get(uri.slice(11))).bytes).toString(),
      ),
    );
    expect(report).toContain("says.py");
    expect(log).toContain("the word is blue");
    const running = await execute({ script: "says.py", wait_ms: 0 });
    if (running.structured.status === "running") expect(running.raw.content).toHaveLength(1);
  });

  test("a run that a script starts is a part of its run, and ends with it", async () => {
    script(
      "runs.py",
      'import labwright\na = labwright.run("navigate_to_node", userinterface_name="box", node="Movies")\nlabwright.result("passed", inner=a["execution_id"])\nlabwright.call("validate_navigation", userinterface_name="box", wait_ms=0)\n',
    );
    const { structured } = await execute({ script: "runs.py", userinterface_name: "box" });
    const { execution_id, outputs } = z
      .object({
        execution_id: z.string(),
        outputs: z.object({ inner: z.string() }),
        status: z.literal("passed"),
      })
      .parse(structured);
    const own = (await product.services.executions.get(execution_id)).execution;
    const inner = (await product.services.executions.get(outputs.inner)).execution;
    expect(inner).toMatchObject({ status: "passed", correlation_id: own.correlation_id });
    const left = await client.call("get_execution_results", { kind: "validation" });
    expect(JSON.stringify(left.structured)).toContain("cancelled");
    expect(product.services.executions.running()).toBe(0);
  });

  test("counts the checks of a run that it waits for once, and of a run that it did not start never", async () => {
    script(
      "waits.py",
      `# labwright needs: save_testcase
import labwright, sys
def ended(id):
    return labwright.call("get_execution_status", execution_id=id, wait_ms=60000)["status"]
ended(sys.argv[1])
testcase = {"name": "sees home", "steps": ["press HOME", "check text 'Welcome home'"]}
labwright.call("save_testcase", testcase=testcase)
for tool, args in [("navigate_to_node", {"userinterface_name": "box", "node": "Movies"}), ("execute_testcase", {"testcase": "sees home"})]:
    id = labwright.call(tool, wait_ms=0, **args)["execution_id"]
    labwright.call("get_execution_status", execution_id=id)
    assert ended(id) == ended(id) == "passed"
labwright.result("passed")
`,
    );
    const home = { device_id: "box", userinterface_name: "box", node: "Home" };
    const before = (await client.call("navigate_to_node", home)).structured;
    expect(before).toMatchObject({ status: "passed", verified: true });
    const args = [before.execution_id];
    const { structured, text } = await execute({ script: "waits.py", args, userinterface_name: "box" });
    expect(structured, text).toMatchObject({ status: "passed", verified_count: 2 });
  });

  test("refuses a script what its run stands on, and says why", async () => {
    script(
      "refused.py",
      `
import os, labwright
for tool, args in [("execute_script", {"script": "args.py"}), ("create_deployment", {}), ("release_control", {}),
                   ("cancel_execution", {"execution_id": os.environ["LABWRIGHT_EXECUTION_ID"]}), ("no_such_tool", {})]:
    try:
        labwright.call(tool, **args)
        print(tool, "was done")
    except labwright.LabwrightError as error:
        print(tool, error.code)
labwright.result("failed", "look")
`,
    );
    const { structured } = await execute({ script: "refused.py" });
    expect(structured.log_tail).toBe(
      "execute_script INVALID_INPUT\ncreate_deployment INVALID_INPUT\nrelease_control INVALID_INPUT\ncancel_execution INVALID_INPUT\nno_such_tool TOOL_NOT_FOUND",
    );
    expect(structured.reason).toEqual({ code: "SCRIPT_FAILED", message: "look" });
  });

  /** Prints what came of calls to tools that a script has no right to by itself. */
  const tries = (head: string) => `${head}
import labwright, sys
def tried(tool, **args):
    try:
        labwright.call(tool, **args)
        print(tool, "was done")
    except labwright.LabwrightError as error:
        print(tool, error.code, error.message.split("lacks the ")[-1] if error.code == "POLICY_DENIED" else "-")
tried("delete_testcase", testcase="kept", confirm=True)
tried("save_testcase", testcase={"name": "made by a script", "steps": ["check text 'Welcome home'"]})
tried("update_requirement", requirement="R1", status="approved")
tried("workspace_files", operation="write", path="x.txt", content="x")
tried("capture_screenshot", device_id="other")
tried("dump_ui_elements", session_id=sys.argv[1])
tried("take_control", device_id="box", force="true")
tried("get_task_context", device_ids='["other"]')
tried("take_control")
tried("cancel_execution", execution_id=sys.argv[2])
tried("stop_recording", recording_id=sys.argv[3])
tried("list_hosts")
`;
  test("gives a script no more than reading, testing and its own device, unless it asks and the configuration allows", async () => {
    const stranger = await product.connect({ client: "stranger" });
    onTestFinished(async () => void (await stranger.call("release_control", { device_id: "other" })));
    const other = (await stranger.call("take_control", { device_id: "other" })).structured.session_id;
    const kept = { testcase: { name: "kept", steps: ["check text 'Welcome home'"] } };
    expect((await client.call("save_testcase", kept)).error).toBeUndefined();
    const home = { session_id: other, userinterface_name: "box", node: "Home" };
    const { execution_id } = (await stranger.call("navigate_to_node", home)).structured;
    const { recording_id } = (await stranger.call("start_recording", { device_id: "browser" })).structured;
    const stop = () => stranger.call("stop_recording", { recording_id });
    onTestFinished(async () => void (await stop()));
    const args = [other, execution_id, recording_id];
    const logOf = async (name: string) =>
      String((await execute({ script: name, args })).structured.log_tail ?? "").split("\n");

    script("asks.py", `${tries("# Tries what it may not")}sys.exit(1)\n`);
    const denied = (name: string) => `POLICY_DENIED permission ${name}.`;
    expect(await logOf("asks.py")).toEqual([
      `delete_testcase ${denied("delete_testcase")}`,
      `save_testcase ${denied("save_testcase")}`,
      `update_requirement ${denied("update_requirement")}`,
      `workspace_files ${denied("workspace_files")}`,
      `capture_screenshot ${denied("other_devices")}`,
      `dump_ui_elements ${denied("other_devices")}`,
      `take_control ${denied("force")}`,
      `get_task_context ${denied("other_devices")}`,
      `take_control ${denied("other_devices")}`,
      "cancel_execution INVALID_INPUT -",
      "stop_recording INVALID_INPUT -",
      "list_hosts was done",
    ]);

    script(
      "needs.py",
      `${tries("# labwright needs: save_testcase, delete_testcase, other_devices, force")}sys.exit(1)\n`,
    );
    const lines = await logOf("needs.py");
    expect(lines.slice(0, 2)).toEqual([
      `delete_testcase ${denied("delete_testcase")}`,
      "save_testcase was done",
    ]);
    expect(lines[4]).toBe("capture_screenshot was done");
    expect(lines[6]).toBe(`take_control ${denied("force")}`);
    expect((await client.call("load_testcase", { testcase: "kept" })).error).toBeUndefined();
    const { scripts } = (await client.call("list_scripts")).structured;
    expect(scripts).toContainEqual(
      expect.objectContaining({
        ...{ name: "needs.py", needs: ["save_testcase", "delete_testcase", "other_devices", "force"] },
      }),
    );
    expect((await stop()).error).toBeUndefined();
    const stops = `labwright.call("stop_recording", recording_id=labwright.call("start_recording")["recording_id"])`;
    script("records.py", `import labwright\n${stops}\nlabwright.result("passed")\n`);
    const { structured, text } = await execute({ script: "records.py", device_id: "browser" });
    expect(structured, text).toMatchObject({ status: "passed" });
  });

  test("a test that a script runs cannot run scripts in turn", async () => {
    script("again.py", 'import labwright\nprint(labwright.call("execute_testcase", testcase="scripted"))\n');
    const testcase = { name: "scripted", ...chain([{ id: "again", type: "script", script: "again.py" }]) };
    expect((await client.call("save_testcase", { testcase })).error).toBeUndefined();
    const { structured } = await execute({ script: "again.py" });
    expect(structured).toMatchObject({ status: "passed" });
    const inner = await client.call("get_execution_results", { kind: "testcase", name: "scripted" });
    expect(JSON.stringify(inner.structured)).toContain("INVALID_INPUT");
  });

  test("uses the lease of its caller, and no other client drives the device meanwhile", async () => {
    const control = await client.call("take_control", { device_id: "other" });
    const { session_id } = control.structured;
    script(
      "device.sh",
      `echo "{\\"labwright\\": {\\"status\\": \\"passed\\", \\"outputs\\": {\\"at\\": \\"$LABWRIGHT_DEVICE_ID\\", \\"by\\": \\"$LABWRIGHT_SESSION_ID\\"}}}"`,
    );
    const { structured } = await client.call("execute_script", { script: "device.sh", session_id });
    expect(structured).toMatchObject({ outputs: { at: "lab/other", by: session_id } });
    const stranger = await product.connect({ client: "stranger" });
    const held = await stranger.call("execute_script", { script: "device.sh", device_id: "other" });
    expect(held.error).toMatchObject({ code: "DEVICE_HELD" });
    await client.call("release_control", { session_id });
  });

  test("goes on without its caller, says its lines as progress, and cancel_execution ends the whole tree", async () => {
    script("long.sh", "echo started; setsid sleep 8151 & sleep 8151 & wait\n");
    const started = await execute({ script: "long.sh", wait_ms: 0 });
    const { execution_id } = started.structured;
    expect(started.structured).toMatchObject({ status: "running" });
    await expect.poll(() => sleepers(8151).length, within).toBe(2);
    const lines: string[] = [];
    const cancelled = await Promise.all([
      client.client.callTool(
        { name: "get_execution_status", arguments: { execution_id, wait_ms: 45_000 } },
        { onprogress: ({ message }) => void lines.push(message ?? "") },
      ),
      client.call("cancel_execution", { execution_id }),
    ]);
    expect(cancelled[1].structured).toMatchObject({ status: "cancelled" });
    expect(cancelled[0].structuredContent).toMatchObject({ execution_id, status: "cancelled" });
    expect(cancelled[0].content).toContainEqual(expect.objectContaining({ name: "report.html" }));
    expect(lines.join()).toContain("started");
    await expect.poll(() => sleepers(8151), within).toEqual([]);
    const { steps } = await product.services.executions.get(z.string().parse(execution_id));
    expect(steps.at(-1)).toMatchObject({ kind: "script", status: "cancelled", artifacts: [{ kind: "log" }] });
  });
});
