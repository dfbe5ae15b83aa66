import { randomBytes } from "node:crypto";
import type { Hono } from "hono";
import { isLoopback } from "../config/places.ts";
import type { Catalogue, CatalogueSkill } from "../registry/catalogue.ts";
import type { Clock } from "../services/index.ts";
import type { CallTool } from "./call/call.ts";
import { trackCalls } from "./call/trackCalls.ts";
import { removeDaemonFile, writeDaemonFile } from "./daemonFile.ts";
import { createHttp, type Http, type HttpDeps, type ServedAgents } from "./http/http.ts";
import { type Listening, type ListenSettings, listen } from "./http/listen.ts";
import { type IdleWatch, watchIdle } from "./idle.ts";
import { ownHeap, watchMemory } from "./memory.ts";
import { type Addresses, createAddresses } from "./page/addresses.ts";
import type { Resources } from "./resources/index.ts";

export type DaemonParts = {
  dataDir: string;
  catalogue: Catalogue;
  /** Undefined: a new one. */
  token: string | undefined;
  config: { path: string | undefined; hash: string };
  listen: ListenSettings;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  callTool: CallTool;
  resources: Resources;
  /** The user's own skills; the same array until they change. */
  userSkills(): readonly CatalogueSkill[];
  clock: Clock;
  /** The REST routes, over the call path that counts what is under way. */
  api?: (callTool: CallTool, addresses: Addresses) => Hono;
  events?: HttpDeps["events"];
  agentStore?: HttpDeps["agentStore"];
  /** Opens the agents, as clients of this server; called when they are first asked for. */
  agents?: (own: OwnAddress) => Promise<ServedAgents>;
  metrics?: HttpDeps["metrics"];
  /** Undefined: stays until it is stopped. */
  idleMs: number | undefined;
  maxCallMs: number;
  /** Leases held, runs under way, deployments that no other daemon would start, devices watched, and what agents hold. */
  held(): Promise<{ leases: number; runs: number; deployments: number; watched: number; agents: number }>;
  onClientEnd(client: string): void;
  onStop(reason: string): void;
  /** Ends runs and devices; calls under way end by it. */
  closeServices(): Promise<void>;
};

/** This server as a client on this machine reaches it. */
export type OwnAddress = { url: URL; token: string };

export type Daemon = {
  port: number;
  own: OwnAddress;
  /** Bridges and HTTP sessions that are connected. */
  clients(): { bridges: number; sessions: number };
  /** Resolves with the reason when it has ended; the storage is still open. */
  ended: Promise<string>;
  stop(reason: string): void;
};

/** Sessions of vanished clients live at least this long, and longer than any call. */
const sessionIdleMs = 600_000;
const lastAnswersMs = 2_000;

/** Serves until it is stopped, has nothing to do, or fails to. `daemon.json` is written last and removed first. */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const token = parts.token ?? randomBytes(24).toString("hex");
  const calls = trackCalls(parts.callTool);
  let listening: Listening | undefined;
  let stopWith: (reason: string) => void = () => {};
  const stopped = new Promise<string>((resolve) => {
    stopWith = resolve;
  });
  const { agents } = parts;
  const own = () => ({ url: new URL(`http://127.0.0.1:${listening?.localPort ?? 0}`), token });
  const isBusy = async () => {
    const { leases, runs } = await parts.held();
    return calls.running() > 0 || leases > 0 || runs > 0;
  };
  const memory = watchMemory({
    clock: parts.clock,
    heap: ownHeap(),
    isBusy: () => calls.running() > 0,
  });
  let touch = memory.touch;
  const addresses = createAddresses(parts.clock, () => listening?.localPort ?? 0);
  const http = createHttp({
    access: accessOf(parts, token, () => listening?.ports ?? []),
    catalogue: parts.catalogue,
    resources: parts.resources,
    userSkills: parts.userSkills,
    clock: parts.clock,
    addresses,
    ...(parts.api && { api: parts.api(calls.callTool, addresses) }),
    ...(parts.events && { events: parts.events }),
    ...(parts.agentStore && { agentStore: parts.agentStore }),
    ...(agents && { agents: () => agents(own()) }),
    ...(parts.metrics && { metrics: parts.metrics }),
    onClientEnd: parts.onClientEnd,
    callTool: calls.callTool,
    isReady: () => listening !== undefined,
    onActivity: () => touch(),
    sessionIdleMs: Math.max(sessionIdleMs, 2 * parts.maxCallMs),
    async onStop(reason, ifIdle) {
      if (ifIdle && (await isBusy())) return false;
      // The answer goes out first.
      setImmediate(() => stopWith(reason));
      return true;
    },
  });
  listening = await listen(http, parts.listen);
  const idle = idleWatch(parts, { http, isBusy, onIdle: () => stopWith("idle") });
  touch = () => {
    memory.touch();
    idle?.touch();
  };
  announce(parts, listening, token);
  const ended = stopped.then(async (reason) => {
    idle?.stop();
    memory.stop();
    parts.onStop(reason);
    await leave(parts, { reason, http, listening, quiet: calls.quiet });
    return reason;
  });
  return {
    port: listening.port,
    own: own(),
    clients: () => ({ bridges: http.links.count(), sessions: http.sessions() }),
    ended,
    stop: (reason) => stopWith(reason),
  };
}

/** Undefined for a daemon that stays. */
function idleWatch(
  { clock, idleMs, held }: DaemonParts,
  daemon: { http: Http; isBusy(): Promise<boolean>; onIdle(): void },
): IdleWatch | undefined {
  if (idleMs === undefined) return undefined;
  const { http, isBusy, onIdle } = daemon;
  return watchIdle({
    clock,
    idleMs,
    async isBusy() {
      if (http.links.count() > 0 || http.sessions() > 0 || (await isBusy())) return true;
      // Not of `isBusy`: a newer build that replaces this one continues its deployments, watching and agents.
      const { deployments, watched, agents } = await held();
      return deployments > 0 || watched > 0 || agents > 0;
    },
    onIdle,
  });
}

function accessOf(parts: DaemonParts, token: string, ports: () => readonly number[]) {
  const { host } = parts.listen;
  const isWildcard = host === "0.0.0.0" || host === "::" || host === "[::]";
  const own = isLoopback(host) || isWildcard ? [] : [host];
  return {
    token,
    ports,
    allowedHosts: [...parts.allowedHosts, ...own],
    allowedOrigins: parts.allowedOrigins,
  };
}

function announce({ dataDir, catalogue, config }: DaemonParts, listening: Listening, token: string): void {
  writeDaemonFile(dataDir, {
    pid: process.pid,
    started_at: new Date(performance.timeOrigin).toISOString(),
    port: listening.localPort,
    token,
    version: catalogue.version,
    build: catalogue.build,
    config: { ...(config.path !== undefined && { path: config.path }), hash: config.hash },
  });
}

async function leave(
  parts: DaemonParts,
  end: { reason: string; http: Http; listening: Listening; quiet(ms: number): Promise<void> },
): Promise<void> {
  removeDaemonFile(parts.dataDir, process.pid);
  await parts.closeServices();
  await end.quiet(lastAnswersMs);
  end.http.links.leave(end.reason);
  await end.http.close();
  await end.listening.close();
}
