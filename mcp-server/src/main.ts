import { readFileSync } from "node:fs";
import {
  type Claim,
  claimDataDir,
  failureLine,
  readServeOptions,
  type ServeOptions,
  serveExitCodes,
  serveHelp,
} from "./cli/serve.ts";
import type { Catalogue } from "./registry/catalogue.ts";
import type { Registry } from "./registry/registry.ts";
import type { CallTool } from "./server/callTool.ts";
import type { Daemon } from "./server/daemon.ts";

/** A shutdown that hangs must not keep the data directory. */
const shutdownMs = 15_000;
const dayMs = 86_400_000;
const defaultPort = 7333;

const args = process.argv.slice(process.argv[2] === "serve" ? 3 : 2);
if (args.includes("--help") || args.includes("-h")) process.stdout.write(serveHelp);
else await run(args);

async function run(given: readonly string[]): Promise<void> {
  try {
    const options = readServeOptions(given);
    const claim = await claimDataDir(options, process.env, process.cwd());
    const { daemon, end } = await compose(options, claim);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
      process.on(signal, () => daemon.stop(signal));
    claim.lock.lost.addEventListener("abort", () => daemon.stop("the lock of the data directory was lost"));
    await daemon.ended;
    await end();
    process.exit(serveExitCodes.ended);
  } catch (error) {
    const { line, exitCode } = failureLine(error);
    process.stderr.write(line);
    process.exit(exitCode);
  }
}

/** Loaded while the database opens in its thread. */
async function loadRooms() {
  const [config, secrets, clock, observability, controllers, lab, storage, services, tools] =
    await Promise.all([
      import("./config.ts"),
      import("./services/secrets.ts"),
      import("./services/clock.ts"),
      import("./observability/index.ts"),
      import("@labwright/controllers"),
      import("@labwright/controllers/lab"),
      import("./storage/index.ts"),
      import("./services/create.ts"),
      import("./tools/index.ts"),
    ]);
  const [registry, callTool, daemon, http, api] = await Promise.all([
    import("./registry/registry.ts"),
    import("./server/callTool.ts"),
    import("./server/daemon.ts"),
    import("./server/http.ts"),
    import("./api/index.ts"),
  ]);
  return {
    ...config,
    ...secrets,
    ...clock,
    ...observability,
    ...controllers,
    ...lab,
    ...storage,
    ...services,
    ...tools,
    ...registry,
    ...callTool,
    ...daemon,
    ...http,
    ...api,
  };
}

/** Storage, services and what watches them, before anything is served. */
async function openParts(options: ServeOptions, claim: Claim) {
  const rooms = await loadRooms();
  const config = rooms.loadConfig({
    command: "serve",
    options: {
      config: options.config,
      data_dir: options.dataDir,
      log_level: options.logLevel,
      host: options.host,
      port: options.port,
    },
    env: process.env,
    cwd: process.cwd(),
  });
  const secrets = rooms.createSecrets(config.secrets, process.env);
  const observability = await rooms.createObservability({
    level: config.log_level,
    destination: "stderr",
    mask: (text) => secrets.mask(text),
    env: process.env,
  });
  const fault = (error: unknown) => observability.log.error({ err: error }, "fault");
  process.on("unhandledRejection", fault);
  const storage = await rooms.openStorage({
    dataDir: claim.dataDir,
    databaseUrl: config.server.database_url,
    engine: claim.engine,
  });
  const own: { port?: number } = {};
  const running = rooms.createServices({
    config,
    storage,
    secrets,
    clock: rooms.systemClock,
    factories: [rooms.webFactory, rooms.simulatedFactory],
    models: config.models,
    ownPort: () => own.port,
    onFault: fault,
  });
  return { rooms, config, observability, storage, running, own, fault };
}
type Parts = Awaited<ReturnType<typeof openParts>>;

async function compose(
  options: ServeOptions,
  claim: Claim,
): Promise<{ daemon: Daemon; end(): Promise<void> }> {
  const parts = await openParts(options, claim);
  const { rooms, config, observability, storage, running, own, fault } = parts;
  const { services } = running;
  const clock = rooms.systemClock;
  const recovered = await services.executions.recover();
  const catalogue: Catalogue = JSON.parse(readFileSync(new URL("./catalogue.json", import.meta.url), "utf8"));
  const registry = rooms.createRegistry(rooms.tools);
  const calls = rooms.callRows(storage.db);
  const daemon = await rooms.startDaemon({
    dataDir: claim.dataDir,
    catalogue,
    token: config.token,
    config: { path: config.file?.path, hash: config.file?.sha256 ?? "" },
    listen: listenSettings(config),
    allowedHosts: config.server.allowed_hosts,
    allowedOrigins: config.server.allowed_origins,
    callTool: rooms.createCallTool({
      registry,
      services,
      observe: observability.observer,
      calls,
      clock,
      maxCallMs: config.limits.call_ms,
    }),
    artifacts: running.artifacts,
    clock,
    api: (callTool) => restOf(parts, { callTool, registry, version: catalogue.version }),
    metrics: async () => ({
      text: await observability.metrics(),
      contentType: observability.metricsContentType,
    }),
    idleMs: options.untilIdle ? config.limits.idle_exit_ms : undefined,
    maxCallMs: config.limits.call_ms,
    held: async () => ({
      leases: (await services.devices.leases()).length,
      runs: services.executions.running(),
    }),
    onClientEnd: (client) => void services.devices.releaseClient(client).catch(fault),
    onStop(reason) {
      observability.log.info({ reason }, "stopping");
      setTimeout(() => process.exit(serveExitCodes.failed), shutdownMs).unref();
    },
    closeServices: () => running.close().catch(fault),
  });
  own.port = daemon.port;
  addGauges(parts);
  const { hash: build } = catalogue.build;
  observability.log.info({ port: daemon.port, recovered, build, engine: storage.engine }, "serving");
  const daysAgo = (days: number) => new Date(clock.now() - days * dayMs).toISOString();
  calls.purgeKeys(daysAgo(1)).catch(fault);
  calls.purgeAudit(daysAgo(config.limits.audit_days)).catch(fault);
  running.artifacts.purge(clock.now()).catch(fault);
  return {
    daemon,
    async end() {
      await storage.close();
      await observability.close();
      await claim.lock.release();
    },
  };
}

function restOf(parts: Parts, own: { callTool: CallTool; registry: Registry; version: string }) {
  const { rooms, running, storage, observability } = parts;
  return rooms.createApi({
    ...own,
    events: running.events,
    artifacts: running.artifacts,
    health: () => health(storage),
    principalOf: rooms.restPrincipal,
    fault: (error, trace_id) => observability.observer.fault(error, { tool: "api", trace_id }),
  });
}

function listenSettings(config: Parts["config"]) {
  const { host, port, tls, trusted_proxy } = config.server;
  return {
    host,
    port: port ?? (config.is_default_data_dir ? defaultPort : undefined),
    portIsFixed: port !== undefined,
    tls,
    trustedProxy: trusted_proxy,
  };
}

async function health(storage: Parts["storage"]) {
  const database = await storage.pool.query("select 1").then(
    () => "ok",
    () => "failed",
  );
  return { healthy: database === "ok", services: { database, mcp: "ok" } };
}

function addGauges({ observability: { gauge }, running }: Parts): void {
  const { devices, executions } = running.services;
  gauge("labwright_leases", "Leases held.", async () => (await devices.leases()).length);
  gauge("labwright_open_devices", "Devices open, which is how many browsers live.", () =>
    devices.openCount(),
  );
  gauge("labwright_executions_running", "Runs under way.", () => executions.running());
}
