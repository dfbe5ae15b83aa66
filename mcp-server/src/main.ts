import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Skill } from "@labwright/skills";
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
import type { CallTool } from "./server/call/callTool.ts";
import type { Daemon } from "./server/daemon.ts";
import type { Addresses } from "./server/page/addresses.ts";
import type { Serving } from "./services/lab/processes/index.ts";

/** A shutdown that hangs must not keep the data directory. */
const shutdownMs = 15_000;
const dayMs = 86_400_000;
const defaultPort = 7333;

// A full disk under stderr, or a reader that went, must not end the daemon.
process.stderr.on("error", () => {});

const args = process.argv.slice(process.argv[2] === "serve" ? 3 : 2);
if (args.includes("--help") || args.includes("-h")) process.stdout.write(serveHelp);
else await run(args);

async function run(given: readonly string[]): Promise<void> {
  try {
    const options = readServeOptions(given);
    const claim = await claimDataDir(options, process.env, process.cwd());
    const { daemon, lost, end } = await compose(options, claim);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
      process.on(signal, () => daemon.stop(signal));
    await daemon.ended;
    await end();
    lost.throwIfAborted();
    process.exit(serveExitCodes.ended);
  } catch (error) {
    const { storageFailure } = await import("./storage/engine/failure.ts");
    const { line, exitCode } = failureLine(storageFailure(error) ?? error);
    process.stderr.write(line);
    process.exit(exitCode);
  }
}

