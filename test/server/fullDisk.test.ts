import { spawnSync } from "node:child_process";
import { appendFileSync, closeSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { productCommand, productServe, within } from "../fixtures/daemon.ts";
import { type DaemonProcess, type DaemonStart, ownDaemons } from "../fixtures/daemonProcess.ts";
import { welcomeTest } from "../fixtures/welcomeTest.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const daemons = ownDaemons("disk");
const { root } = daemons;
const full = openSync("/dev/full", "w");
afterAll(() => closeSync(full));
let dataDir: string;
let count = 0;
beforeEach(() => {
  count += 1;
  dataDir = join(root, String(count));
  mkdirSync(dataDir, { mode: 0o700 });
});

const config = "server: { name: lab }\ndevices: [{ name: box, model: simulated }]\n";
const start = (given: Partial<DaemonStart> = {}) => daemons.start({ dataDir, config, ...given });

/** Takes all space of a folder's disk. Returns the file that holds it. */
function fill(folder: string, bytes: number): string {
  const filler = join(folder, "filler");
  expect(() => {
    for (;;) appendFileSync(filler, Buffer.alloc(bytes));
  }).toThrow("ENOSPC");
  return filler;
}

/** Runs a program in a mount namespace of its own, after `mount` was done there. */
const under = (mount: string) => ["unshare", "-rm", "sh", "-c", `${mount} && exec "$@"`, "sh"];
const labwright = productServe.slice(0, 1);

function run(args: readonly string[], options: { mount?: string; stdout?: number; stderr?: number } = {}) {
  const command = [process.execPath, ...labwright, ...args];
  const [program = "", ...given] =
    options.mount === undefined ? command : [...under(options.mount), ...command];
  const { stdout = "pipe", stderr = "pipe" } = options;
  const env = { PATH: process.env.PATH, HOME: root, LABWRIGHT_DATA_DIR: dataDir };
  const ended = spawnSync(program, given, {
    encoding: "utf8",
    cwd: root,
    env,
    stdio: ["ignore", stdout, stderr],
  });
  return { code: ended.status, signal: ended.signal, out: ended.stdout ?? "", err: ended.stderr ?? "" };
}

describe("a full disk under stderr or stdout", () => {
  it("ends no daemon", async () => {
    const daemon = await start({ stderr: full, args: ["--log-level", "trace"] });
    for (let i = 0; i < 5; i++) expect((await daemon.call("list_hosts")).success).toBe(true);
    expect((await daemon.call("no_such_tool")).error?.code).toBe("TOOL_NOT_FOUND");
    expect(daemon.isAlive()).toBe(true);
    daemon.signal("SIGTERM");
    expect(await daemon.ended).toBe(0);
  });

  it("leaves the bridge and the command line their exit codes", () => {
    const wrongSkill = spawnSync(
      process.execPath,
      [...productCommand, "--data-dir", dataDir, "--tools", "list_host"],
      { input: "", stdio: ["pipe", "pipe", full] },
    );
    expect([wrongSkill.status, wrongSkill.signal]).toEqual([2, null]);
    expect(run(["logs"], { stderr: full })).toMatchObject({ code: 1, signal: null });
    const lost = run(["doctor", "--json"], { stdout: full });
    expect(lost).toMatchObject({ code: 2, signal: null });
    expect(lost.err).toContain("full");
    expect(lost.err).not.toMatch(/^ +at /m);
  });
});

describe("a full disk under the data", () => {
  const mounted = () => ({
    under: under(
      `mount -t tmpfs -o size=90m,mode=700 tmpfs ${dataDir} && mkdir ${dataDir}/pictures && mount -t tmpfs -o size=200k tmpfs ${dataDir}/pictures && printf '%s' '${config}folders: { artifacts: ${dataDir}/pictures }' > ${dataDir}/labwright.yaml`,
    ),
    see: (pid: number) => `/proc/${pid}/root${dataDir}`,
  });

  /** A full disk under the pictures alone: the verdict stands, its step says what it has no picture of, and why. */
  async function expectPicturesMissed(daemon: DaemonProcess): Promise<void> {
    const filler = fill(join(daemon.dataDir, "pictures"), 10_000);
    expect(await daemon.call("capture_screenshot")).toMatchObject({ error: { code: "ARTIFACT_STORE_FULL" } });
    const run = (await daemon.call("execute_testcase", { testcase: "before" })).result;
    expect(run).toMatchObject({ status: "passed", verified_count: 1 });
    const { execution_id } = run;
    const { steps } = (await daemon.call("get_execution_status", { execution_id })).result;
    const notices = expect.arrayContaining([expect.stringContaining("after: ARTIFACT_STORE_FULL")]);
    expect(steps).toMatchObject([{ status: "passed", notices }]);
    rmSync(filler);
    expect((await daemon.call("capture_screenshot")).success).toBe(true);
  }

  it("ends no daemon: it reads, says what is full, and writes again when there is space", async () => {
    const daemon = await start(mounted());
    expect((await daemon.call("save_testcase", { testcase: welcomeTest("before") })).success).toBe(true);
    await expectPicturesMissed(daemon);
    const filler = fill(daemon.dataDir, 1_000_000);
    const save = () => daemon.call("save_testcase", { testcase: welcomeTest("during") });
    await expect.poll(save, within).toMatchObject({
      error: { code: "STORAGE_FAILED", hint: expect.stringContaining("space") },
    });
    expect((await daemon.call("list_testcases")).result.testcases).toMatchObject([{ name: "before" }]);
    const { findings } = (await daemon.call("diagnose")).result;
    expect(findings).toContainEqual(expect.objectContaining({ what: "disk", status: "missing" }));
    // More than PostgreSQL's own log could take: it was the log that killed it.
    for (let i = 0; i < 50; i++) await save();
    expect(daemon.isAlive()).toBe(true);
    rmSync(filler);
    await expect.poll(save, within).toMatchObject({ success: true });
    daemon.signal("SIGTERM");
    expect(await daemon.ended).toBe(0);
  });

  it("is said at the start, by doctor, and through the bridge", () => {
    const mount = `mount -t tmpfs -o size=1m tmpfs ${dataDir}`;
    const serve = run(["serve"], { mount });
    expect(serve.code).toBe(2);
    expect(JSON.parse(serve.err.trim().split("\n").at(-1) ?? "")).toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining("free"),
      hint: expect.stringContaining("space"),
    });
    const doctor = run(["doctor"], { mount });
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/MISSING {2}disk: full/);
    const call = run(["call", "list_hosts"], { mount });
    expect(call.code).toBe(2);
    expect(call.err).toMatch(/space/);
  });
});

