import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { productServe } from "../fixtures/daemon.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";
import { welcomeTest } from "../fixtures/welcomeTest.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const { root, start, kill } = ownDaemons("torn");
const killed = join(root, "killed");
const names = ["a", "b", "c"];
let artifact: string;

const expectAllSaved = async (daemon: DaemonProcess) => {
  const { testcases } = (await daemon.call("list_testcases")).result;
  expect(testcases).toEqual(names.map((name) => expect.objectContaining({ name })));
};
async function capture(daemon: DaemonProcess): Promise<string> {
  const { result } = await daemon.call("capture_screenshot");
  return String(result.artifact).replace("artifact://", "");
}
const fileOf = (dataDir: string, sha256: string) => join(dataDir, "artifacts", sha256.slice(0, 2), sha256);

/** What the killed daemon left. */
function copyOf(name: string): string {
  const dataDir = join(root, name);
  rmSync(dataDir, { recursive: true, force: true });
  cpSync(killed, dataDir, { recursive: true });
  return dataDir;
}

function labwright(dataDir: string, ...args: string[]) {
  const env = { PATH: process.env.PATH, HOME: root, LABWRIGHT_DATA_DIR: dataDir };
  const ended = spawnSync(process.execPath, [...productServe.slice(0, 1), ...args], {
    encoding: "utf8",
    cwd: root,
    env,
  });
  return { code: ended.status, err: ended.stderr };
}

beforeAll(async () => {
  const config = "server: { name: lab }\ndevices: [{ name: box, model: simulated }]\n";
  const daemon = await start({ dataDir: killed, config });
  for (const name of names)
    expect((await daemon.call("save_testcase", { testcase: welcomeTest(name) })).success).toBe(true);
  artifact = await capture(daemon);
  await kill(daemon);
});

/** Holds each picture on its way to the disk until the file `free` is there, and then says so in the file `taking`. */
const slowDisk = (taking: string, free: string) => `
  import { existsSync, writeFileSync } from "node:fs";
  import fs from "node:fs/promises";
  import { syncBuiltinESMExports } from "node:module";
  import { setTimeout as pause } from "node:timers/promises";
  const { writeFile } = fs;
  fs.writeFile = async (path, ...rest) => {
    if (String(path).includes("/artifacts/tmp/")) {
      writeFileSync(${JSON.stringify(taking)}, "");
      while (!existsSync(${JSON.stringify(free)})) await pause(20);
    }
    return writeFile(path, ...rest);
  };
  syncBuiltinESMExports();`;

it("nothing acknowledged is lost to half-written files, a missing one or a slow disk", async () => {
  const folder = copyOf("half");
  truncateSync(join(folder, "daemon.json"), 40);
  writeFileSync(join(folder, "lock"), Buffer.alloc(4_096, 0xff));
  // Killed between the file's creation and its first byte.
  writeFileSync(join(folder, "db", "postmaster.pid"), "");
  truncateSync(fileOf(folder, artifact), 100);

  // A database without its first file is refused and left as it is, not replaced by an empty one.
  rmSync(join(folder, "db", "PG_VERSION"));
  const refused = labwright(folder, "serve");
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/"code":"STORAGE_FAILED".*has files but no PG_VERSION.*put a copy of db back/);
  cpSync(join(killed, "db", "PG_VERSION"), join(folder, "db", "PG_VERSION"));

  const preload = join(folder, "slow.mjs");
  const taking = join(folder, "taking");
  const free = join(folder, "free");
  writeFileSync(preload, slowDisk(taking, free));
  const daemon = await start({ dataDir: folder, node: ["--import", preload] });
  await expectAllSaved(daemon);
  const url = () => daemonUrl(daemon.file(), `/api/v1/artifacts/${artifact}`);
  const read = () => fetch(url(), { headers: daemonHeaders(daemon.file(), "test/1") });
  const damaged = await read();
  expect([damaged.status, await damaged.text()]).toEqual([404, expect.stringContaining("damaged")]);

  const ended: string[] = [];
  const captured = capture(daemon).finally(() => ended.push("picture"));
  await vi.waitFor(() => expect(existsSync(taking)).toBe(true), 60_000);
  expect((await daemon.call("save_testcase", { testcase: welcomeTest("d") })).success).toBe(true);
  expect(ended).toEqual([]);
  writeFileSync(free, "");
  expect(await captured).toBe(artifact);
  expect((await read()).status).toBe(200);
});

it("a damaged database is said through the command line with what to do, after one attempt to start", () => {
  const dataDir = copyOf("control");
  truncateSync(join(dataDir, "db/global/pg_control"), 100);
  rmSync(join(dataDir, "logs"), { recursive: true });
  const call = labwright(dataDir, "call", "list_hosts");
  expect(call.code).toBe(2);
  expect(call.err).toMatch(/database cannot be opened/);
  expect(call.err).toMatch(/put a copy of db back/);
  expect(call.err).not.toMatch(/^ +at /m);
  const log = readFileSync(join(dataDir, "logs", "daemon.log"), "utf8");
  expect(log.match(/"level":"fatal"/g)).toHaveLength(1);
});
