import { join } from "node:path";
import type { ControllerFactory } from "@labwright/controllers";
import type { Skill, SkillProblem } from "@labwright/skills";
import type { Config } from "../config.ts";
import { ownAddons } from "../storage/engine/ownAddons.ts";
import { packageFolder } from "../storage/engine/packageFolder.ts";
import {
  analysisRows,
  artifactRows,
  coverageRows,
  databaseBytes,
  eventRows,
  investigationRows,
  leaseRows,
  memoryRows,
  requirementRows,
  runRecords,
  type Storage,
} from "../storage/index.ts";
import { executionRows } from "../storage/rows/executionRows.ts";
import { navigationRows } from "../storage/rows/navigationRows.ts";
import { userinterfaceRows } from "../storage/rows/userinterfaceRows.ts";
import { createSchemaChecker, type SchemaChecker } from "./apps/apis/requests/schemaChecker.ts";
import { createApps, type Driving } from "./createApps.ts";
import { createActions } from "./devices/actions/index.ts";
import { createBatches } from "./devices/batches.ts";
import { claiming, DeviceLocks } from "./devices/claims.ts";
import { createDeviceFacts } from "./devices/deviceFacts.ts";
import { createDeviceContexts, createTemporaryFolders } from "./devices/devicePlaces.ts";
import { createDevices } from "./devices/devices.ts";
import { createInputs, type Inputs } from "./devices/inputs.ts";
import { createInventory } from "./devices/inventory.ts";
import { createLive } from "./devices/live.ts";
import { createPairings } from "./devices/pairings.ts";
import { createRecordings } from "./devices/recordings/index.ts";
import { StepRecordings } from "./devices/recordings/steps.ts";
import { createFindPicture } from "./devices/references/index.ts";
import { createRecent, type Recent } from "./devices/screen/recent.ts";
import { createScreen } from "./devices/screen/screenService.ts";
import { createVerifications } from "./devices/verifications/index.ts";
import { readsPictures } from "./devices/verifications/sourcePicture.ts";
import type { Services } from "./index.ts";
import { createAlerts } from "./lab/alerts/index.ts";
import { createDiagnosis } from "./lab/diagnosis/index.ts";
import { Investigations, type ToolPort } from "./lab/investigations/index.ts";
import { createLearning, type Learning } from "./lab/memory/learning.ts";
import { createMemory } from "./lab/memory/memory.ts";
import { createProcesses, type Serving } from "./lab/processes/index.ts";
import { createRequirements } from "./lab/requirements/index.ts";
import { createWatching, type Watching } from "./lab/watching/index.ts";
import { allowedFetch, type WayOut } from "./policy/allowedFetch.ts";
import { createProductionPolicy } from "./policy/production.ts";
import { limitPerMinute } from "./policy/requestLimits.ts";
import { createUploads } from "./policy/uploads.ts";
import { createUrlPolicy, type UrlPolicy } from "./policy/urlPolicy.ts";
import type { Clock, MemoryService, Secrets } from "./ports.ts";
import { createArtifactStore, type RetainingArtifactStore } from "./records/artifacts.ts";
import { createEvents, type Events } from "./records/events.ts";
import { createExecutions } from "./records/executions/index.ts";
import { appNamed } from "./records/inUse.ts";
import { createNotices } from "./records/notices.ts";
import { createDeployments } from "./runs/deployments/index.ts";
import { createJudgements } from "./runs/judgement/index.ts";
import { createReports } from "./runs/reports/index.ts";
import { createResults } from "./runs/results/index.ts";
import { createScripts } from "./runs/scripts/index.ts";
import { createWorkspace } from "./runs/workspace/index.ts";

