import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  CLIENT_INFO_META_KEY,
  isJSONRPCRequest,
  isSpecType,
  type JSONRPCRequest,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Catalogue } from "../../registry/catalogue.ts";
import { cutCatalogue, type SubsetAsked } from "../../registry/subset.ts";
import { type Backend, createServer } from "../createServer.ts";
import type { DaemonWanted } from "./findDaemon.ts";
import type { Forward } from "./forward.ts";

/** A host that never lists still gets its daemon soon after its first word, which says who it is. */
const warmAfterMs = 1_000;
/** Larger messages end the connection; the daemon refuses them long before with a message that says so. */
const maxMessageBytes = 64 * 1024 * 1024;

export type BridgeOptions = {
  catalogueFile: URL;
  dataDir: string;
  command: readonly string[];
  config(): NonNullable<DaemonWanted["config"]>;
  subset: SubsetAsked;
};

/**
 * A full MCP server over stdin and stdout. It answers the listings from the build's catalogue, without waiting for the
 * daemon and without loading what talks to it; the rest is forwarded. Ends with its stdin. Throws SubsetError.
 */
export function serveBridge(options: BridgeOptions): void {
  const catalogue: Catalogue = JSON.parse(readFileSync(options.catalogueFile, "utf8"));
  const subset = cutCatalogue(catalogue, options.subset);
  let host: string | undefined;
  let loading: Promise<Forward> | undefined;
  const load = () => {
    loading ??= loadForward(options, catalogue, () => `${host ?? "mcp"}/${randomBytes(4).toString("hex")}`);
    return loading;
  };
  const warm = () => void load().then((forward) => forward.warm());
  const backend: Backend = {
    callTool: async (call) => (await load()).callTool(call),
    readResource: async (uri, signal) => (await load()).readResource(uri, signal),
  };
  const transport = new ListeningTransport(process.stdin, process.stdout, { maxBufferSize: maxMessageBytes });
  let timer: NodeJS.Timeout | undefined;
  transport.onRequest = (method, name) => {
    host ??= name;
    timer ??= setTimeout(warm, warmAfterMs);
    // The listing comes first: loading what talks to the daemon would hold it up.
    if (method === "tools/list") setTimeout(warm, 10);
  };
  const handle = serveStdio(() => createServer(subset, backend), { transport });
  const end = () => {
    clearTimeout(timer);
    // The attachment ends with the process, and with it what this bridge held.
    void handle.close().finally(() => process.exit(0));
  };
  for (const event of ["end", "close"]) process.stdin.once(event, end);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, end);
}

/** Sees what the SDK answers by itself: that a listing was asked for, and by whom. */
class ListeningTransport extends StdioServerTransport {
  onRequest: (method: string, host: string | undefined) => void = () => {};

  override async start(): Promise<void> {
    const deliver = this.onmessage;
    this.onmessage = (message) => {
      deliver?.(message);
      if (isJSONRPCRequest(message)) this.onRequest(message.method, hostOf(message.params));
    };
    await super.start();
  }
}

/** 2025 hosts introduce themselves in `initialize`, 2026 hosts in every request. */
function hostOf(params: JSONRPCRequest["params"]): string | undefined {
  const info: unknown = params?._meta?.[CLIENT_INFO_META_KEY] ?? params?.clientInfo;
  return isSpecType.Implementation(info) ? info.name : undefined;
}

async function loadForward(
  options: BridgeOptions,
  catalogue: Catalogue,
  client: () => string,
): Promise<Forward> {
  const [{ createForward }, { findDaemon }, { isDataDirLocked }] = await Promise.all([
    import("./forward.ts"),
    import("./findDaemon.ts"),
    import("../../storage/lock.ts"),
  ]);
  const repeatable = catalogue.tools
    .filter((tool) => tool.annotations.idempotentHint)
    .map((tool) => tool.name);
  return createForward({
    repeatable: new Set(repeatable),
    client,
    find: (name) =>
      findDaemon({
        dataDir: options.dataDir,
        client: name,
        command: options.command,
        deadlineMs: 45_000,
        isLocked: isDataDirLocked,
        build: catalogue.build,
        config: options.config(),
      }),
  });
}