describe("a read-only disk under the data", () => {
  const readOnly = () => `mount -t tmpfs tmpfs ${dataDir} && mount -o remount,ro ${dataDir}`;

  it.each([
    ["serve", ["serve"], 2],
    ["call", ["call", "list_hosts"], 2],
    ["run", ["run", "anything"], 2],
  ])("%s names the path and what to do", (_, args, code) => {
    const ended = run(args, { mount: readOnly() });
    expect(ended.code).toBe(code);
    expect(ended.err).toMatch(/read-only/);
    expect(ended.err).toMatch(/LABWRIGHT_DATA_DIR/);
    expect(ended.err).not.toMatch(/^ +at /m);
  });

  it("is reported by doctor", () => {
    const { code, out } = run(["doctor"], { mount: readOnly() });
    expect(code).toBe(1);
    expect(out).toMatch(/MISSING {2}disk: .*read-only/);
  });
});

describe("a place that cannot be used", () => {
  it("is said with its path and a hint: a folder for the configuration, a file for the data directory", () => {
    mkdirSync(join(dataDir, "labwright.yaml"));
    expect(run(["serve"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/labwright\.yaml is a folder.*file/s),
    });
    expect(run(["call", "list_hosts"]).err).toMatch(/labwright\.yaml is a folder/);
    rmSync(join(dataDir, "labwright.yaml"), { recursive: true });
    rmSync(dataDir, { recursive: true });
    writeFileSync(dataDir, "");
    const served = run(["serve"]);
    expect(served.code).toBe(2);
    expect(served.err).toMatch(/A file stands where a folder is needed/);
    expect(run(["call", "list_hosts"]).err).toMatch(/A file stands where a folder is needed/);
  });

  it("a log that is a folder is said at the start", () => {
    mkdirSync(join(dataDir, "logs", "daemon.log"), { recursive: true });
    expect(run(["serve"])).toMatchObject({ code: 2, err: expect.stringMatching(/daemon\.log is a folder/) });
    expect(run(["call", "list_hosts"]).err).toMatch(/daemon\.log is a folder/);
  });

  it("a database that does not open is reported by doctor", () => {
    mkdirSync(join(dataDir, "db"));
    writeFileSync(join(dataDir, "db", "PG_VERSION"), "18\n");
    const { code, out } = run(["doctor"]);
    expect(code).toBe(1);
    expect(out).toMatch(/MISSING {2}database: .*does not open/);
  });
});
