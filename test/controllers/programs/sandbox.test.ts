import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findSandbox, type SandboxedProgram } from "@labwright/controllers";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { hasSandbox } from "../../fixtures/sandbox.ts";

const NEVER = new AbortController().signal;
const found = await findSandbox(NEVER);
const python = "/usr/bin/python3";
const folder = mkdtempSync(join(tmpdir(), "labwright-sandbox-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs to its end; `under` is seen every few milliseconds. */
async function run(given: Partial<SandboxedProgram> & Pick<SandboxedProgram, "command">) {
  if (!found.ok) throw new Error(found.reason);
  const program = found.sandbox.start({
    mounts: [],
    env: { PATH: "/usr/bin:/bin" },
    limits: { memoryMb: 256, processes: 32, fileMb: 2 },
    folders: ["/scratch", "/tmp"],
    ...given,
  });
  let text = "";
  const add = (data: unknown) => {
    text += String(data);
  };
  program.child.stdout?.on("data", add);
  program.child.stderr?.on("data", add);
  const code = await new Promise<number | null>((resolve) => program.child.once("close", resolve));
  return { code, text };
}
const inPython = (source: string, given: Partial<SandboxedProgram> = {}) =>
  run({ command: [python, "-c", source], ...given });
const inBash = (source: string, given: Partial<SandboxedProgram> = {}) =>
  run({ command: ["/bin/bash", "--norc", "-c", source], ...given });

/** Of `sleep` for so many seconds: a browser's arguments may hold any number. */
const sleepersFor = (seconds: string) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        /sleep[\0 ](\d+)/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1] === seconds
      );
    } catch {
      return false;
    }
  });

it.runIf(!found.ok)("says why there is no sandbox, and what mends it", () => {
  expect(found).toMatchObject({ reason: expect.stringMatching(/./), fix: expect.stringMatching(/./) });
});

