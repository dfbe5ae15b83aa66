import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceError } from "@labwright/controllers";
import { needAdb } from "../../../controllers/src/programs/adb.ts";
import { runProgram, startProgram } from "../../../controllers/src/programs/run.ts";
import { poll } from "../../../controllers/src/waiting/deadlines.ts";

const startMs = 15_000;
const commandMs = 10_000;
const everyMs = 50;

/** An adb server that only this process knows, on `port`; `env` is for programs that are to speak to it. */
type OwnServer = { path: string; port: number; env: NodeJS.ProcessEnv };

/**
 * An adb server of its own, on a free port with a key of its own, and the device at a port of loopback connected to it. The
 * user's adb server knows nothing of either. Throws ADB_MISSING, ADB_TOO_OLD, ADB_SERVER_DOWN.
 */
export async function connectToOwnServer(
  devicePort: number,
  signal: AbortSignal,
): Promise<{ serial: string; adbPort: number; close(): Promise<void> }> {
  const { path } = await needAdb(process.env, signal);
  const home = await mkdtemp(join(tmpdir(), "labwright-adb-"));
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    // It looks for emulators up to this port, so at none.
    ADB_LOCAL_TRANSPORT_MAX_PORT: "5553",
    ADB_MDNS: "0",
  };
  const server = startProgram(path, ["-P", String(port), "nodaemon", "server"], { env });
  server.child.stdout?.resume();
  server.child.stderr?.resume();
  const close = async () => {
    await server.end(0);
    await rm(home, { recursive: true, force: true });
  };
  const serial = `127.0.0.1:${devicePort}`;
  try {
    await attach({ path, port, env }, serial, signal);
    return { serial, adbPort: port, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function attach({ path, port, env }: OwnServer, serial: string, signal: AbortSignal): Promise<void> {
  const waiting = { everyMs, ms: startMs, signal };
  if (!(await poll(() => isListening(port), waiting))) throw notStarted(port);
  // With an address, adb starts no server of its own in place of one that has ended.
  const adb = (...args: string[]) =>
    runProgram(path, ["-H", "127.0.0.1", "-P", String(port), ...args], { env, signal, timeoutMs: commandMs });
  // What it says is not what came of it: only the list tells.
  await adb("connect", serial);
  const isListed = async () => (await adb("devices")).stdout.includes(`${serial}\tdevice`);
  if (!(await poll(isListed, waiting))) throw notStarted(port);
}

const notStarted = (port: number) =>
  new DeviceError(
    "ADB_SERVER_DOWN",
    `An adb server of its own on port ${port} did not connect to the laboratory's device in ${startMs / 1_000} s. Try again on a machine that does less.`,
  );

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const answer = (listens: boolean) => {
      socket.destroy();
      resolve(listens);
    };
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("A listening server has no port.");
  return address.port;
}
