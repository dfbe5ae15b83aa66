import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { hasSandbox, sleepers } from "../fixtures/sandbox.ts";

const yaml = `
devices: [{ name: box, model: simulated }]
limits: { script_memory_mb: 256, script_processes: 32, script_ms: 120000 }`;

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct(yaml);
  client = await product.connect();
  mkdirSync(product.config.folders.scripts, { recursive: true });
  script("plain.sh", "#!/bin/bash\necho\n");
});
afterAll(() => product.dispose());
// Whoever holds no device takes the one they name.
beforeEach(async () => void (await client.call("release_control", { device_id: "box" })));

const script = (name: string, text: string) =>
  writeFileSync(join(product.config.folders.scripts, name), text);
const execute = (args: Record<string, unknown>) =>
  client.call("execute_script", { device_id: "box", ...args });
const runFolders = () => readdirSync(join(product.config.data_dir, "runs"));

describe.runIf(hasSandbox)("limits of execute_script", () => {
  test("a call that is too large, too deep or not JSON is refused, and the next one is answered", async () => {
    script(
      "floods.py",
      `import os, socket, json
def send(body):
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ["LABWRIGHT_SOCKET"])
    s.sendall(b"POST /call HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
    reply = b""
    while part := s.recv(65536): reply += part
    reply = json.loads(reply[reply.find(b"{"):reply.rfind(b"}") + 1])
    print("done" if reply["success"] else reply["error"]["code"] + " " + reply["error"]["message"][:40])
call = b'{"tool": "list_hosts", "arguments": {"a": %s}}'
send(call % (b'"' + b"x" * 999900 + b'"' + b" " * 1000))
send(call % (b"[" * 200000 + b"]" * 200000))
send(call % (b'"' + b'[\\\\"' * 1000 + b'"'))
send(b'"\\\\' * 100000)
send(b'{"tool": "list_hosts"}')
raise SystemExit(1)
`,
    );
    const { structured } = await execute({ script: "floods.py" });
    expect(String(structured.log_tail).split("\n")).toEqual([
      "INPUT_TOO_LARGE A call is at most 1 MB.",
      "INVALID_INPUT A call nests at most 100 levels.",
      'INVALID_INPUT list_hosts: a: unknown key "a"',
      'INVALID_INPUT A call is JSON: {"tool": name, "argument',
      "done",
    ]);
  });

  test.each([
    ["time", "while :; do :; done", { timeout_ms: 1_000 }, "timeout", "EXECUTION_TIMEOUT"],
    ["memory", "x=$(head -c 400M /dev/zero | tr '\\0' x)", {}, "error", "OUT_OF_MEMORY"],
    ["processes", "for i in $(seq 60); do sleep 8152 & done; wait", {}, "error", "INSUFFICIENT_RESOURCES"],
    [
      "shared memory",
      "python3 -c 'import mmap, time; mmap.mmap(-1, 4 << 26).write(bytes(4 << 26)); time.sleep(60)'",
      {},
      "error",
      "OUT_OF_MEMORY",
    ],
    [
      "empty files",
      "cd /tmp; seq 10000000 | xargs touch",
      {},
      "error",
      "INSUFFICIENT_RESOURCES",
      "50000 files",
    ],
    [
      "writing",
      "echo x > /usr/bin/x && exit 0; head -c 70M /dev/zero > /scratch/x",
      {},
      "error",
      "INSUFFICIENT_RESOURCES",
    ],
  ])("stops and reports a script at its limit of %s, and leaves nothing", async (name, text, args, status, code, part = "") => {
    script(`${name}.sh`, `${text}\n`);
    const { structured } = await execute({ script: `${name}.sh`, ...args });
    expect(structured).toMatchObject({ status, reason: { code, message: expect.stringContaining(part) } });
    expect(sleepers(8152)).toEqual([]);
    expect((await execute({ script: "plain.sh" })).structured).toMatchObject({ status: "passed" });
    expect(runFolders()).toEqual([]);
  });

  test("stops a script whose processes together take more memory than it may have", async () => {
    script(
      "many.py",
      "import os, time\nfor _ in range(3): os.fork()\nx = b'1' * 60_000_000\ntime.sleep(60)\n",
    );
    const { structured } = await execute({ script: "many.py" });
    expect(structured).toMatchObject({
      status: "error",
      reason: { code: "OUT_OF_MEMORY", message: expect.stringContaining("256 MB") },
    });
  });
});
