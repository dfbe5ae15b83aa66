import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type FoundSandbox, findSandbox } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRegistry } from "#mcp-server/registry/registry.ts";
import { createCallTool } from "#mcp-server/server/call/callTool.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { createScripts } from "#mcp-server/services/runs/scripts/index.ts";
import { readSaid, ScriptLog, verdictOf } from "#mcp-server/services/runs/scripts/verdict.ts";
import { packageFolder } from "#mcp-server/storage/engine/packageFolder.ts";
import { tools } from "#mcp-server/tools/index.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { memoryCalls } from "../../../fixtures/client.ts";
import { openProduct, type Product } from "../../../fixtures/product.ts";
import { hasSandbox, sleepers } from "../../../fixtures/sandbox.ts";
import { silentObserver } from "../../../fixtures/silentObserver.ts";

let product: Product;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  mkdirSync(product.config.folders.scripts, { recursive: true });
});
afterAll(() => product.dispose());

const none: FoundSandbox = { ok: false, reason: "bubblewrap is not installed", fix: "Install it" };

/** Scripts on a host without a sandbox. */
function scriptsWithout(
  allowed: boolean,
  more: { runsFolder?: string; findSandbox?: typeof findSandbox } = {},
) {
  const registry = createRegistry(tools);
  const { services } = product;
  const shipped = join(packageFolder(), "scripts");
  return createScripts({
    ...services,
    folders: { own: product.config.folders.scripts, shipped },
    clients: join(shipped, "clients"),
    limits: { memoryMb: 256, processes: 32 },
    timeoutMs: 60_000,
    withoutSandbox: allowed,
    findSandbox: async () => none,
    ...more,
    runsFolder: join(product.config.data_dir, "runs"),
    allowedNeeds: [],
    tools: () => ({
      find: registry.find,
      calls: createCallTool({
        registry,
        services,
        observe: silentObserver,
        calls: memoryCalls(async () => undefined),
        clock: systemClock,
      }),
    }),
  });
}
const script = (name: string, text: string) =>
  writeFileSync(join(product.config.folders.scripts, name), text);
const request = { device_id: "box", args: [], wait_ms: 30_000 };

describe("without a sandbox", () => {
  it("nothing runs, and the error says why, what to install, and which setting allows it", async () => {
    script("a.sh", "touch /tmp/never\n");
    await expect(
      scriptsWithout(false).execute({ ...request, script: "a.sh" }, callContext()),
    ).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringContaining("bubblewrap is not installed"),
      hint: expect.stringMatching(/Install it.*unsandboxed_scripts/),
    });
  });

  it("the setting that allows it runs them with the same result, calls and environment", async () => {
    process.env.LABWRIGHT_TEST_LEAK = "leak";
    script(
      "look.py",
      'import labwright, os\nlabwright.call("verify_device_state", checks=[{"command": "text_visible", "params": {"text": "Welcome"}}])\nlabwright.result("passed", leak=os.environ.get("LABWRIGHT_TEST_LEAK"), at=os.environ["LABWRIGHT_SOCKET"])\n',
    );
    const reply = await scriptsWithout(true).execute({ ...request, script: "look" }, callContext());
    delete process.env.LABWRIGHT_TEST_LEAK;
    expect(reply).toMatchObject({ status: "passed", verified_count: 1, outputs: { leak: null } });
    expect(String(reply.outputs?.at)).toContain(join(product.config.data_dir, "runs"));
  });

  it("a result that the script has made a link or a pipe is not read", async () => {
    const secret = join(product.config.data_dir, "secret.json");
    writeFileSync(secret, '{"labwright": {"status": "passed", "outputs": {"stolen": true}}}');
    for (const [name, make] of [
      ["link.sh", `ln -sf ${secret} "$LABWRIGHT_RESULT"`],
      ["pipe.sh", 'rm "$LABWRIGHT_RESULT" && mkfifo "$LABWRIGHT_RESULT"'],
    ] as const) {
      script(name, `${make}\n`);
      const reply = await scriptsWithout(true).execute({ ...request, script: name }, callContext());
      expect(reply).toMatchObject({ status: "error", reason: { code: "SCRIPT_FAILED" } });
      expect(reply.outputs).toBeUndefined();
    }
  });

  it("what a script started is ended with it when it is cancelled", async () => {
    script("tree.sh", "setsid sleep 8161 & sleep 8161 & wait\n");
    const scripts = scriptsWithout(true);
    const { execution_id } = await scripts.execute(
      { ...request, script: "tree.sh", wait_ms: 0 },
      callContext(),
    );
    await expect.poll(() => sleepers(8161).length, { timeout: 20_000 }).toBe(2);
    expect(await product.services.executions.cancel(execution_id, "the test")).toMatchObject({
      status: "cancelled",
    });
    await expect.poll(() => sleepers(8161), { timeout: 20_000 }).toEqual([]);
  });
});