describe.runIf(hasSandbox)("a sandbox", () => {
  it("gives the program its arguments as they are, its output and its exit code", async () => {
    const { code, text } = await run({
      command: ["/bin/bash", "--norc", "-c", 'echo "$1"; exit 7', "x", "$(id) 'a b'"],
    });
    expect({ code, text }).toEqual({ code: 7, text: "$(id) 'a b'\n" });
  });

  it("has the environment that it was given and nothing of ours, and is not a one of the host", async () => {
    process.env.LABWRIGHT_TEST_LEAK = "leak";
    const { text } = await inBash(
      "env; id -u; grep CapEff /proc/self/status; ls /; ls /proc | grep -c '^[0-9]'",
      {
        env: { PATH: "/usr/bin:/bin", OWN: "yes" },
      },
    );
    delete process.env.LABWRIGHT_TEST_LEAK;
    expect(text).toContain("OWN=yes");
    expect(text).not.toContain("leak");
    expect(text).not.toMatch(/HOME=|^0$/m);
    expect(text).toContain("CapEff:\t0000000000000000");
    expect(text).not.toMatch(/^(root|home|etc\/passwd)$/m);
    expect(Number(text.trim().split("\n").at(-1))).toBeLessThan(8);
  });

  it("reaches no network, neither the host's loopback nor the world", async () => {
    const { text } = await inPython(`
import socket
for address in [("127.0.0.1", 22), ("1.1.1.1", 53)]:
    try:
        socket.create_connection(address, 2)
        print("connected")
    except OSError as error:
        print("refused", error.errno)
`);
    // ECONNREFUSED of an empty loopback of its own; ENETUNREACH.
    expect(text).toBe("refused 111\nrefused 101\n");
  });

  it("writes into its own folders only, which are gone afterwards", async () => {
    const outside = join(folder, "outside.txt");
    const source = `for f in /usr/x /etc/x /x /dev/x ${outside} /shown/x; do echo no > $f; done; echo yes > /scratch/a; cat /scratch/a`;
    const shown = mkdtempSync(join(folder, "shown-"));
    chmodSync(shown, 0o777);
    const mounts = [{ from: shown, to: "/shown" }];
    const { text } = await inBash(source, { mounts });
    expect(text.match(/Read-only file system|Permission denied|No such file/g)).toHaveLength(6);
    expect(text).toMatch(/^yes$/m);
    expect(existsSync(outside)).toBe(false);
    expect(readdirSync(shown)).toEqual([]);
    expect((await inBash("ls /scratch")).text).toBe("");
  });

  it("holds no more in a file or a folder than it may, shared memory included", async () => {
    const { text } = await inBash(
      "exec 2>&1; head -c 3M /dev/zero > /scratch/a; for d in /dev/shm /tmp; do head -c 1500K /dev/zero > $d/a; head -c 1M /dev/zero > $d/b; done; stat -c %s /scratch/a",
    );
    expect(text).toMatch(/File size limit exceeded|File too large/);
    expect(text.match(/No space left/g)).toHaveLength(2);
    expect(Number(text.trim().split("\n").at(-1))).toBeLessThanOrEqual(2 * 1_048_576);
  });

  it("starts no more processes than it may", async () => {
    const { text } = await inPython(
      `
import os, time
started = 0
try:
    for _ in range(40):
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        started += 1
except OSError as error:
    print(started, error.errno)
`,
      { limits: { memoryMb: 256, processes: 12, fileMb: 1 } },
    );
    expect(text).toMatch(/^(9|10|11) 11\n$/);
  });

  it.each([
    ["Python", [python, "-c", "a = [b'1' * 20_000_000 for _ in range(15)]"]],
    [
      "Node",
      [process.execPath, "-e", "const a = []; for (let i = 0; i < 15; i++) a.push(Buffer.alloc(2e7, 1));"],
    ],
    ["bash", ["/bin/bash", "--norc", "-c", "a=$(head -c 100M /dev/zero | tr '\\0' x)"]],
  ] as const)("gives %s no more memory than it may have", async (_name, command) => {
    const mounts = command[0] === process.execPath ? [{ from: process.execPath, to: process.execPath }] : [];
    const codeWith = async (memoryMb: number) =>
      (await run({ command, mounts, limits: { memoryMb, processes: 32, fileMb: 2 } })).code;
    expect(await codeWith(128)).not.toBe(0);
    expect(await codeWith(1_000)).toBe(0);
  });

  it("refuses system calls that reach the kernel's far corners, and leaves threads, processes and sockets alone", async () => {
    const { text } = await inPython(systemCalls);
    const lines = text.trim().split("\n");
    expect(lines.filter((line) => line.startsWith("call "))).toEqual(
      [
        ...[
          "unshare",
          "setns",
          "clone",
          "io_uring_setup",
          "bpf",
          "keyctl",
          "add_key",
          "perf_event_open",
          "ptrace",
        ],
        ...[
          "process_vm_readv",
          "process_vm_writev",
          "userfaultfd",
          "memfd_create",
          "shmget",
          "mount",
          "pivot_root",
        ],
      ].map((name) => `call ${name} EPERM`),
    );
    expect(lines.filter((line) => !line.startsWith("call "))).toEqual([
      ...["clone3 ENOSYS", "fallocate ENOTSUP"],
      ...["family 40 EAFNOSUPPORT", "family 38 EAFNOSUPPORT", "family 17 EAFNOSUPPORT"],
      "unshare: unshare failed: Operation not permitted",
      "thread",
      "process",
      "child 0",
    ]);
  });

  it("sees only the file that it is shown, and writes it only where it may", async () => {
    const secret = join(folder, "private");
    mkdirSync(secret, { mode: 0o700, recursive: true });
    writeFileSync(join(secret, "a.txt"), "first");
    chmodSync(join(secret, "a.txt"), 0o666);
    const mounts = [{ from: join(secret, "a.txt"), to: "/in/a.txt", writable: true }];
    await inBash("echo second > /in/a.txt", { mounts });
    expect(readFileSync(join(secret, "a.txt"), "utf8")).toBe("second\n");
  });

  it("leaves no process, when the program ends and when it is ended", async () => {
    await inBash("(sleep 4711 &) ; echo started");
    await expect.poll(() => sleepersFor("4711")).toEqual([]);
    if (!found.ok) return;
    const program = found.sandbox.start({
      mounts: [],
      env: {},
      limits: { memoryMb: 64, processes: 16, fileMb: 1 },
      folders: ["/scratch"],
      command: ["/bin/bash", "-c", "trap '' TERM; setsid sleep 4712 & sleep 4712 & echo up; wait"],
    });
    await new Promise((resolve) => program.child.stdout?.once("data", resolve));
    await expect.poll(() => program.usage().tasks).toBe(3);
    await program.end();
    await expect.poll(() => sleepersFor("4712")).toEqual([]);
  });

  it("leaves no process when its host is killed with -9 at any moment of a start", async () => {
    const host = await bundled(hostInNode);
    const moments = [0, 5, 20, 50, 100, 200];
    const kills = moments.map(async (ms, index) => {
      const child = spawn(process.execPath, [host, String(4720 + index)], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      await new Promise((resolve) => child.stdout.once("data", resolve));
      child.stdin.write(`${ms}\n`);
      const [, signal] = await once(child, "exit");
      return signal;
    });
    expect(await Promise.all(kills)).toEqual(moments.map(() => "SIGKILL"));
    const left = () => moments.flatMap((_, index) => sleepersFor(String(4720 + index)));
    await expect.poll(left, { timeout: 20_000 }).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)("holds all the same where the server is not root", async () => {
    const { text, code } = await asNobody();
    expect(text).toMatch(/^(9|10|11) 11\nrefused 101\nread-only\nnot kept\n$/);
    expect(code).toBe(0);
    await expect.poll(() => sleepersFor("4713")).toEqual([]);
  });
});

/** The real thing, bundled with a program that uses it as `found`. */
async function bundled(source: string) {
  const bundle = join(mkdtempSync(join(folder, "bundle-")), "sandbox.mjs");
  await build({
    stdin: {
      contents: `
        import { findSandbox } from "./controllers/src/programs/sandbox.ts";
        const found = await findSandbox(new AbortController().signal);
        if (!found.ok) throw new Error(found.reason);
        ${source}`,
      resolveDir: process.cwd(),
      loader: "ts",
    },
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
  });
  return bundle;
}

/** Starts four sandboxes, one every 5 ms, and kills itself the given time after the first. */
const hostInNode = `
  const start = () => found.sandbox.start({ mounts: [], env: { PATH: "/usr/bin:/bin" },
    limits: { memoryMb: 64, processes: 12, fileMb: 1 }, folders: ["/scratch"], command: ["/bin/sleep", process.argv[2]] });
  process.stdin.once("data", (ms) => {
    for (const after of [0, 5, 10, 15]) setTimeout(start, after);
    setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(String(ms)));
  });
  console.log("ready");`;

/** Run by a user without rights. */
async function asNobody() {
  const bundle = await bundled(`
        const start = (command) => found.sandbox.start({ mounts: [], env: { PATH: "/usr/bin:/bin" },
          limits: { memoryMb: 64, processes: 12, fileMb: 1 }, folders: ["/scratch"], command });
        const { child } = start(["${python}", "-c", ${JSON.stringify(limitsInPython)}]);
        child.stdout.pipe(process.stdout);
        child.stderr.pipe(process.stderr);
        await new Promise((resolve) => child.once("close", resolve));
        const sleeping = start(["/bin/sh", "-c", "echo up; sleep 4713"]);
        await new Promise((resolve) => sleeping.child.stdout.once("data", resolve));
        await sleeping.end();`);
  for (const above of [folder, dirname(bundle)]) chmodSync(above, 0o755);
  chmodSync(bundle, 0o644);
  const drop = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const { stdout, stderr, status } = spawnSync("setpriv", [...drop, process.execPath, bundle], {
    encoding: "utf8",
  });
  return { text: stdout + stderr, code: status };
}

const limitsInPython = `
import os, socket, time
started = 0
try:
    for _ in range(40):
        if os.fork() == 0:
            time.sleep(3)
            os._exit(0)
        started += 1
except OSError as error:
    print(started, error.errno, flush=True)
try:
    socket.create_connection(("1.1.1.1", 53), 2)
except OSError as error:
    print("refused", error.errno)
try:
    open("/usr/x", "w")
except OSError as error:
    print("read-only")
try:
    a = [b"1" * 20_000_000 for _ in range(10)]
except MemoryError:
    print("not kept")
`;

const systemCalls = `
import ctypes, errno, multiprocessing, os, socket, subprocess, threading
libc = ctypes.CDLL(None, use_errno=True)
column = 0 if os.uname().machine == "x86_64" else 1
page = ctypes.create_string_buffer(256)
def call(numbers, *arguments):
    ctypes.set_errno(0)
    libc.syscall(numbers[column], *arguments)
    return errno.errorcode.get(ctypes.get_errno(), "done")
print("call unshare", call((272, 97), 0x10000000))
print("call setns", call((308, 268), 0, 0))
print("call clone", call((56, 220), 0x10000000 | 17, 0, 0, 0, 0))
for name, *numbers in [("io_uring_setup", 425, 425), ("bpf", 321, 280), ("keyctl", 250, 219), ("add_key", 248, 217),
        ("perf_event_open", 298, 241), ("ptrace", 101, 117), ("process_vm_readv", 310, 270), ("process_vm_writev", 311, 271),
        ("userfaultfd", 323, 282), ("memfd_create", 319, 279), ("shmget", 29, 194), ("mount", 165, 40), ("pivot_root", 155, 41)]:
    print("call", name, call(numbers, 0, page, 0, 0, 0))
print("clone3", call((435, 435), page, 64))
print("fallocate", call((285, 47), 1, 0, 0, 4096))
for family, kind in [(40, socket.SOCK_STREAM), (38, socket.SOCK_SEQPACKET), (17, socket.SOCK_RAW)]:
    try:
        print("family", family, socket.socket(family, kind))
    except OSError as error:
        print("family", family, errno.errorcode[error.errno])
print(subprocess.run(["unshare", "-U", "true"], capture_output=True, text=True).stderr.strip())
thread = threading.Thread(target=lambda: print("thread", flush=True))
thread.start()
thread.join()
process = multiprocessing.Process(target=lambda: print("process", flush=True))
process.start()
process.join()
print("child", subprocess.run(["true"]).returncode)
`;
