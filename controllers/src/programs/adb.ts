import { DeviceError } from "../errors.ts";
import { findProgram, runProgram } from "./run.ts";

const startMs = 15_000;
/** A device has answered by then. */
const pairMs = 30_000;
/** Platform tools 30 can pair. */
const firstWithPairing = 30;
const versionMs = 10_000;
/** Platform tools 28 and newer say so. */
const oldestVersion = 41;

type Environment = NodeJS.ProcessEnv;

/** How to get adb, for a person. */
export const installAdb = "sudo apt-get install -y adb (macOS: brew install android-platform-tools)";

/**
 * `text` is what `adb version` says in its first line and `path` where it is; `number` is 41 for 1.0.41, and `tools` 29 for
 * platform tools 29.0.6, 0 where it does not say.
 */
export type AdbVersion = { path: string; text: string; number: number; tools: number; isFit: boolean };

/** The adb program of the PATH; undefined when there is none. Throws DEVICE_ERROR when it does not run. */
export async function findAdb(env: Environment, signal: AbortSignal): Promise<AdbVersion | undefined> {
  const path = findProgram("adb", env);
  if (path === undefined) return undefined;
  const { stdout, stderr } = await runProgram(path, ["version"], { signal, timeoutMs: versionMs, env });
  const [text = ""] = stdout.split("\n", 1);
  const number = Number(/\b1\.0\.(\d+)/.exec(text)?.[1] ?? Number.NaN);
  if (Number.isNaN(number)) {
    const said = (stdout + stderr).trim().slice(0, 200);
    throw new DeviceError(
      "DEVICE_ERROR",
      `${path} says no version of adb but: ${said}. Install adb: ${installAdb}`,
    );
  }
  const tools = Number(/^Version (\d+)/m.exec(stdout)?.[1] ?? 0);
  return { path, text, number, tools, isFit: number >= oldestVersion };
}

/** The adb program of the PATH, if it is new enough. Throws ADB_MISSING, ADB_TOO_OLD, and what {@link findAdb} throws. */
export async function needAdb(env: Environment, signal: AbortSignal): Promise<AdbVersion> {
  const adb = await findAdb(env, signal);
  if (adb === undefined) throw missing();
  if (!adb.isFit) throw adbTooOld(adb.text);
  return adb;
}

/** Starts an adb server that outlives us. Throws ADB_MISSING, ADB_TOO_OLD, ADB_SERVER_DOWN. */
export async function startAdbServer(port: number, env: Environment, signal: AbortSignal): Promise<void> {
  const adb = await needAdb(env, signal);
  // By -L, since it starts none where the environment has an address of a server.
  const args = ["-L", `tcp:${port}`, "start-server"];
  const { code, stderr } = await runProgram(adb.path, args, { signal, timeoutMs: startMs, env });
  if (code === 0) return;
  throw new DeviceError(
    "ADB_SERVER_DOWN",
    `The adb server on port ${port} could not be started: ${stderr.trim().slice(0, 500)}. Run adb ${args.join(" ")} by hand to see why.`,
  );
}

/**
 * Has adb pair with a device on the network. The code goes in on its standard input, where no list of processes shows it.
 * Throws ADB_MISSING, ADB_TOO_OLD, and DEVICE_ERROR with what adb said.
 */
export async function pairAdb(
  { address, code, port }: { address: string; code: string; port: number },
  env: Environment,
  signal: AbortSignal,
): Promise<void> {
  const adb = await findAdb(env, signal);
  if (adb === undefined) throw missing();
  if (adb.tools < firstWithPairing) throw cannotPair(adb);
  const args = ["-P", String(port), "pair", address];
  const { stdout, stderr } = await runProgram(adb.path, args, {
    signal,
    timeoutMs: pairMs,
    env,
    input: `${code}\n`,
  });
  const said = `${stdout}\n${stderr}`.replaceAll(code, "******").trim();
  if (/Successfully paired/.test(said)) return;
  throw new DeviceError(
    "DEVICE_ERROR",
    `adb did not pair with ${address}: ${said.slice(0, 300)}. Open "Pair device with pairing code" on the device again, and give the address and the code that it shows now.`,
  );
}

const cannotPair = ({ text, tools }: AdbVersion) =>
  new DeviceError(
    "ADB_TOO_OLD",
    `${text} of platform tools ${tools} cannot pair: ${firstWithPairing} or newer is needed. Install Google's platform tools (developer.android.com/tools/releases/platform-tools) and put them first on the PATH. Without them, plug the device in and run: adb tcpip 5555`,
  );

/** ADB_TOO_OLD for a program or server that calls itself so. */
export const adbTooOld = (version: string): DeviceError =>
  new DeviceError(
    "ADB_TOO_OLD",
    `${version} is too old: 1.0.${oldestVersion} or newer is needed. Install a newer one: ${installAdb}`,
  );

const missing = () =>
  new DeviceError("ADB_MISSING", `There is no program adb on the PATH. Run: ${installAdb}`);
