import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { isDataDirLocked, lockDataDir } from "#mcp-server/storage/index.ts";
import { bundled } from "../fixtures/engine.ts";

let program: URL;
let root: string;
let dataDir: string;
const children: ReturnType<typeof spawn>[] = [];

beforeAll(async () => {
  program = await bundled(new URL("../fixtures/storageProcess.ts", import.meta.url).pathname);
});
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "labwright-lock-"));
  dataDir = join(root, "data");
});
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  await rm(root, { recursive: true, force: true });
});

async function holder(order: "hold" | "block") {
  const child = spawn(process.execPath, [program.pathname, order, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const said: string[] = [];
  lines.on("line", (line) => said.push(line));
  await once(lines, "line");
  return { child, said };
}

/** The processes that have the lock file open. */
async function lockHolders(): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const argvs = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return pids.filter((_, i) => argvs[i]?.includes(join(dataDir, "lock"))).map(Number);
}

it("makes the directory for its user alone", async () => {
  const lock = await lockDataDir(dataDir);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  await lock.release();
});

it("refuses a second owner and says who the first is", async () => {
  const { child } = await holder("hold");
  await expect(lockDataDir(dataDir)).rejects.toMatchObject({
    code: "DATA_DIR_BUSY",
    message: expect.stringContaining(`process ${child.pid}`),
    hint: expect.stringContaining("labwright stop"),
    details: { data_dir: dataDir, pid: child.pid },
  });
});

it("is not taken from an owner whose event loop is blocked", async () => {
  await holder("block");
  expect(await isDataDirLocked(dataDir)).toBe(true);
  await expect(lockDataDir(dataDir)).rejects.toMatchObject({ code: "DATA_DIR_BUSY" });
});

it("is free again after release, and asking for it makes nothing", async () => {
  expect(await isDataDirLocked(dataDir)).toBe(false);
  await expect(stat(dataDir)).rejects.toThrow("ENOENT");
  const lock = await lockDataDir(dataDir);
  expect(await isDataDirLocked(dataDir)).toBe(true);
  await lock.release();
  expect(await isDataDirLocked(dataDir)).toBe(false);
  await (await lockDataDir(dataDir)).release();
});

it("is freed by the kernel when its owner is killed, and leaves no process", async () => {
  const { child } = await holder("block");
  expect(await lockHolders()).not.toEqual([]);
  child.kill("SIGKILL");
  await once(child, "exit");
  await vi.waitFor(async () => expect(await lockHolders()).toEqual([]), { timeout: 5_000 });
  await (await lockDataDir(dataDir)).release();
});

it("has one winner among many who ask at once", async () => {
  const asked = await Promise.allSettled(Array.from({ length: 8 }, () => lockDataDir(dataDir)));
  const won = asked.filter((result) => result.status === "fulfilled");
  expect(won).toHaveLength(1);
  for (const { value } of won) await value.release();
});

it("tells its owner when it is lost", async () => {
  const { said } = await holder("hold");
  for (const pid of await lockHolders()) process.kill(pid, "SIGKILL");
  await vi.waitFor(() => expect(said).toContain("lost"), { timeout: 5_000 });
});
