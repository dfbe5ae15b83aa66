import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  CLIENT_INFO_META_KEY,
  isJSONRPCRequest,
  isSpecType,
  type JSONRPCRequest,
  type McpServer,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Catalogue } from "../../registry/catalogue.ts";
import { cutCatalogue, type Subset, type SubsetAsked } from "../../registry/subset.ts";
import type { Backend } from "../mcp/backend.ts";
import { createServer } from "../mcp/createServer.ts";
import { listenedTo, listenMethod, notifyUpdated } from "../mcp/subscriptions.ts";
import type { DaemonWanted } from "./findDaemon.ts";
import type { Forward } from "./forward.ts";

/** A host that never lists still gets its daemon soon after its first word, which says who it is. */
const warmAfterMs = 1_000;
/** Larger messages end the connection; the daemon refuses them long before with a message that says so. */
const maxMessageBytes = 64 * 1024 * 1024;

/** A host that listens to more addresses than that has lost count. */
const maxListened = 64;

export type BridgeOptions = {
  catalogueFile: URL;
  dataDir: string;
  /** The project that the bridge was started in. */
  project: string | undefined;
  command: readonly string[];
  config(): NonNullable<DaemonWanted["config"]>;
  subset: SubsetAsked;
};

/**
 * A full MCP server over stdin and stdout. It answers the listings from the build's catalogue, without waiting for the
 * daemon and without loading what talks to it; the rest is forwarded. Ends with its stdin. Throws SubsetError.
 */
export function serveBridge(options: BridgeOptions): void {
  // A full disk under stderr must not end the bridge.
  process.stderr.on("error", () => {});
  const catalogue: Catalogue = JSON.parse(readFileSync(options.catalogueFile, "utf8"));
  let host: string | undefined;
  let loading: Promise<Forward> | undefined;
  const load = () => {
    loading ??= loadForward(options, catalogue, () => `${host ?? "mcp"}/${randomBytes(4).toString("hex")}`);
    return loading;
  };
  const warm = () => void load().then((forward) => forward.warm());
  const backend = forwardedBy(load);
  // Asked for at once, so that a misspelled skill is reported before the first call.
  const subset = subsetOf(catalogue, options.subset, backend);
  const transport = new ListeningTransport(process.stdin, process.stdout, { maxBufferSize: maxMessageBytes });
  let timer: NodeJS.Timeout | undefined;
  let served: McpServer | undefined;
  transport.onRequest = ({ method, params }) => {
    host ??= hostOf(params);
    timer ??= setTimeout(warm, warmAfterMs);
    // The listing comes first: loading what talks to the daemon would hold it up.
    if (method === "tools/list") setTimeout(warm, 10);
    if (method === listenMethod) for (const uri of listenedTo(params)) listen(uri);
  };
  // The SDK keeps what the host listens to, and lets only that through; it is watched until the bridge ends.
  const listened = new Set<string>();
  const listen = (uri: string) => {
    if (listened.has(uri) || listened.size >= maxListened) return;
    listened.add(uri);
    backend.watch(uri, () => served && notifyUpdated(served, uri)).catch(() => listened.delete(uri));
  };
  const create = async () => {
    served = createServer(await subset, backend);
    return served;
  };
  const handle = serveStdio(create, { transport });
  const end = () => {
    clearTimeout(timer);
    // The attachment ends with the process, and with it what this bridge held.
    void subset.then(() => handle.close()).finally(() => process.exit(0));
  };
  for (const event of ["end", "close"]) process.stdin.once(event, end);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, end);
}

/** The code that talks to the daemon is loaded when it is first needed. */
const forwardedBy = (load: () => Promise<Forward>): Backend => ({
  callTool: async (call) => (await load()).callTool(call),
  readResource: async (uri, signal) => (await load()).readResource(uri, signal),
  complete: async (asked) => (await load()).complete(asked),
  watch: async (uri, changed) => (await load()).watch(uri, changed),
  listed: async () => (await load()).listed(),
  skills: async () => (await load()).skills(),
});

/** A skill that is not of the build may be the user's own, of which only the daemon knows. */
function subsetOf(catalogue: Catalogue, asked: SubsetAsked, backend: Backend): Promise<Subset> {
  const names = new Set(catalogue.skills.map(({ name }) => name));
  if (asked.skills.every((name) => names.has(name))) return Promise.resolve(cutCatalogue(catalogue, asked));
  const find = async () => cutCatalogue(catalogue, asked, await backend.skills());
  return find().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  });
}

/** Sees what the SDK answers by itself: that a listing was asked for, and by whom. */
class ListeningTransport extends StdioServerTransport {
  onRequest: (request: JSONRPCRequest) => void = () => {};

  override async start(): Promise<void> {
    const deliver = this.onmessage;
    this.onmessage = (message) => {
      deliver?.(message);
      if (isJSONRPCRequest(message)) this.onRequest(message);
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
    import("../../storage/engine/lock.ts"),
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
        project: options.project,
        command: options.command,
        deadlineMs: 45_000,
        isLocked: isDataDirLocked,
        build: catalogue.build,
        config: options.config(),
      }),
  });
}
