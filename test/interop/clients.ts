import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as OldTransport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { z } from "zod";
import { type DaemonFile, daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import type { Bench } from "../fixtures/daemon.ts";
import { productCommand } from "../fixtures/daemon.ts";

const resultSchema = z.object({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
});
export type Result = z.output<typeof resultSchema>;

/** What a test needs of a client, whoever wrote it. */
export type AnyClient = {
  list(): Promise<string[]>;
  call(
    name: string,
    args: Record<string, unknown>,
    options?: { onprogress?: () => void; signal?: AbortSignal },
  ): Promise<Result>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
};

const stdio = (bench: Bench) => ({
  command: process.execPath,
  args: [...productCommand, "--data-dir", bench.dataDir],
  stderr: "inherit" as const,
});

function http(bench: Bench): [URL, { requestInit: { headers: Record<string, string> } }] {
  const file: DaemonFile | undefined = bench.daemon();
  if (!file) throw new Error("no daemon runs yet");
  const { authorization = "" } = daemonHeaders(file, "unused");
  return [daemonUrl(file, "/mcp"), { requestInit: { headers: { authorization } } }];
}

/** The bridge for hosts that speak only stdio. The token goes by the environment: arguments are for all to read. */
function remote(bench: Bench) {
  const [url, { requestInit }] = http(bench);
  const program = fileURLToPath(new URL("../../node_modules/mcp-remote/dist/proxy.js", import.meta.url));
  return {
    command: process.execPath,
    args: [
      program,
      url.href,
      "--allow-http",
      "--transport",
      "http-only",
      "--header",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in by mcp-remote
      "Authorization:${AUTH}",
    ],
    env: {
      AUTH: requestInit.headers.authorization ?? "",
      MCP_REMOTE_CONFIG_DIR: join(bench.dataDir, "remote"),
    },
    stderr: "ignore" as const,
  };
}

async function current(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  mode: "legacy" | "auto",
) {
  const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const made: AnyClient = {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options) =>
      resultSchema.parse(await client.callTool({ name, arguments: args }, { timeout: 120_000, ...options })),
    read: async (uri) => JSON.stringify(await client.readResource({ uri })),
    close: () => client.close(),
  };
  return made;
}

async function old(transport: OldTransport): Promise<AnyClient> {
  const client = new OldClient({ name: "v1", version: "1" });
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options) =>
      resultSchema.parse(
        await client.callTool({ name, arguments: args }, undefined, { timeout: 120_000, ...options }),
      ),
    read: async (uri) => JSON.stringify(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

/** The old transport's class does not fit its own interface under exact optional properties. */
function oldHttp(bench: Bench): OldTransport {
  const transport = new OldHttp(...http(bench));
  return {
    start: () => transport.start(),
    send: (message) => transport.send(message),
    close: () => transport.close(),
    setProtocolVersion: (version) => transport.setProtocolVersion(version),
    set onmessage(listener: NonNullable<OldTransport["onmessage"]>) {
      transport.onmessage = listener;
    },
    set onclose(listener: () => void) {
      transport.onclose = listener;
    },
    set onerror(listener: (error: Error) => void) {
      transport.onerror = listener;
    },
  };
}

/** Every client that must work, by name. */
export const clients: Record<string, (bench: Bench) => Promise<AnyClient>> = {
  "2.x over stdio, 2025-11-25": (bench) => current(new StdioClientTransport(stdio(bench)), "legacy"),
  "2.x over stdio, 2026-07-28": (bench) => current(new StdioClientTransport(stdio(bench)), "auto"),
  "2.x over HTTP, 2025-11-25": (bench) =>
    current(new StreamableHTTPClientTransport(...http(bench)), "legacy"),
  "2.x over HTTP, 2026-07-28": (bench) => current(new StreamableHTTPClientTransport(...http(bench)), "auto"),
  "mcp-remote over HTTP": (bench) => current(new StdioClientTransport(remote(bench)), "legacy"),
  "1.x over stdio": (bench) => old(new OldStdio(stdio(bench))),
  "1.x over HTTP": (bench) => old(oldHttp(bench)),
};
