import { once } from "node:events";
import { mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { DeviceError } from "../../errors.ts";
import { findAdb, installAdb } from "../../programs/adb.ts";
import { findOtherVersion } from "../adb/server.ts";
import type { DriverEnvironment } from "./program.ts";

/** The environment variables that the driver's process gets. None holds a secret. */
const passedOn = ["PATH", "HOME", "USER", "TMPDIR", "TEMP", "TMP", "LANG", "SystemRoot", "XDG_RUNTIME_DIR"];

/**
 * The environment of the driver, which needs an Android SDK: a folder with adb in its usual place. Throws
 * ADB_MISSING; UIA_UNAVAILABLE where adb is of another version than its server, which it would end and start again.
 */
export async function driverEnvironment(
  { folder, adbPort }: { folder: string; adbPort: number },
  signal: AbortSignal,
  env: NodeJS.ProcessEnv = process.env,
): Promise<DriverEnvironment> {
  const adb = await findAdb(env, signal);
  if (adb === undefined)
    throw new DeviceError("ADB_MISSING", `There is no program adb on the PATH. Run: ${installAdb}`);
  const other = await findOtherVersion(adbPort, adb, signal);
  if (other !== undefined) throw unavailable(other.why, other.fix);
  const tools = join(folder, "platform-tools");
  await mkdir(tools, { recursive: true });
  await symlink(adb.path, join(tools, process.platform === "win32" ? "adb.exe" : "adb"));
  const own = passedOn.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(own),
    ANDROID_HOME: folder,
    ANDROID_ADB_SERVER_PORT: `${adbPort}`,
    // With an address of the server, adb starts none in its place when it has ended.
    ANDROID_ADB_SERVER_ADDRESS: "127.0.0.1",
  };
}

/** Ports of loopback that nothing listens on, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  try {
    return await Promise.all(servers.map(portOf));
  } finally {
    await Promise.all(servers.map((server) => once(server.close(), "close")));
  }
}

async function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  if (!server.listening) await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A server has no port.");
  return address.port;
}

/** The elements cannot be read through the driver. */
export const unavailable = (why: string, fix: string, cause?: unknown): DeviceError =>
  new DeviceError("UIA_UNAVAILABLE", `UiAutomator2 cannot be used: ${why}. ${fix}`, { why }, { cause });

/** The lines of Node that the driver runs on, each from a version on (its package.json). */
const lines: Readonly<Record<number, number>> = { 20: 19, 22: 12 };
const everyLineFrom = 24;

/** Why the driver does not run on this version of Node; undefined where it does. */
export function whyNotOnNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const oldest = lines[major];
  if (major >= everyLineFrom || (oldest !== undefined && minor >= oldest)) return undefined;
  return `Node is ${version}, and it needs 20.19, 22.12 or 24`;
}