export type ServiceDependencies = {
  config: Config;
  storage: Storage;
  secrets: Secrets;
  clock: Clock;
  factories: readonly ControllerFactory[];
  /** The port of our own HTTP server, which no device may reach. */
  ownPort(): number | undefined;
  schemaWorkerFile?: URL;
  skillProblems?(): readonly SkillProblem[];
  /** Those of the build and of the user, as they are now; none when left out. */
  skills?(): readonly Skill[];
  serving?(): Serving | undefined;
  /** A line of the daemon's log. */
  log?(text: string): void;
  /** A line of the daemon's log at level debug. */
  debug?(facts: object, text: string): void;
  /** Called with faults that no call waits for. */
  onFault(error: unknown): void;
};

export type RunningServices = {
  services: Services;
  events: Events;
  artifacts: RetainingArtifactStore;
  watching: Watching;
  memory: MemoryService;
  learning: Learning;
  investigations: Pick<Investigations, "start" | "purge">;
  /** Registers how scripts and investigations call tools, once that path exists. */
  serveTools(tools: ToolPort): void;
  close(): Promise<void>;
};

/** How long the lease that a driving call takes for itself outlives it. */
const implicitLeaseMs = 60_000;

/** Puts the services together. Nothing is opened yet: devices open when they are first used. */
export function createServices(deps: ServiceDependencies): RunningServices {
  const { config, secrets, clock } = deps;
  const { db } = deps.storage;
  const policy = createUrlPolicy(config.url_policy, { port: deps.ownPort });
  const { events, artifacts } = createRecords(deps);
  const [inputs, recent, tools] = [createInputs(clock), createRecent(clock), laterTools()];
  const devices = createDeviceRoom(deps, policy, { inputs, recent });
  const screen = createScreen(artifacts, clock, devices);
  const pictureOf = readsPictures({ artifacts, uploads: createUploads(config.folders.uploads) });
  const verifications = createVerifications({ clock, secrets, screen, inputs, pictureOf });
  const notices = createNotices();
  const actions = createActions({ artifacts, clock, secrets, verifications, notices });
  const host = config.server.name;
  const rows = executionRows(db);
  const executions = createExecutions({
    ...{ rows, devices, events, secrets, notices, clock, host },
    mostDevices: config.limits.max_parallel_devices,
    findApp: async (ref) => appNamed(await userinterfaceRows(db).named(ref), ref),
    onError: deps.onFault,
  });
  const driving = { notices, clock, secrets, artifacts, devices, screen, verifications, actions, executions };
  const steps = new StepRecordings({ devices, inputs, clock, onFault: deps.onFault });
  const { scripts, workspace } = createScriptRoom(deps, driving, tools.get);
  const schemas = createSchemaChecker(deps.schemaWorkerFile);
  const memory = createMemory({ rows: memoryRows(db), secrets, clock });
  const wayOut = createWayOut(deps, policy);
  const apps = createApps(deps, wayOut, { ...driving, scripts, schemas, memory });
  const requirements = requirementsIn(deps, apps);
  const { alerts, watching } = createWatchRoom(deps, { ...driving, events, inputs });
  const running = { ...driving, ...apps, events, db, host, onFault: deps.onFault };
  const deployments = createDeployments({ ...running, scripts, apps: apps.userinterfaces });
  const recordings = createRecordings({ ...running, folder: join(config.data_dir, "recordings") });
  const { judgements, learning } = createJudging({ ...running, memory });
  const investigations = createInvestigating(deps, wayOut, { ...driving, schemas, tools: tools.get });
  const services: Services = {
    ...driving,
    ...apps,
    recordings,
    live: createLive(devices, clock, recent),
    steps,
    results: createResults({ ...running, judgements }),
    reports: createReports({
      ...{ ...running, judgements, records: runRecords(db), eventRows: eventRows(db) },
      requirementsOf: requirements.requirementsOf,
    }),
    scripts,
    workspace,
    deviceFacts: createDeviceFacts(),
    deployments,
    batches: createBatches({ ...driving, steps }),
    inventory: createInventory({ devices, userinterfaces: apps.userinterfaces }),
    diagnosis: createDiagnosis(config, deps.factories, pingOf(deps.storage), deps.skillProblems),
    alerts,
    investigations,
    requirements,
    processes: createProcesses({ ...driving, ...processOf(deps) }),
  };
  const { apis } = apps;
  const runners = { executions, deployments, watching, learning, investigations };
  const ending = { ...runners, recordings, steps, devices, apis, schemas };
  watchStorage(deps, ending);
  const close = () => closeAll(ending, deps);
  const others = { watching, memory, learning, investigations };
  return { services, events, artifacts, ...others, serveTools: tools.set, close };
}

