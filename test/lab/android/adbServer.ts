import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceError, startProgram } from "@labwright/controllers";
import { needAdb } from "#controllers/programs/adb.ts";
import { poll, withDeadline } from "#controllers/waiting/deadlines.ts";

const startMs = 15_000;
const shellMs = 120_000;
const everyMs = 20;

/** An adb server that only this process knows, with a key of its own: the user's knows nothing of it. */
export type OwnAdbServer = {
  port: number;
  home: string;
  env: NodeJS.ProcessEnv;
  /** What it answers to a service of its own, such as `host:version`. */
  ask(service: string): Promise<string>;
  /** What a command on a device writes to both of its streams. */
  shell(serial: string, command: string): Promise<string>;
  states(): Promise<ReadonlyMap<string, string>>;
  /** Resolves when a device has this state; `absent` is one that the server does not list. */
  waitFor(serial: string, state: string): Promise<void>;
  /** Connects a device and waits for its state. */
  connect(serial: string, state?: string): Promise<void>;
  close(): Promise<void>;
};

/** Starts it on a free port. Throws ADB_MISSING, ADB_TOO_OLD, ADB_SERVER_DOWN. */
export async function startOwnAdbServer(signal: AbortSignal): Promise<OwnAdbServer> {
  const { path } = await needAdb(process.env, signal);
  const home = await mkdtemp(join(tmpdir(), "labwright-adb-"));
  const port = await freePort();
  const serverEnv = {
    PATH: process.env.PATH,
    HOME: home,
    // It looks for emulators up to this port, so at none.
    ADB_LOCAL_TRANSPORT_MAX_PORT: "5553",
    ADB_MDNS: "0",
  };
  const program = startProgram(path, ["-P", String(port), "nodaemon", "server"], { env: serverEnv });
  program.child.stdout?.resume();
  program.child.stderr?.resume();
  // The answer follows its length.
  const ask = async (service: string) =>
    (await converse(port, [service], startMs, signal)).subarray(4).toString("utf8");
  const until = async (isSo: () => Promise<boolean>, problem: string) => {
    if (await poll(isSo, { everyMs, ms: startMs, signal })) return;
    throw new DeviceError(
      "ADB_SERVER_DOWN",
      `An adb server of its own on port ${port}: ${problem} within ${startMs / 1_000} s. Try again on a machine that does less.`,
    );
  };
  const server: OwnAdbServer = {
    ...{ port, home, ask },
    // The program adb starts no server at a port that has an address.
    env: { ...serverEnv, ANDROID_ADB_SERVER_PORT: String(port), ANDROID_ADB_SERVER_ADDRESS: "127.0.0.1" },
    shell: async (serial, command) =>
      (await converse(port, [`host:transport:${serial}`, `exec:${command}`], shellMs, signal)).toString(
        "utf8",
      ),
    states: async () => new Map((await ask("host:devices")).split("\n").map((line) => pairOf(line))),
    waitFor: (serial, state) =>
      until(
        async () => ((await server.states()).get(serial) ?? "absent") === state,
        `${serial} was not ${state}`,
      ),
    async connect(serial, state = "device") {
      // Its reply does not say whether it worked; the list of devices does.
      await ask(`host:connect:${serial}`);
      await server.waitFor(serial, state);
    },
    async close() {
      await program.end(0);
      await rm(home, { recursive: true, force: true });
    },
  };
  try {
    const answers = () =>
      ask("host:version").then(
        () => true,
        () => false,
      );
    await until(answers, "it did not answer");
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** One for the device at a port of loopback, which is connected to it. Throws what `startOwnAdbServer` throws. */
export async function connectToOwnServer(
  devicePort: number,
  signal: AbortSignal,
): Promise<{ serial: string; adbPort: number; close(): Promise<void> }> {
  const server = await startOwnAdbServer(signal);
  const serial = `127.0.0.1:${devicePort}`;
  try {
    await server.connect(serial);
    return { serial, adbPort: server.port, close: server.close };
  } catch (error) {
    await server.close();
    throw error;
  }
}

function pairOf(line: string): [string, string] {
  const [serial = "", state = ""] = line.split("\t");
  return [serial, state];
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

/**
 * Sends requests to an adb server, each after the one before was accepted. Returns all bytes after the last "OKAY". Throws at
 * its deadline.
 */
async function converse(
  port: number,
  requests: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const limit = withDeadline(signal, timeoutMs);
  const socket = connect({ host: "127.0.0.1", port, signal: limit.signal });
  const closed = once(socket, "close");
  closed.catch(() => undefined);
  let parts = Buffer.alloc(0);
  socket.on("data", (part: Buffer) => {
    parts = Buffer.concat([parts, part]);
  });
  try {
    await once(socket, "connect");
    for (const request of requests) {
      socket.write(Buffer.byteLength(request).toString(16).padStart(4, "0") + request);
      while (parts.length < 4 && !socket.readableEnded) await Promise.race([once(socket, "data"), closed]);
      if (parts.toString("latin1", 0, 4) !== "OKAY")
        throw new Error(`${request}: ${parts.subarray(8).toString("utf8")}`);
      parts = parts.subarray(4);
    }
    await closed;
    return parts;
  } finally {
    socket.destroy();
    limit.done();
  }
}
