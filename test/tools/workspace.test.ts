import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FoundSandbox } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWorkspace } from "#mcp-server/services/runs/workspace/index.ts";
import { callContext } from "../fixtures/callContext.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { hasSandbox, sleepers } from "../fixtures/sandbox.ts";

const outside = mkdtempSync(join(tmpdir(), "labwright-outside-"));
/** The limit on what a program writes counts what reaches a disk, and the temporary folder may be in memory. */
const onDisk = mkdtempSync("/var/tmp/labwright-workspace-");
const runsFolder = join(onDisk, "runs");
const yaml = `
devices: [{ name: box, model: simulated }]
folders: { workspace: "${join(onDisk, "workspace")}" }
limits: { script_memory_mb: 256, script_processes: 32 }`;

let product: Product;
let client: TestClient;
let folder: string;
beforeAll(async () => {
  writeFileSync(join(outside, "secret.txt"), "not yours");
  product = await openProduct(yaml, { PIN: "4711-secret" });
  client = await product.connect();
  folder = product.config.folders.workspace;
});
afterAll(async () => {
  await product.dispose();
  for (const made of [outside, onDisk]) rmSync(made, { recursive: true });
});

const files = (args: Record<string, unknown>) => client.call("workspace_files", args);
const run = (language: string, code: string, args: Record<string, unknown> = {}) =>
  client.call("execute_code", { language, code, ...args });

test("code needs either text or a file of the workspace", async () => {
  for (const [args, code] of [
    [{ language: "bash" }, "INVALID_INPUT"],
    [{ language: "bash", code: "true", file: "x.sh" }, "INVALID_INPUT"],
    [{ language: "bash", file: "missing.sh" }, "FILE_NOT_FOUND"],
    [{ language: "bash", file: "../x.sh" }, "PATH_DENIED"],
    [{ language: "ruby", code: "puts 1" }, "INVALID_INPUT"],
    [{ language: "bash", code: "true", timeout_ms: 0 }, "INVALID_INPUT"],
  ] as const)
    expect((await client.call("execute_code", args)).error, JSON.stringify(args)).toMatchObject({ code });
});

test("without a sandbox nothing runs, and files work all the same", async () => {
  const limits = { memoryMb: 256, processes: 32, timeoutMs: 60_000 };
  const none: FoundSandbox = { ok: false, reason: "bubblewrap is not installed", fix: "Install it" };
  const workspace = createWorkspace({
    ...product.services,
    folder,
    runsFolder,
    limits,
    findSandbox: async () => none,
  });
  const request = { args: [], timeout_ms: 5_000 };
  const refused = { code: "SANDBOX_UNAVAILABLE", message: expect.stringContaining("not installed") };
  await expect(
    workspace.execute({ ...request, language: "bash", code: "touch ran" }, callContext()),
  ).rejects.toMatchObject(refused);
  await expect(workspace.test({ ...request, runner: "pytest" }, callContext())).rejects.toMatchObject(
    refused,
  );
  const file = { path: "plain.py", confirm: false, max_tokens: 100 };
  expect(await workspace.files({ ...file, operation: "write", content: "x = (" }, callContext())).toEqual({
    ...{ path: "plain.py", created: true, bytes: 5 },
  });
  expect(readdirSync(folder)).not.toContain("ran");
});

test.runIf(hasSandbox && process.getuid?.() === 0)(
  "a folder closed to the user of the sandbox is named with what opens it",
  async () => {
    const closed = join(onDisk, "closed");
    mkdirSync(closed, { recursive: true, mode: 0o700 });
    const own = { folder: closed, limits: { memoryMb: 256, processes: 32, timeoutMs: 60_000 } };
    const workspace = createWorkspace({ ...product.services, runsFolder, ...own });
    const request = { args: [], timeout_ms: 5_000, language: "bash", code: "true" } as const;
    const refused = { code: "STORAGE_FAILED", hint: expect.stringContaining(`chmod 711 ${closed}`) };
    await expect(workspace.execute(request, callContext())).rejects.toMatchObject(refused);
    chmodSync(closed, 0o711);
    expect(await workspace.execute(request, callContext())).toMatchObject({ exit_code: 0 });
  },
);