type Ending = Pick<Services, "executions" | "deployments" | "recordings" | "steps"> & {
  watching: Watching;
  learning: Learning;
  devices: { close(): Promise<void> };
  apis: { close(): Promise<void> };
  schemas: SchemaChecker;
  investigations: Investigations;
};

/** Runs end when the database goes, and those that can go on do so when it is back. */
function watchStorage(
  { storage, onFault }: ServiceDependencies,
  { executions, investigations }: Pick<Ending, "executions" | "investigations">,
): void {
  const goOn = async () => {
    await executions.storeLate();
    await investigations.start();
  };
  storage.watch({ away: (error) => executions.stopAll(error), back: () => void goOn().catch(onFault) });
}

/** Without the database each closing fails; the devices are closed all the same. */
async function closeAll(parts: Ending, { onFault }: Pick<ServiceDependencies, "onFault">): Promise<void> {
  const { executions, deployments, recordings, steps, devices, apis, schemas, investigations } = parts;
  investigations.leave();
  // Both at once: a run that waits for its device is ended by its deployment, one that drives it by its execution.
  const endRuns = () => Promise.all([executions.close(), deployments.close().catch(onFault)]);
  const closings = [parts.watching.close, endRuns, parts.learning.close];
  const later = [recordings, steps, devices, apis, schemas, investigations];
  for (const closing of [...closings, ...later.map((part) => () => part.close())])
    await closing().catch(onFault);
}

const requirementsIn = (
  { storage: { db }, clock }: ServiceDependencies,
  { testcases, userinterfaces: apps }: Pick<Services, "testcases" | "userinterfaces">,
) =>
  createRequirements({
    ...{ rows: requirementRows(db), coverage: coverageRows(db) },
    ...{ testcases, apps, clock },
  });

function createJudging(
  parts: Pick<Services, "executions"> & {
    memory: MemoryService;
    events: Events;
    db: Storage["db"];
    host: string;
    onFault(error: unknown): void;
  },
) {
  const { db } = parts;
  const judgements = createJudgements({ ...parts, analyses: analysisRows(db), records: runRecords(db) });
  return {
    judgements,
    learning: createLearning({ ...parts, judgements, flipsOf: navigationRows(db).flipsOf }),
  };
}

/** What every request that a test sends passes. */
const createWayOut = ({ config, debug }: ServiceDependencies, policy: UrlPolicy): WayOut => ({
  ...policy,
  production: createProductionPolicy(config.environments),
  limits: limitPerMinute(config.limits.requests_per_host_minute),
  log: (request) => debug?.(request, "request sent"),
});

const referenceFolder = ({ data_dir }: Config) => join(data_dir, "references");

const pingOf = ({ engine, pool }: Storage) => ({ engine, ask: () => pool.query("select 1") });

const processOf = ({ config, storage, serving }: ServiceDependencies) => ({
  logFolder: join(config.data_dir, "logs"),
  database: { engine: storage.engine, bytes: () => databaseBytes(storage.db) },
  serving: () => serving?.(),
});

function createRecords({ config, storage, secrets, clock, onFault }: ServiceDependencies) {
  const artifacts = createArtifactStore({
    folder: config.folders.artifacts,
    rows: artifactRows(storage.db),
    host: config.server.name,
    clock,
    maxBytes: config.limits.artifact_mb * 1_048_576,
    maxAgeMs: config.limits.artifact_days * 86_400_000,
  });
  return {
    artifacts,
    events: createEvents({ rows: eventRows(storage.db), clock, secrets, listen: storage.listen, onFault }),
  };
}

