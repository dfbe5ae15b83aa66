import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { readDaemonFile } from "#mcp-server/server/daemonFile.ts";
import { type Reply, readReply } from "../fixtures/client.ts";
import { productCommand } from "../fixtures/daemon.ts";
import { type Answer, callDaemon } from "../fixtures/daemonProcess.ts";
import { type MessagesApi, startMessagesApi, testKey } from "../fixtures/messagesApi/server.ts";
import { type Postgres, startPostgres } from "../fixtures/postgres.ts";
import { openPrograms, type Programs } from "../fixtures/program.ts";
import { agentModel } from "./agentModel.ts";
import { type PressSite, startPressSite } from "./pressSite.ts";
import { markedProcesses, type Process } from "./processes.ts";

const clockJump = fileURLToPath(new URL("clockJump.mjs", import.meta.url));

/** What starts a bridge again when it was killed, as a host does. */
export type Bridge = {
  readonly pid: number;
  call(tool: string, args?: Record<string, unknown>): Promise<Reply>;
  /** Begins anew. */
  renew(): Promise<void>;
  close(): Promise<void>;
};

export type Host = {
  name: string;
  dataDir: string;
  clockFile: string;
  /** Browsers of its own. */
  browsers: readonly string[];
  /** The daemon of now, if one lives. */
  daemonPid(): number | undefined;
  /** A call over REST. Rejects when no daemon answers. */
  call(tool: string, args: Record<string, unknown>, client: string): Promise<Answer>;
  openBridge(): Promise<Bridge>;
  programs: Programs;
  env: Record<string, string>;
};

export type World = {
  databaseUrl: string;
  postgres: Postgres;
  site: PressSite;
  model: MessagesApi;
  hosts: readonly Host[];
  processes(): Process[];
  close(): Promise<void>;
};

const layout = [
  { name: "a", browsers: ["w1", "w2", "w3"] },
  { name: "b", browsers: ["v1"] },
];

/** One for test cases, one for scripts. */
export const boxes = ["box", "desk"];

const configOf = (name: string, browsers: readonly string[]) =>
  JSON.stringify({
    server: { name },
    devices: [
      ...browsers.map((browser) => ({ name: browser, model: "web" })),
      ...boxes.map((box) => ({ name: box, model: "simulated" })),
    ],
    limits: { lease_ms: 3_000, call_ms: 60_000 },
  });

const sleeper = "import time\nprint('sleeps', flush=True)\ntime.sleep(2)\n";

/** Two hosts on one PostgreSQL server, each with browsers, a box and a script. Nothing is started but the server. */
export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "labwright-faults-"));
  const marker = `FAULT_SUITE=${randomUUID()}`;
  const [postgres, site] = await Promise.all([startPostgres(), startPressSite()]);
  const model = await startMessagesApi({ respond: agentModel(site.url) });
  const databaseUrl = await postgres.newDatabase();
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    LABWRIGHT_BROWSER_SANDBOX: "optional",
    NODE_OPTIONS: `--import ${clockJump}`,
    DATABASE_URL: databaseUrl,
    FAULT_SUITE: marker.slice("FAULT_SUITE=".length),
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: testKey,
  };
  const hosts = layout.map(({ name, browsers }) => openHost(join(folder, name), { name, browsers, env }));
  const processes = () => markedProcesses(marker);
  return {
    ...{ databaseUrl, postgres, site, model, hosts, processes },
    async close() {
      for (const { programs } of hosts) await programs.end();
      for (const { pid } of processes()) endProcess(pid);
      await site.close();
      await model.close();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function openHost(
  dataDir: string,
  { name, browsers, env }: { name: string; browsers: readonly string[]; env: Record<string, string> },
): Host {
  mkdirSync(join(dataDir, "scripts"), { recursive: true });
  writeFileSync(join(dataDir, "labwright.yaml"), configOf(name, browsers));
  writeFileSync(join(dataDir, "scripts", "sleeper.py"), sleeper);
  const clockFile = join(dataDir, "clock");
  const ownEnv = { ...env, FAULT_CLOCK: clockFile };
  return {
    ...{ name, dataDir, clockFile, browsers, env: ownEnv },
    daemonPid: () => readDaemonFile(dataDir)?.pid,
    async call(tool, args, client) {
      const file = readDaemonFile(dataDir);
      if (file === undefined) throw new Error(`no daemon serves host ${name}`);
      return callDaemon(file, { tool, args, client });
    },
    openBridge: () => openBridge(dataDir, ownEnv),
    programs: openPrograms(dataDir),
  };
}

async function openBridge(dataDir: string, env: Record<string, string>): Promise<Bridge> {
  let open = await connect(dataDir, env);
  return {
    get pid() {
      return open.transport.pid ?? 0;
    },
    async call(tool, args = {}) {
      const result = await open.client.callTool({ name: tool, arguments: args }, { timeout: 60_000 });
      return readReply(result);
    },
    async renew() {
      await open.client.close().catch(() => {});
      open = await connect(dataDir, env);
    },
    close: () => open.client.close(),
  };
}

async function connect(dataDir: string, env: Record<string, string>) {
  const client = new Client({ name: "faults", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  const args = [...productCommand, "--data-dir", dataDir];
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: "ignore", env });
  await client.connect(transport);
  return { client, transport };
}

export function endProcess(pid: number): boolean {
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}
