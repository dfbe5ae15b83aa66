import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createAddons, findProgram } from "@labwright/controllers";
import { onlyPhone, type Phones } from "./androidPhones.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratiosOf, timed } from "./statistics.ts";

const exec = promisify(execFile);
const settings = "com.android.settings";
const touch = { x: 400, y: 1_200 };
/** Of the page that the touched row of the list opens. */
const proof = "Nothing can be changed here";

/**
 * The first tap after the daemon's start, on a phone that nobody has opened. Its reply has the screen that it led to, so by
 * hand the session of the driver reads it too. Sessions have ended, daemons too, before the next round.
 */
export async function measureFirstTap(sides: Sides, all: Phones): Promise<Measurement> {
  const { lab, dataDir } = all;
  const { device, device_id, serial } = onlyPhone(all);
  const sdk = await androidHome(sides);
  const prepare = () => {
    device.ui.home();
    device.ui.stop(settings);
    device.ui.start({ packageName: settings });
  };
  const ours = async (): Promise<number> => {
    await sides.stopDaemon(dataDir);
    prepare();
    const server = await all.start();
    try {
      const actions = [{ command: "tap", params: touch }];
      const { ms, result } = await timed(() => server.call("execute_device_action", { device_id, actions }));
      if (!result.text.includes(".Page")) throw new Error(`The tap led nowhere:\n${result.text}`);
      if (device.uia2 === undefined) throw new Error("The screen was not read by a session of the driver.");
      return ms;
    } finally {
      await server.end();
      await sides.stopDaemon(dataDir);
    }
  };
  const byHand = async (): Promise<number> => {
    prepare();
    const env = { ...lab.env, ANDROID_HOME: sdk };
    const start = performance.now();
    await exec("adb", ["-s", serial, "shell", `input tap ${touch.x} ${touch.y}`], { env: lab.env });
    const end = await driverSession({ root: sides.root, serial, adbPort: lab.adbPort, env });
    const ms = performance.now() - start;
    await end();
    return ms;
  };
  const [own = [], theirs = []] = await alternate([ours, byHand], { rounds: 9, warmUps: 1 });
  return {
    ...{ id: "android.first_tap", ours: median(own), theirs: median(theirs) },
    ...{ runs: own.length, ratios: ratiosOf(own, theirs) },
  };
}

/** What the driver wants of an Android SDK. */
async function androidHome({ scratch }: Sides): Promise<string> {
  const home = join(scratch, "sdk");
  const adb = findProgram("adb");
  if (adb === undefined) throw new Error("There is no adb on the PATH.");
  await mkdir(join(home, "platform-tools"), { recursive: true });
  const place = join(home, "platform-tools", "adb");
  if (!existsSync(place)) await symlink(adb, place);
  return home;
}

type Place = { root: string; serial: string; adbPort: number; env: NodeJS.ProcessEnv };

/** A session in a process of its own, which has given the tree of the page that was reached; gives what ends it. */
async function driverSession({ root, serial, adbPort, env }: Place): Promise<() => Promise<void>> {
  const capabilities = {
    ...{ automationName: "UiAutomator2", udid: serial, adbPort, suppressKillServer: true },
    ...{ noReset: true, autoLaunch: false, newCommandTimeout: 0 },
    ...{ skipDeviceInitialization: true, skipLogcatCapture: true, skipUnlock: true },
  };
  const places = { shipped: join(root, "controllers/addons"), installed: join(root, ".setup/addons") };
  const addon = createAddons(places).folder("android-driver");
  const program = await readFile(join(root, "test/bench/driverByHand.mjs"), "utf8");
  const args = ["--input-type=module", "-e", program, JSON.stringify(capabilities)];
  const child = spawn(process.execPath, args, { cwd: addon, stdio: ["pipe", "pipe", "inherit"], env });
  const ended = once(child, "exit");
  let tree = "";
  for await (const part of child.stdout) {
    tree += String(part);
    if (tree.includes("</hierarchy>")) break;
  }
  if (!tree.includes(proof))
    throw new Error(`The session by hand saw another screen:\n${tree.slice(0, 500)}`);
  return async () => {
    child.stdin.end();
    await ended;
  };
}