function createDeviceRoom(
  { config, storage, secrets, clock, factories }: ServiceDependencies,
  policy: UrlPolicy,
  { inputs, recent }: { inputs: Inputs; recent: Recent },
) {
  const locks = new DeviceLocks({ dataDir: config.data_dir, env: process.env, clock });
  const temporary = createTemporaryFolders(join(config.data_dir, "temporary"));
  return createDevices({
    host: config.server.name,
    devices: config.devices,
    factories: factories.map((factory) => claiming(recent.keeping(inputs.noting(factory)), locks)),
    secrets,
    contextOf: createDeviceContexts(policy, {
      uploads: config.folders.uploads,
      storageStates: join(config.data_dir, "storage-states"),
      temporary,
      addons: ownAddons(config.data_dir),
      pairings: createPairings(config.data_dir, secrets.learn),
      unsafe: config.unsafe,
      inputs,
      findPicture: createFindPicture({ db: storage.db, clock, folder: referenceFolder(config) }),
    }),
    closed: temporary.removeAll,
    leases: leaseRows(storage.db),
    limits: { leaseMs: config.limits.lease_ms, implicitMs: implicitLeaseMs },
    mostDevices: config.limits.max_parallel_devices,
    clock,
  });
}

function createWatchRoom(
  { config, storage, onFault }: ServiceDependencies,
  parts: Driving & { events: Events; inputs: Inputs },
) {
  const alerts = createAlerts({ ...parts, db: storage.db });
  const { alert_pending_ms, alert_active_ms, alert_settle_ms } = config.limits;
  const watching = createWatching({
    ...{ ...parts, alerts, onFault },
    host: config.server.name,
    watched: config.devices.flatMap(({ name, watch }) => (watch ? [name] : [])),
    thresholds: { pendingMs: alert_pending_ms, activeMs: alert_active_ms, settleMs: alert_settle_ms },
  });
  return { alerts, watching };
}

/** How tools are called is known only when the services are there. */
function laterTools() {
  const later: { tools?: ToolPort } = {};
  return {
    set: (tools: ToolPort) => void Object.assign(later, { tools }),
    get() {
      if (!later.tools) throw new Error("A tool was called before there was a way for its calls");
      return later.tools;
    },
  };
}

function createInvestigating(
  { config, storage, skills, onFault }: ServiceDependencies,
  wayOut: WayOut,
  parts: Pick<Driving, "executions" | "secrets" | "clock"> & { schemas: SchemaChecker; tools(): ToolPort },
) {
  return new Investigations({
    ...parts,
    rows: investigationRows(storage.db),
    http: (url, init) => allowedFetch(wayOut, url, init),
    skills: skills ?? (() => []),
    host: config.server.name,
    onFault,
  });
}

function createScriptRoom({ config }: ServiceDependencies, driving: Driving, tools: () => ToolPort) {
  const shipped = join(packageFolder(), "scripts");
  const runsFolder = join(config.data_dir, "runs");
  const { script_memory_mb: memoryMb, script_processes: processes, script_ms: timeoutMs } = config.limits;
  const scripts = createScripts({
    ...driving,
    folders: { own: config.folders.scripts, shipped },
    clients: join(shipped, "clients"),
    runsFolder,
    limits: { memoryMb, processes },
    timeoutMs,
    withoutSandbox: config.unsafe.unsandboxed_scripts,
    tools,
    allowedNeeds: config.unsafe.script_needs,
  });
  const limits = { memoryMb, processes, timeoutMs };
  const workspace = createWorkspace({ ...driving, folder: config.folders.workspace, runsFolder, limits });
  return { scripts, workspace };
}