/** Loaded while the database opens in its thread. */
async function loadRooms() {
  const [config, factories, secrets, production, clock, observability, storage, services, userSkills, tools] =
    await Promise.all([
      import("./config.ts"),
      import("./config/controllers.ts"),
      import("./services/policy/secrets.ts"),
      import("./services/policy/production.ts"),
      import("./services/records/clock.ts"),
      import("./observability/index.ts"),
      import("./storage/index.ts"),
      import("./services/create.ts"),
      import("./services/lab/userSkills.ts"),
      import("./tools/index.ts"),
    ]);
  const [registry, callTool, daemon, http, resources, api, agentStore, agentStoreApi, workApi, agents] =
    await Promise.all([
      import("./registry/registry.ts"),
      import("./server/call/callTool.ts"),
      import("./server/daemon.ts"),
      import("./server/http/http.ts"),
      import("./server/resources/index.ts"),
      import("./api/index.ts"),
      import("./agents/store.ts"),
      import("./agents/storeApi.ts"),
      import("./agents/workApi.ts"),
      import("./agents/whenWanted.ts"),
    ]);
  return {
    ...config,
    ...factories,
    ...secrets,
    ...production,
    ...clock,
    ...observability,
    ...storage,
    ...services,
    ...userSkills,
    ...tools,
    ...registry,
    ...callTool,
    ...daemon,
    ...http,
    ...resources,
    ...api,
    ...agentStore,
    ...agentStoreApi,
    ...workApi,
    ...agents,
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
  const secrets = rooms.createSecrets(config.secrets, process.env, config.secret_hosts);
  const observability = await rooms.createObservability({
    level: config.log_level,
    destination: { file: join(config.data_dir, "logs", "daemon.log"), echo: true },
    mask: (text) => secrets.mask(text),
    env: process.env,
  });
  const fault = (error: unknown) => observability.log.error({ err: error }, "fault");
  if (claim.warning !== undefined) observability.log.warn(claim.warning);
  const missing = secrets.problems();
  if (missing.length > 0) observability.log.warn({ missing }, "secrets without a value");
  process.on("unhandledRejection", fault);
  const storage = await rooms.openStorage({
    dataDir: claim.dataDir,
    databaseUrl: config.server.database_url,
    host: config.server.name,
    engine: claim.engine,
  });
  const own: { port?: number; serving?: Serving } = {};
  const catalogue: Catalogue = JSON.parse(readFileSync(new URL("./catalogue.json", import.meta.url), "utf8"));
  const userSkills = rooms.watchUserSkills({
    folder: config.folders.skills,
    knownTools: new Set(rooms.tools.map(({ name }) => name)),
    reserved: new Set(catalogue.skills.map(({ name }) => name)),
    onProblems: (problems) => observability.log.warn({ problems }, "skills left out"),
  });
  const ofBuild: Skill[] = JSON.parse(readFileSync(new URL("./skills.json", import.meta.url), "utf8"));
  const running = rooms.createServices({
    config,
    storage,
    secrets,
    clock: rooms.systemClock,
    factories: rooms.builtInFactories,
    ownPort: () => own.port,
    serving: () => own.serving,
    skillProblems: userSkills.problems,
    skills: () => [...ofBuild, ...userSkills.investigating()],
    log: (text) => observability.log.info(text),
    debug: (facts, text) => observability.log.debug(facts, text),
    onFault: fault,
  });
  const agentStore = rooms.createAgentStore({
    ...{ db: storage.db, clock: rooms.systemClock },
    log: (text, agent_session) => observability.log.info({ agent_session }, text),
  });
  const skills = { ofBuild, user: userSkills };
  return { rooms, config, observability, storage, catalogue, skills, running, agentStore, own, fault };
}
type Parts = Awaited<ReturnType<typeof openParts>>;

async function compose(
  options: ServeOptions,
  claim: Claim,
): Promise<{ daemon: Daemon; lost: AbortSignal; end(): Promise<void> }> {
  const parts = await openParts(options, claim);
  const { rooms, config, observability, storage, catalogue, skills, running, fault } = parts;
  const { services } = running;
  const clock = rooms.systemClock;
  const recovered = await services.executions.recover();
  const registry = rooms.createRegistry(rooms.tools);
  const calls = rooms.callRows(storage.db);
  const callTool = rooms.createCallTool({
    registry,
    services,
    observe: observability.observer,
    calls,
    clock,
    maxCallMs: config.limits.call_ms,
  });
  running.serveTools({ calls: callTool, find: registry.find });
  const facts = agentFacts(parts);
  const agentStoreApi = rooms.createAgentStoreApi(parts.agentStore, facts, fault);
  const agents = agentsOf(parts, facts);
  await agents.recover();
  const daemon = await rooms.startDaemon({
    dataDir: claim.dataDir,
    catalogue,
    token: config.token,
    config: { path: config.file?.path, hash: config.file?.sha256 ?? "" },
    listen: listenSettings(config),
    allowedHosts: config.server.allowed_hosts,
    allowedOrigins: config.server.allowed_origins,
    callTool,
    resources: resourcesOf(parts),
    userSkills: skills.user.current,
    clock,
    events: rooms.createEventsApi(running.events, fault),
    agentStore: agentStoreApi,
    agents: agents.open,
    api: (callTool, addresses) =>
      restOf(parts, { callTool, addresses, registry, calls, agents, version: catalogue.version }),
    metrics: () => metricsOf(observability),
    idleMs: options.untilIdle ? config.limits.idle_exit_ms : undefined,
    maxCallMs: config.limits.call_ms,
    held: () => heldBy(parts, agents),
    onClientEnd: (client) => void services.devices.releaseClient(client).catch(fault),
    onStop(reason) {
      observability.log.info({ reason }, "stopping");
      setTimeout(() => process.exit(serveExitCodes.failed), shutdownMs).unref();
    },
    closeServices: () => agents.close().catch(fault).then(running.close).catch(fault),
  });
  describeServices(parts, daemon);
  startParts(parts);
  agents.startAutonomous(daemon.own).catch(fault);
  addGauges(parts);
  const { hash: build } = catalogue.build;
  observability.log.info({ port: daemon.port, recovered, build, engine: storage.engine }, "serving");
  purgeDaily(parts, calls);
  return {
    daemon,
    lost: stopWhenLost(parts, claim, daemon),
    async end() {
      skills.user.close();
      await storage.close();
      await observability.close();
      await claim.lock.release();
    },
  };
}

/** After the port is known: what a deployment or a watched device runs must not reach our own server. */
function startParts({ running, fault }: Parts): void {
  const { services, watching, learning, investigations } = running;
  for (const part of [services.deployments, watching, learning, investigations]) part.start().catch(fault);
}

function resourcesOf({ rooms, running, catalogue, skills }: Parts) {
  return rooms.createResources([
    rooms.artifactRoom(running.artifacts),
    rooms.reportRoom(running.services),
    rooms.viewRoom(),
    rooms.referenceRoom(running.services),
    rooms.treeRoom(running.services),
    rooms.eventRoom(running.events),
    ...rooms.namedRooms(catalogue, skills.user.current),
  ]);
}

/** Without the data directory's lock or the database, the daemon ends: the next one goes on from what is stored. */
function stopWhenLost({ storage, observability }: Parts, claim: Claim, daemon: Daemon): AbortSignal {
  const lost = AbortSignal.any([claim.lock.lost, storage.lost]);
  const stop = () => {
    observability.log.fatal({ err: lost.reason }, "lost");
    daemon.stop(lost.reason instanceof Error ? lost.reason.message : String(lost.reason));
  };
  if (lost.aborted) stop();
  else lost.addEventListener("abort", stop, { once: true });
  return lost;
}

/** What a client of the agents must know of this server. */
function agentFacts({ rooms, config, skills }: Parts) {
  const policy = rooms.createProductionPolicy(config.environments);
  return { settings: config.agents, skills: rooms.joinSkills(skills.ofBuild, skills.user.current), policy };
}

/** The agents, opened at the first use. */
function agentsOf(
  { rooms, config, observability, agentStore, running, fault }: Parts,
  facts: ReturnType<typeof agentFacts>,
) {
  return rooms.agentsWhenWanted({
    ...{ store: agentStore, events: running.events, fault, env: process.env, ...facts },
    host: config.server.name,
    releaseClient: (client) => running.services.devices.releaseClient(client),
    keyFile: join(config.data_dir, "anthropic-key"),
    allowedOrigins: config.server.allowed_origins,
    log: ({ level, text, ...more }) => observability.log[level](more, text),
  });
}

/** What keeps the daemon from leaving. */
async function heldBy(
  { running: { services, watching }, agentStore }: Parts,
  agents: ReturnType<typeof agentsOf>,
) {
  const { devices, executions, recordings, steps, deployments } = services;
  return {
    leases: (await devices.leases()).length,
    runs: executions.running() + recordings.running() + steps.running() + agents.runs(),
    deployments: await deployments.pending(),
    watched: watching.count(),
    agents: (await agentStore.held()) + agents.connections() + agents.autonomous(),
  };
}

type CallRows = ReturnType<Parts["rooms"]["callRows"]>;

/** Forgets what is kept for a time only: now, and every day while this process lives. */
function purgeDaily({ config, rooms, storage, running, agentStore, fault }: Parts, calls: CallRows): void {
  const records = [calls.purgeAudit, rooms.leaseRows(storage.db).purgeLosses, running.events.purge];
  const purge = () => {
    const now = rooms.systemClock.now();
    const daysAgo = (days: number) => new Date(now - days * dayMs).toISOString();
    calls.purgeKeys(daysAgo(1)).catch(fault);
    running.investigations.purge(daysAgo(config.limits.audit_days)).catch(fault);
    for (const forget of [...records, agentStore.purge])
      forget(daysAgo(config.limits.audit_days)).catch(fault);
    running.memory.purge().catch(fault);
    running.artifacts.purge(now).catch(fault);
  };
  purge();
  setInterval(purge, dayMs).unref();
}

function restOf(
  parts: Parts,
  own: {
    callTool: CallTool;
    addresses: Addresses;
    registry: Registry;
    calls: CallRows;
    agents: ReturnType<typeof agentsOf>;
    version: string;
  },
) {
  const { rooms, running, storage, observability, config, agentStore } = parts;
  const { approvals, progressOf } = own.agents;
  const { investigations } = running.services;
  const fault = (error: unknown, trace_id: string) =>
    observability.observer.fault(error, { tool: "api", trace_id });
  const api = rooms.createApi({
    ...own,
    events: running.events,
    artifacts: running.artifacts,
    audit: async (filter) => running.services.secrets.mask(await own.calls.recent(filter)),
    memory: running.memory,
    live: running.services.live,
    apps: running.services.userinterfaces,
    reports: running.services.reports,
    investigations,
    health: () => health(storage, own.agents),
    maxCallMs: config.limits.call_ms,
    principalOf: rooms.restPrincipal,
    fault,
  });
  return api.route(
    "/agent",
    rooms.createWorkApi({ store: agentStore, approvals, progressOf, investigations, fault }),
  );
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

/** What they can know only now. */
function describeServices({ own, config, catalogue }: Parts, { port, clients }: Daemon): void {
  const { host, tls } = config.server;
  const { version, build } = catalogue;
  own.port = port;
  own.serving = { version, build: build.hash, host, port, tls: tls !== undefined, clients };
}

async function metricsOf({ metrics, metricsContentType }: Parts["observability"]) {
  return { text: await metrics(), contentType: metricsContentType };
}

async function health(storage: Parts["storage"], agents: ReturnType<typeof agentsOf>) {
  const database = await storage.pool.query("select 1").then(
    () => "ok",
    () => "failed",
  );
  const llm = agents.hasModel() ? "configured" : "not_configured";
  return { healthy: database === "ok", services: { llm, tool_registry: "ready", database, mcp: "ok" } };
}

function addGauges({ observability: { gauge }, running }: Parts): void {
  const { devices, executions } = running.services;
  gauge("labwright_leases", "Leases held.", async () => (await devices.leases()).length);
  gauge("labwright_open_devices", "Devices with a controller open.", () => devices.openCount());
  gauge("labwright_executions_running", "Runs under way.", () => executions.running());
}