describe.runIf(hasSandbox)("execute_code", () => {
  test.each([
    [
      "python",
      "import sys; print(sys.argv[1:], sys.stdin.read()); print('oops', file=sys.stderr); sys.exit(3)",
    ],
    [
      "node",
      `const [a, b] = process.argv.slice(2); process.stdin.setEncoding('utf8').on('data', (text) => { console.log("['" + a + "', '" + b + "'] " + text); console.error('oops'); process.exitCode = 3; });`,
    ],
    ["bash", "echo \"['$1', '$2'] $(cat)\"; echo oops >&2; exit 3"],
  ])("runs %s with its arguments and input, and gives its exit code and both outputs", async (language, code) => {
    const { structured } = await run(language, code, { args: ["a b", "$(id)"], stdin: "in" });
    expect(structured).toEqual({
      status: "failed",
      reason: { code: "SCRIPT_FAILED", message: "The program ended with exit code 3." },
      exit_code: 3,
      duration_ms: expect.any(Number),
      stdout: "['a b', '$(id)'] in\n",
      stderr: "oops\n",
    });
    expect((await run(language, language === "bash" ? "true" : "1")).structured).toMatchObject({
      status: "completed",
      exit_code: 0,
    });
    expect(readdirSync(folder).filter((name) => name.startsWith(".inline"))).toEqual([]);
  });

  test("keeps files from one run to the next, and imports what is in the workspace", async () => {
    await files({ operation: "write", path: "lib/sum.mjs", content: "export const sum = (a, b) => a + b;" });
    await files({ operation: "write", path: "helper.py", content: "def twice(n):\n    return 2 * n\n" });
    const node = await run("node", "import { sum } from './lib/sum.mjs'; console.log(sum(1, 2));");
    expect(node.structured).toMatchObject({ status: "completed", stdout: "3\n" });
    expect((await run("python", "import helper; print(helper.twice(4))")).structured.stdout).toBe("8\n");
    await run(
      "python",
      "import os, tempfile\nfd, name = tempfile.mkstemp(dir='.')\nos.write(fd, b'kept')\nos.rename(name, 'kept.txt')",
    );
    expect(
      (await run("bash", "cat kept.txt; echo more >> kept.txt; echo again >> lib/sum.mjs")).structured,
    ).toMatchObject({
      status: "completed",
      stdout: "kept",
    });
    expect((await files({ operation: "read", path: "kept.txt" })).structured.content).toBe("keptmore\n");
    await files({ operation: "write", path: "bin/tool.sh", content: 'echo "tool $1"' });
    const tool = await client.call("execute_code", {
      language: "bash",
      file: "/workspace/bin/tool.sh",
      args: ["x"],
    });
    expect(tool.structured.stdout).toBe("tool x\n");
  });

  test("shows the end of a long output, and how much went before", async () => {
    const { structured } = await run("python", "print('x' * 10_000); print('the end')");
    expect(structured).toMatchObject({ cut: 10_009 - 4_000, stdout: expect.stringMatching(/x\nthe end\n$/) });
  });

  test("a flood of output is cut as it comes and holds no other call, and code has no way to our tools", async () => {
    const ways = "env | grep -i labwright; find / -type s 2>/dev/null";
    const flood = run("bash", `touch flooding; yes | head -c 100M; ${ways}; echo over`);
    await expect.poll(() => readdirSync(folder)).toContain("flooding");
    const first = await Promise.race([flood, files({ operation: "list" })]);
    expect(first.structured).toHaveProperty("entries");
    const { structured } = await flood;
    expect(structured).toMatchObject({ status: "completed", cut: 100 * 1_048_576 + 5 - 4_000 });
    expect(structured.stdout).toMatch(/^[y\n]+over\n$/);
    rmSync(join(folder, "flooding"));
  });

  test.each([
    ["python", "print(open('/etc/passwd').read())", "PATH_DENIED"],
    ["node", "console.log(require('node:fs').readFileSync('/etc/passwd', 'utf8'))", "PATH_DENIED"],
    ["bash", "cat /etc/shadow /home/me/x", "PATH_DENIED"],
    ["bash", "cat ../labwright.yaml || cat /home/x", "PATH_DENIED"],
    ["bash", "echo x > /usr/x", "PATH_DENIED"],
    ["python", "import urllib.request; urllib.request.urlopen('http://1.1.1.1/')", "URL_DENIED"],
    [
      "node",
      "fetch('http://example.com/').catch((e) => { console.error(e.cause); process.exit(1); })",
      "URL_DENIED",
    ],
  ])("%s that reaches outside ends with its code: %s", async (language, code, reason) => {
    const { structured } = await run(language, code);
    expect(structured).toMatchObject({ status: "failed", reason: { code: reason } });
    expect(JSON.stringify(structured)).not.toContain("root:");
  });

  test("a link that code makes leads nowhere, inside and for us", async () => {
    const { structured } = await run("bash", `ln -s ${outside} way; cat way/secret.txt`);
    expect(structured).toMatchObject({ status: "failed", stdout: "" });
    expect((await files({ operation: "read", path: "way/secret.txt" })).error).toMatchObject({
      code: "PATH_DENIED",
    });
    expect((await run("bash", "rm way; mkfifo pipe")).structured.status).toBe("completed");
    expect((await files({ operation: "read", path: "pipe" })).error).toMatchObject({ code: "INVALID_INPUT" });
    expect((await files({ operation: "write", path: "pipe", content: "x" })).error).toMatchObject({
      code: "INVALID_INPUT",
    });
  });

  test.each([
    ["forks without end", "bash", "f() { f | f & }; f; sleep 8301", "INSUFFICIENT_RESOURCES"],
    [
      "holds too many processes",
      "bash",
      "for i in $(seq 60); do sleep 8305 & done; wait",
      "INSUFFICIENT_RESOURCES",
    ],
    ["eats memory in one process", "python", "a = [b'1' * 20_000_000 for _ in range(100)]", "OUT_OF_MEMORY"],
    [
      "eats memory in many processes",
      "python",
      "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        a = b'1' * 100_000_000\n        time.sleep(60)\ntime.sleep(60)",
      "OUT_OF_MEMORY",
    ],
    [
      "fills the disk",
      "bash",
      "while true; do head -c 50M /dev/zero > a.bin; done",
      "INSUFFICIENT_RESOURCES",
    ],
    [
      "writes one huge file",
      "python",
      "f = open('big.bin', 'wb')\nwhile True: f.write(b'1' * 1_000_000)",
      "INSUFFICIENT_RESOURCES",
    ],
    ["crashes", "bash", "kill -SEGV $$", "TOOL_FAILED"],
  ])("code that %s ends by name", { timeout: 60_000 }, async (_what, language, code, expected) => {
    const { error } = await run(language, code);
    expect(error).toMatchObject({
      code: expected,
      details: { stdout: expect.any(String), stderr: expect.any(String) },
    });
    rmSync(join(folder, "a.bin"), { force: true });
    rmSync(join(folder, "big.bin"), { force: true });
    await expect.poll(() => [...sleepers(8301), ...sleepers(8305)]).toEqual([]);
  });

  test("code that makes files on the disk without end is stopped, empty as they are", async () => {
    const limits = { memoryMb: 256, processes: 32, timeoutMs: 60_000, diskFiles: 5_000 };
    const workspace = createWorkspace({ ...product.services, folder, runsFolder, limits });
    const code =
      'mkdir many; cd many; for i in $(seq 100); do seq -f "$i-%g" 500 | xargs touch; sleep 0.05; done';
    const request = { args: [], timeout_ms: 50_000, language: "bash", code } as const;
    await expect(workspace.execute(request, callContext())).rejects.toMatchObject({
      ...{ code: "INSUFFICIENT_RESOURCES", message: expect.stringContaining("5000 files") },
    });
    rmSync(join(folder, "many"), { recursive: true });
  });

  test("code that hangs ends at its time limit, with what it said and all that it started", async () => {
    const { error } = await run(
      "bash",
      "trap '' TERM; echo started; setsid sleep 8302 & sleep 8302 & wait; wait",
      {
        timeout_ms: 1_000,
      },
    );
    expect(error).toMatchObject({
      code: "EXECUTION_TIMEOUT",
      message: "The program took longer than its 1000 ms and was stopped.",
      details: { stdout: "started\n" },
    });
    await expect.poll(() => sleepers(8302)).toEqual([]);
  });

  test("code that is left running, or whose caller goes, is ended", async () => {
    expect((await run("bash", "sleep 8303 & echo started")).structured.status).toBe("completed");
    await expect.poll(() => sleepers(8303)).toEqual([]);
    const gone = new AbortController();
    const sleeping = { name: "execute_code", arguments: { language: "bash", code: "sleep 8304" } };
    const call = client.client.callTool(sleeping, { signal: gone.signal }).catch(() => undefined);
    await expect.poll(() => sleepers(8304).length).toBe(1);
    gone.abort();
    await call;
    await expect.poll(() => sleepers(8304)).toEqual([]);
    await expect.poll(() => readdirSync(folder).filter((name) => name.startsWith(".inline"))).toEqual([]);
  });

  test("a folder that code swaps for a link all the time never leads us out", {
    timeout: 60_000,
  }, async () => {
    const swapping = run(
      "python",
      `
import os, shutil
open("swapping", "w").close()
while not os.path.exists("stop"):
    try:
        os.mkdir("swap")
        shutil.rmtree("swap")
        os.symlink("${outside}", "swap")
        os.unlink("swap")
    except OSError:
        shutil.rmtree("swap", ignore_errors=True)
        if os.path.islink("swap"): os.unlink("swap")
`,
    );
    await expect.poll(() => readdirSync(folder)).toContain("swapping");
    for (let tries = 0; tries < 300; tries++) {
      const read = await files({ operation: "read", path: "swap/secret.txt" });
      expect(read.error?.code).toMatch(/PATH_DENIED|FILE_NOT_FOUND|INVALID_INPUT/);
      await files({ operation: "write", path: "swap/planted.txt", content: "x" });
      await files({ operation: "delete", path: "swap/secret.txt", confirm: true });
    }
    await files({ operation: "write", path: "stop", content: "" });
    expect((await swapping).structured.status).toBe("completed");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  });

  test("a few programs run at a time, and one more is refused", async () => {
    // The workspace stays, so that a second try needs a folder of its own.
    const place = `slots-${Date.now()}`;
    await files({ operation: "write", path: `${place}/begun`, content: "" });
    const running = [1, 2, 3, 4].map((number) =>
      run("bash", `cd ${place}; touch on-${number}; echo ${number}; while [ ! -e go ]; do sleep 0.05; done`),
    );
    const begun = async () =>
      JSON.stringify((await files({ operation: "list", path: place })).structured).match(/on-\d/g)?.length;
    await expect.poll(begun, { timeout: 20_000 }).toBe(4);
    expect((await run("bash", "true")).error?.code).toBe("INSUFFICIENT_RESOURCES");
    await files({ operation: "write", path: `${place}/go`, content: "" });
    const ended = await Promise.all(running);
    expect(ended.map(({ structured }) => structured.stdout)).toEqual(["1\n", "2\n", "3\n", "4\n"]);
  });

  test("gives back no secret", async () => {
    expect((await run("bash", "echo 4711-secret")).structured.stdout).toBe("[secret PIN]\n");
  });
});
