import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { io, type Socket } from "socket.io-client";
import { z } from "zod";
import { testKey } from "../fixtures/messagesApi/server.ts";
import type { Sides } from "./sides.ts";
import type { ListedTool, StdioServer } from "./stdioServer.ts";

const startLimitMs = 60_000;
const daemonSchema = z.object({ pid: z.int(), port: z.int(), token: z.string() });
const sessionSchema = z.object({ id: z.string() });
const eventSchema = z.looseObject({
  ...{ type: z.string(), session_id: z.string() },
  outcome: z.string().optional(),
});
type SessionEvent = z.output<typeof eventSchema>;

/** The agents of a real daemon: conversations are opened by REST and spoken to by Socket.IO. */
export type AgentSide = {
  /** As a host gets them from the same daemon. */
  tools: readonly ListedTool[];
  daemon: DaemonFile;
  open(): Promise<string>;
  /** Resolves when the run of the message is done. Rejects when it ends in another way. */
  say(session: string, text: string, skill: string): Promise<void>;
  close(): Promise<void>;
};

export type DaemonFile = z.output<typeof daemonSchema>;

type Given = {
  /** Address of the Messages API. */
  api: string;
  /** The product's default model when left out. */
  model?: string;
  /** In place of the bench's one browser. */
  devices?: readonly object[];
  /** Called with a daemon before the one with the agents starts. */
  prepare?(host: StdioServer): Promise<void>;
};

/** A daemon on a new data folder with the bench's browser as `lab/browser`, and the agents on it. */
export async function startAgentSide(
  sides: Sides,
  { api, model, devices, prepare }: Given,
): Promise<AgentSide> {
  const dataDir = await sides.newDataDir();
  const config = await sides.newConfig({
    server: { name: "lab" },
    // Something may run on each of them at the same time.
    ...(devices && { devices, limits: { max_parallel_devices: devices.length } }),
    agents: { api: { requests_per_minute: 100_000 }, ...(model && { models: [{ model }] }) },
  });
  const host = sides.ours(dataDir, { config });
  let tools: readonly ListedTool[];
  try {
    await host.initialize();
    tools = await host.listTools();
    await host.call("list_hosts", {});
    await prepare?.(host);
  } finally {
    await host.end();
  }
  await sides.stopDaemon(dataDir);
  const daemon = await startServer(sides, { dataDir, config, api });
  const request = async (path: string, init: RequestInit = {}): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${daemon.port}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.text();
  };
  const post = (path: string, body: object): Promise<string> =>
    request(`/server/agent${path}`, { method: "POST", body: JSON.stringify(body) });
  const socket = io(`http://127.0.0.1:${daemon.port}/agent`, {
    auth: { token: daemon.token },
    transports: ["websocket"],
  });
  return {
    tools,
    daemon,
    open: async () => sessionSchema.parse(JSON.parse(await post("/sessions", {}))).id,
    say: (session, text, skill) => say(socket, session, { text, skill }),
    close() {
      socket.close();
      return sides.stopDaemon(dataDir);
    },
  };
}

async function say(socket: Socket, session: string, message: { text: string; skill: string }): Promise<void> {
  let hear = (_: unknown): void => {};
  const ended = new Promise<SessionEvent>((resolve) => {
    hear = (given) => {
      const event = eventSchema.parse(given);
      if (event.session_id === session && event.type === "session_ended") resolve(event);
    };
  });
  socket.on("agent_event", hear);
  try {
    const taken: unknown = await socket.emitWithAck("send_message", { session_id: session, ...message });
    if (!z.object({ ok: z.literal(true) }).safeParse(taken).success)
      throw new Error(`"${message.text}" was refused: ${JSON.stringify(taken)}`);
    const end = await ended;
    if (end.outcome !== "done") throw new Error(`"${message.text}" ended with ${JSON.stringify(end)}`);
  } finally {
    socket.off("agent_event", hear);
  }
}

/** `labwright serve` with the key and the address of the Messages API. */
async function startServer(
  { root, scratch }: Sides,
  { dataDir, config, api }: { dataDir: string; config: string; api: string },
): Promise<DaemonFile> {
  const bin = join(root, "mcp-server", "bin", "labwright.js");
  const child = spawn(
    process.execPath,
    [bin, "serve", "--port", "0", "--data-dir", dataDir, "--config", config],
    {
      cwd: scratch,
      env: { ...process.env, ANTHROPIC_API_KEY: testKey, ANTHROPIC_BASE_URL: api },
      stdio: "ignore",
    },
  );
  const deadline = Date.now() + startLimitMs;
  for (;;) {
    const text = await readFile(join(dataDir, "daemon.json"), "utf8").catch(() => "{}");
    const { data } = daemonSchema.safeParse(JSON.parse(text));
    if (data?.pid === child.pid && data) return data;
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}.`);
    if (Date.now() > deadline) {
      child.kill("SIGTERM");
      throw new Error("The server did not start in time.");
    }
    await pause(50);
  }
}