it.runIf(hasSandbox)("runs in a data directory whose path is longer than a socket's may be", async () => {
  const runsFolder = join(product.config.data_dir, "deep".repeat(40));
  script("hosts.sh", "labwright call list_hosts > /dev/null\n");
  const scripts = scriptsWithout(false, { runsFolder, findSandbox });
  const reply = await scripts.execute({ ...request, script: "hosts.sh" }, callContext());
  expect(reply).toMatchObject({ status: "passed" });
});

it("a log past its end counts lines, and its last line of output still is the result", async () => {
  const said = '{"labwright": {"status": "failed", "message": "at last"}}';
  const log = new ScriptLog(() => undefined);
  const flood = "y\n".repeat(30_000);
  log.read(
    Readable.from([...Array<string>(40).fill(flood), `${said}\n\n`].map((text) => Buffer.from(text))),
    true,
  );
  await expect.poll(() => log.lastOutput).toBe(said);
  const lines = 40 * 30_000 + 2;
  const kept = log.whole.split("\n").length - 1;
  expect(log.whole.split("\n").at(-1)).toBe(`[${lines - kept} more lines are not kept]`);
  expect(kept).toBeGreaterThan(400_000);
});

describe("a script's verdict", () => {
  const passed = '{"labwright": {"status": "passed", "outputs": {"n": 1}}}';
  const exit = (code: number) => ({ code, signal: null });

  it("is what the file says, else what the last line says, else the exit code", () => {
    const failed = '{"labwright": {"status": "failed", "message": "no"}}';
    expect(verdictOf(exit(0), readSaid(failed, passed), "")).toMatchObject({
      status: "failed",
      message: "no",
    });
    expect(verdictOf(exit(0), readSaid("", passed), "")).toEqual({ status: "passed", outputs: { n: 1 } });
    expect(verdictOf(exit(0), readSaid("", "the end"), "")).toEqual({ status: "passed", outputs: {} });
    expect(verdictOf(exit(2), readSaid("", "the end"), "")).toMatchObject({ status: "failed" });
  });

  it("is never passed when the script ended otherwise than with 0, or said something that cannot be read", () => {
    expect(verdictOf(exit(1), readSaid(passed, ""), "")).toMatchObject({ status: "failed" });
    expect(verdictOf(exit(139), readSaid(passed, ""), "")).toMatchObject({
      status: "error",
      reason: { code: "SCRIPT_FAILED", message: expect.stringContaining("signal 11") },
    });
    for (const bad of [
      '{"labwright"',
      '{"labwright": {"status": "ok"}}',
      '{"labwright": {"status": "passed", "x": 1}}',
    ])
      expect(verdictOf(exit(0), readSaid(bad, ""), "")).toMatchObject({ status: "error" });
  });

  it.each([
    ["MemoryError", "OUT_OF_MEMORY"],
    ["FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "OUT_OF_MEMORY"],
    ["bash: fork: retry: Resource temporarily unavailable", "INSUFFICIENT_RESOURCES"],
    ["OSError: [Errno 28] No space left on device", "INSUFFICIENT_RESOURCES"],
  ])("names the limit that its log tells of: %s", (line, code) => {
    expect(verdictOf(exit(1), {}, `before\n${line}`)).toMatchObject({ status: "error", reason: { code } });
    expect(verdictOf(exit(0), {}, line)).toMatchObject({ status: "passed" });
  });
});
