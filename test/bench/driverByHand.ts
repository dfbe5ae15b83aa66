import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createAddons, findProgram } from "@labwright/controllers";

/** What the driver wants of an Android SDK. */
export async function androidHome(scratch: string): Promise<string> {
  const home = join(scratch, "sdk");
  const adb = findProgram("adb");
  if (adb === undefined) throw new Error("There is no adb on the PATH.");
  await mkdir(join(home, "platform-tools"), { recursive: true });
  const place = join(home, "platform-tools", "adb");
  if (!existsSync(place)) await symlink(adb, place);
  return home;
}

/** `capabilities` come on top of those that every session has. */
type Place = {
  root: string;
  serial: string;
  adbPort: number;
  env: NodeJS.ProcessEnv;
  capabilities: Readonly<Record<string, unknown>>;
};

/** A session in a process of its own: the tree of the screen, which it has read, and what ends it. */
export async function driverSession(place: Place): Promise<{ tree: string; end(): Promise<void> }> {
  const { root, serial, adbPort, env } = place;
  const capabilities = {
    ...{ automationName: "UiAutomator2", udid: serial, adbPort, suppressKillServer: true },
    ...{ noReset: true, autoLaunch: false, newCommandTimeout: 0 },
    ...place.capabilities,
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
  return {
    tree,
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}
