import { join } from "node:path";
import type { ControllerFactory, DeviceModel } from "@labwright/controllers";
import type { Config } from "../config.ts";
import { executionRows } from "../storage/executionRows.ts";
import {
  artifactRows,
  coverageRows,
  eventRows,
  leaseRows,
  requirementRows,
  type Storage,
} from "../storage/index.ts";
import { testcaseRows } from "../storage/testcaseRows.ts";
import { createActions } from "./actions/index.ts";
import { createAlerts } from "./alerts/index.ts";
import { allowedFetch } from "./allowedFetch.ts";
import { createArtifactStore, type RetainingArtifactStore } from "./artifacts.ts";
import { createBatches } from "./batches.ts";
import { createDeviceContexts } from "./devicePlaces.ts";
import { createDevices } from "./devices/index.ts";
import { createDiagnosis } from "./diagnosis/index.ts";
import { createEvents, type Events } from "./events.ts";
import { createExecutions } from "./executions/index.ts";
import type { Services } from "./index.ts";
import { createInventory } from "./inventory.ts";
import { createNavigation } from "./navigation/index.ts";
import type { Clock, Secrets } from "./ports.ts";
import { createReports } from "./reports/index.ts";
import { createRequirements } from "./requirements/index.ts";
import { createResults } from "./results/index.ts";
import { createScreen } from "./screen/screenService.ts";
import { createTestcases, type TestcaseService } from "./testcases/index.ts";
import { createUrlPolicy, type UrlPolicy } from "./urlPolicy.ts";
import { createUserInterfaces } from "./userinterfaces/index.ts";
import { createVerifications } from "./verifications/index.ts";

export type ServiceDependencies = {
  config: Config;
  storage: Storage;
  secrets: Secrets;
  clock: Clock;
  factories: readonly ControllerFactory[];
  models: readonly DeviceModel[];
  /** The port of our own HTTP server, which no device may reach. */
  ownPort(): number | undefined;
  /** Told of faults that nobody waits for. */
  onFault(error: unknown): void;
};

/** The services, with what only the composition root needs of them. */
export type RunningServices = {
  services: Services;
  events: Events;
  artifacts: RetainingArtifactStore;
  close(): Promise<void>;
};

/** How long the lease that a driving call takes for itself outlives it. */
const implicitLeaseMs = 60_000;

/** Puts the services together. Nothing is opened yet: devices open when they are first used. */
export function createServices(deps: ServiceDependencies): RunningServices {
  const { config, secrets, clock } = deps;
  const policy = createUrlPolicy(config.url_policy, { port: deps.ownPort });
  const { events, artifacts } = createRecords(deps);
  const { devices, useApp } = createDeviceRoom(deps, policy);
  const screen = createScreen(artifacts);
  const verifications = createVerifications({ clock, secrets, screen });
  const actions = createActions({ clock, secrets, verifications });
  const host = config.server.name;
  const rows = executionRows(deps.storage.db);
  const executions = createExecutions({ rows, devices, events, secrets, clock, host, onError: deps.onFault });
  const driving = { clock, secrets, artifacts, devices, screen, verifications, actions, executions };
  const apps = createApps(deps, policy, { ...driving, useApp });
  const requirements = createRequirements({
    rows: requirementRows(deps.storage.db),
    coverage: coverageRows(deps.storage.db),
    testcases: apps.testcases,
    apps: apps.userinterfaces,
    clock,
  });
  const services: Services = {
    ...driving,
    ...apps,
    batches: createBatches(driving),
    inventory: createInventory({ devices, userinterfaces: apps.userinterfaces, clock }),
    diagnosis: createDiagnosis(config),
    results: createResults({ ...driving, db: deps.storage.db, events }),
    alerts: createAlerts({ ...driving, db: deps.storage.db, events }),
    requirements,
    reports: createReports({ ...driving, requirementsOf: requirements.requirementsOf }),
  };
  const close = async () => {
    await executions.close();
    await devices.close();
  };
  return { services, events, artifacts, close };
}

/** What is kept beside the runs: files and the feed of events. */
function createRecords({ config, storage, clock, onFault }: ServiceDependencies) {
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
    events: createEvents({ rows: eventRows(storage.db), clock, listen: storage.listen, onFault }),
  };
}

function createDeviceRoom(
  { config, storage, clock, factories, models }: ServiceDependencies,
  policy: UrlPolicy,
) {
  const testIds = new Map<string, string>();
  const devices = createDevices({
    host: config.server.name,
    devices: config.devices,
    models,
    factories,
    contextOf: createDeviceContexts(policy, {
      uploads: config.folders.uploads,
      storageStates: join(config.data_dir, "storage-states"),
      unsafe: config.unsafe,
      testIdAttribute: (deviceId) => testIds.get(deviceId) ?? "data-testid",
    }),
    leases: leaseRows(storage.db),
    limits: { leaseMs: config.limits.lease_ms, implicitMs: implicitLeaseMs },
    clock,
  });
  return { devices, useApp: (deviceId: string, attribute: string) => void testIds.set(deviceId, attribute) };
}

type Driving = Pick<
  Services,
  "clock" | "secrets" | "artifacts" | "devices" | "screen" | "verifications" | "actions" | "executions"
>;

/** The models of apps, the way through them, and the tests of them. */
function createApps(
  { config, storage, clock }: ServiceDependencies,
  policy: UrlPolicy,
  driving: Driving & { useApp(deviceId: string, testIdAttribute: string): void },
) {
  const { db } = storage;
  const later: { testcases?: TestcaseService } = {};
  const testcasesOf = () => {
    if (!later.testcases) throw new Error("Test cases were asked for before they were there");
    return later.testcases;
  };
  const userinterfaces = createUserInterfaces({ db, clock, testcases: testcasesOf });
  const navigation = createNavigation({
    ...driving,
    db,
    userinterfaces,
    positionStaleMs: config.limits.position_stale_ms,
  });
  const testcases = createTestcases({
    ...driving,
    rows: testcaseRows(db),
    rowsIn: testcaseRows,
    navigation,
    http: (url, init) => allowedFetch(policy, url, init),
    apps: userinterfaces,
  });
  later.testcases = testcases;
  return { userinterfaces, navigation, testcases };
}
