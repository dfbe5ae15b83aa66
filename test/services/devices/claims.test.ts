import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Controller, type ControllerFactory, DeviceError } from "@labwright/controllers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { claiming, DeviceLocks } from "#mcp-server/services/devices/claims.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";

const NEVER = new AbortController().signal;
let runtime: string;
beforeEach(async () => {
  runtime = await mkdtemp(join(tmpdir(), "labwright-runtime-"));
});
afterEach(() => rm(runtime, { recursive: true, force: true }));

/** A driver of two controllers whose opening the test may spoil. */
function driver(opening: { error?: Error } = {}): ControllerFactory {
  const part = (kind: "remote" | "av"): Controller => {
    let alive = false;
    return {
      ...{ kind, driver: "parts", commands: [], checks: [], noticesAfter: () => [] },
      async open() {
        if (opening.error) throw opening.error;
        alive = true;
      },
      async close() {
        alive = false;
      },
      isAlive: () => alive,
    };
  };
  return {
    ...{ name: "parts", kinds: ["remote", "av"], settings: z.unknown(), offers: () => [] },
    claims: (settings) => z.array(z.string()).parse(settings),
    create: () => [part("remote"), part("av")],
  };
}

const clock = fakeClock();
const locksOf = (dataDir: string) => new DeviceLocks({ dataDir, env: { XDG_RUNTIME_DIR: runtime }, clock });
function make(
  claims: string[],
  given: { dataDir?: string; opening?: { error?: Error }; locks?: DeviceLocks } = {},
) {
  const { dataDir = "/data/one", opening, locks = locksOf(dataDir) } = given;
  const factory = claiming(driver(opening), locks);
  const [remote, av] = factory.create(claims, controllerContext("lab/box"));
  if (!remote || !av) throw new Error("the driver made too little");
  return { remote, av };
}

it("is held from the first opening to the last closing, and names who holds it", async () => {
  const first = make(["serial:XYZ", "capture:/dev/video0"]);
  const second = make(["serial:XYZ"], { dataDir: "/data/two" });
  await Promise.all([first.remote.open(NEVER), first.av.open(NEVER)]);
  await expect(second.remote.open(NEVER)).rejects.toMatchObject({
    code: "DEVICE_BUSY",
    message: expect.stringContaining("serial:XYZ"),
    details: {
      ...{ claim: "serial:XYZ", pid: process.pid, data_dir: "/data/one" },
      since: new Date(clock.now()).toISOString(),
    },
  });
  expect(second.remote.isAlive()).toBe(false);
  await first.remote.close();
  await expect(second.remote.open(NEVER)).rejects.toMatchObject({ code: "DEVICE_BUSY" });
  await first.av.close();
  await second.remote.open(NEVER);
  expect(second.remote.isAlive()).toBe(true);
  await second.remote.close();
});

it("is shared by the drivers of one device, and held until the last of them is closed", async () => {
  const locks = locksOf("/data/one");
  const [adb, power] = [make(["serial:XYZ"], { locks }), make(["serial:XYZ"], { locks })];
  await Promise.all([adb.remote.open(NEVER), power.remote.open(NEVER)]);
  await adb.remote.close();
  await expect(make(["serial:XYZ"]).remote.open(NEVER)).rejects.toMatchObject({ code: "DEVICE_BUSY" });
  await power.remote.close();
  const other = make(["serial:XYZ"]);
  await other.remote.open(NEVER);
  await other.remote.close();
});

it("of several things takes all or none", async () => {
  const first = make(["serial:B"]);
  await first.remote.open(NEVER);
  const both = make(["serial:A", "serial:B"]);
  await expect(both.remote.open(NEVER)).rejects.toMatchObject({ details: { claim: "serial:B" } });
  const other = make(["serial:A"]);
  await other.remote.open(NEVER);
  await Promise.all([first.remote.close(), other.remote.close()]);
});

it("is given back when the opening fails, and by a close that comes twice or alone", async () => {
  const opening = { error: new DeviceError("DEVICE_ERROR", "No such box.") };
  const broken = make(["serial:XYZ"], { opening });
  await expect(broken.remote.open(NEVER)).rejects.toThrow("No such box.");
  const well = make(["serial:XYZ"]);
  await well.remote.open(NEVER);
  await well.av.close();
  await well.remote.close();
  await well.remote.close();
  await make(["serial:XYZ"]).remote.open(NEVER);
});

it("that was lost makes its controllers dead until they are opened again", async () => {
  const { remote } = make(["serial:XYZ"]);
  await remote.open(NEVER);
  const holders = await lockHolders();
  expect(holders).not.toEqual([]);
  for (const pid of holders) process.kill(pid, "SIGKILL");
  await expect.poll(() => remote.isAlive()).toBe(false);
  await remote.open(NEVER);
  expect(remote.isAlive()).toBe(true);
  await remote.close();
  expect(await lockHolders()).toEqual([]);
});

it("lies in a folder of this user alone, under a name that reports nothing", async () => {
  const { remote } = make(["serial:hunter2"]);
  await remote.open(NEVER);
  const folder = join(runtime, "labwright");
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const name of await readdir(folder)) {
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect(await readFile(join(folder, name), "utf8")).not.toContain("hunter2");
  }
  await remote.close();
  await chmod(folder, 0o777);
  await expect(remote.open(NEVER)).rejects.toMatchObject({
    code: "CONTROLLER_UNAVAILABLE",
    message: expect.stringContaining("XDG_RUNTIME_DIR"),
  });
});

it("is not asked for where there is nothing to share", async () => {
  const { remote } = make([]);
  await remote.open(NEVER);
  expect(remote.isAlive()).toBe(true);
  expect(await readdir(runtime)).toEqual([]);
});

/** The processes that hold a lock of this test. */
async function lockHolders(): Promise<number[]> {
  const listing = spawn("ps", ["-eo", "pid,args"]);
  let text = "";
  listing.stdout.on("data", (chunk) => (text += chunk));
  await once(listing, "close");
  return text.split("\n").flatMap((line) => (line.includes(runtime) ? [Number.parseInt(line, 10)] : []));
}
