import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ToolError } from "@labwright/mcp-server";
import { afterAll, beforeEach } from "vitest";
import { z } from "zod";
import { createApi } from "#mcp-server/api/index.ts";
import { runCommand } from "#mcp-server/cli/main.ts";
import type { RunConnection } from "#mcp-server/cli/run/run.ts";
import { createRegistry } from "#mcp-server/registry/registry.ts";
import { defineTool } from "#mcp-server/registry/tool.ts";
import { createCallTool } from "#mcp-server/server/call/callTool.ts";
import { type DaemonFile, writeDaemonFile } from "#mcp-server/server/daemonFile.ts";
import { createAddresses } from "#mcp-server/server/page/addresses.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { memoryCalls, type TestClient } from "../fixtures/client.ts";
import { type HttpFixture, startHttp, testToken } from "../fixtures/http.ts";
import type { Product } from "../fixtures/product.ts";
import { silentObserver } from "../fixtures/silentObserver.ts";
import { wireServices } from "../fixtures/wire.ts";

/** A folder of the test's own. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "labwright-cli-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export type Ran = { code: number; out: string; err: string };

type RunSurroundings = {
  env?: Record<string, string>;
  cwd?: string;
  signal?: AbortSignal;
  /** Of a terminal so wide; none when left out. */
  columns?: number;
  /** What a person answers; without it, there is no one to type. */
  ask?: (question: string, until?: AbortSignal) => Promise<string | undefined>;
  onOut?: (text: string) => void;
  onErr?: (text: string) => void;
};

/** One command line, in this process. */
export async function run(args: readonly string[], options: RunSurroundings = {}): Promise<Ran> {
  const ran = { out: "", err: "" };
  const code = await runCommand(args, {
    out: (text) => {
      ran.out += text;
      options.onOut?.(text);
    },
    err: (text) => {
      ran.err += text;
      options.onErr?.(text);
    },
    env: {
      ...{ PATH: process.env.PATH, HOME: "/nonexistent" },
      ...{ LABWRIGHT_BROWSER_SANDBOX: process.env.LABWRIGHT_BROWSER_SANDBOX, ...options.env },
    },
    cwd: options.cwd ?? tmpdir(),
    signal: options.signal ?? new AbortController().signal,
    columns: options.columns,
    ask: options.ask,
  });
  return { code, ...ran };
}

/**
 * A project's folder, anew for each test of a file with these files in it, and commands in it. They start a daemon that has
 * one simulated device, `box`, and serves all tests of the file.
 */
export function projectFolder(files: Readonly<Record<string, string>>) {
  const data = temporaryFolder();
  const env = { LABWRIGHT_DATA_DIR: data.path };
  writeFileSync(join(data.path, "labwright.yaml"), "devices: [{ name: box, model: simulated }]\n");
  let folder: ReturnType<typeof temporaryFolder> | undefined;
  const place = () => folder?.path ?? "";
  function write(name: string, text: string): void {
    const file = join(place(), name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  beforeEach(() => {
    folder?.remove();
    folder = temporaryFolder();
    for (const [name, text] of Object.entries(files)) write(name, text);
  });
  afterAll(async () => {
    await run(["stop"], { env, cwd: data.path });
    folder?.remove();
    data.remove();
  });
  return {
    place,
    write,
    labwright: (args: readonly string[], options: Omit<RunSurroundings, "cwd"> = {}) =>
      run(args, { ...options, env: { ...env, ...options.env }, cwd: place() }),
  };
}

/** The connection of a command to a product in this process. */
export const connectionTo = (product: Product, client: TestClient): RunConnection => ({
  async call(name, args) {
    const { isError, error, structured } = await client.call(name, args);
    return isError && error ? { ok: false, error } : { ok: true, structured };
  },
  artifact: async (uri) => (await product.services.artifacts.get(uri.replace("artifact://", ""))).bytes,
});

const echo = defineTool({
  name: "echo_back",
  title: "Echo",
  description: "Gives back what it got and who asked.",
  domain: "devices",
  capabilities: ["DIAGNOSIS"],
  effect: "read",
  timeoutMs: 60_000,
  input: z.strictObject({
    text: z.string().default(""),
    device_id: z.string().optional(),
    fail: z.boolean().default(false),
    hang: z.boolean().default(false),
  }),
  output: z.object({
    text: z.string(),
    client: z.string(),
    trace_id: z.string(),
    device_id: z.string().optional(),
  }),
  async handle({ input, context }) {
    if (input.fail) throw new ToolError("DEVICE_HELD", "It is held.", "Wait for it.", { holder: "cursor" });
    if (input.hang) await new Promise((_, reject) => context.signal.addEventListener("abort", reject));
    const { client, trace_id } = context;
    return {
      text: input.text,
      client,
      trace_id,
      ...(input.device_id !== undefined && { device_id: input.device_id }),
    };
  },
});

const catalogueSchema = z.object({ build: z.object({ hash: z.string(), at: z.string() }) });

/** Another build than the one on disk would be asked to leave, and a real daemon started in its place. */
const ownBuild = () =>
  catalogueSchema.parse(JSON.parse(readFileSync("mcp-server/dist/catalogue.json", "utf8"))).build;

/** A daemon's HTTP side in this process, found through `daemon.json` in `dataDir` as a real one is. */
export async function startFakeDaemon(
  dataDir: string,
  options: { pid?: number; isIdle?: () => boolean; healthy?: boolean; onCall?: () => void } = {},
): Promise<HttpFixture & { file: DaemonFile }> {
  const tools = [echo];
  const services = wireServices();
  const callTool = createCallTool({
    registry: createRegistry(tools),
    services,
    observe: silentObserver,
    calls: memoryCalls(),
    clock: systemClock,
  });
  const http = await startHttp(services, tools, {
    ...(options.isIdle && { isIdle: options.isIdle }),
    api: createApi({
      callTool: (request) => {
        options.onCall?.();
        return callTool(request);
      },
      registry: createRegistry(tools),
      events: {
        read: async () => [],
        cursor: async () => 0,
        done: async () => 0,
        latestId: async () => 0,
        subscribe: async () => () => {},
      },
      artifacts: services.artifacts,
      live: { watch: () => Promise.reject(new Error("Nothing is shown here.")), recent: () => [] },
      apps: { map: () => Promise.reject(new Error("No apps here.")) },
      reports: {
        view: () => Promise.reject(new Error("No runs here.")),
        compare: () => Promise.reject(new Error("No runs here.")),
      },
      addresses: createAddresses({ now: () => 0 }, () => 7333),
      memory: { list: async () => [], forget: async () => 0 },
      investigations: { stats: async () => ({ uses: [], spending: [] }) },
      audit: async (filter) => [
        {
          at: "2026-11-21T00:00:00.000Z",
          client: "cli/1",
          tool: filter.tool ?? "take_control",
          outcome: "ok",
          duration_ms: 2,
        },
      ],
      health: async () => ({ healthy: options.healthy ?? true, services: { database: "ok" } }),
      principalOf: (request) => ({
        principal: "local",
        client: request.headers.get("x-labwright-client") ?? "",
      }),
      version: "1.2.3",
      fault: () => {},
    }),
  });
  const file: DaemonFile = {
    pid: options.pid ?? process.pid,
    started_at: "2026-11-21T00:00:00.000Z",
    port: http.listening.localPort,
    token: testToken,
    version: "1.2.3",
    build: ownBuild(),
    config: { hash: "" },
  };
  writeDaemonFile(dataDir, file);
  return { ...http, file };
}
