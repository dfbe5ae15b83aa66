import { join } from "node:path";
import type { ControllerFactory } from "@labwright/controllers";
import type { Config } from "../config.ts";
import { apiSpecRows, type Storage } from "../storage/index.ts";
import { executionRows } from "../storage/rows/executionRows.ts";
import { testcaseRows } from "../storage/rows/testcaseRows.ts";
import { createApis } from "./apps/apis/index.ts";
import type { SchemaChecker } from "./apps/apis/requests/schemaChecker.ts";
import { createApiTests } from "./apps/apiTests/index.ts";
import { createAuthoring } from "./apps/authoring/index.ts";
import { type AppFiles, createAppFiles } from "./apps/files/index.ts";
import { createNavigation } from "./apps/navigation/index.ts";
import { createPlanning } from "./apps/planning/index.ts";
import { type Verbs, verbsOf } from "./apps/steps/index.ts";
import { createTestcases, type HttpPort } from "./apps/testcases/index.ts";
import { createUserInterfaces } from "./apps/userinterfaces/index.ts";
import { createReferences } from "./devices/references/index.ts";
import type { Services } from "./index.ts";
import { allowedFetch, type WayOut } from "./policy/allowedFetch.ts";
import { createProductionPolicy } from "./policy/production.ts";
import { createUploads } from "./policy/uploads.ts";
import type { Clock, MemoryService } from "./ports.ts";
import type { ScriptService } from "./runs/scripts/index.ts";

export type Driving = Pick<
  Services,
  | "notices"
  | "clock"
  | "secrets"
  | "artifacts"
  | "devices"
  | "screen"
  | "verifications"
  | "actions"
  | "executions"
>;

type AppDependencies = {
  config: Config;
  storage: Storage;
  clock: Clock;
  factories: readonly ControllerFactory[];
  log?(text: string): void;
};

/** The services of the wing `apps`, with the references of devices that apps name. */
export function createApps(
  { config, storage, clock, factories, log }: AppDependencies,
  way: WayOut,
  driving: Driving & {
    scripts: ScriptService;
    schemas: SchemaChecker;
    memory: MemoryService;
  },
) {
  const { db } = storage;
  const userinterfaces = createUserInterfaces({ db, clock });
  const references = createReferences({
    ...{ db, clock, secrets: driving.secrets, userinterfaces },
    folder: join(config.data_dir, "references"),
  });
  const navigation = createNavigation({
    ...driving,
    db,
    userinterfaces,
    positionStaleMs: config.limits.position_stale_ms,
  });
  let known: Verbs | undefined;
  const verbs = () => {
    known ??= verbsOf(factories);
    return known;
  };
  const uploads = createUploads(config.folders.uploads);
  const http: HttpPort = (url, init) => allowedFetch(way, url, init);
  const testcases = createTestcases({
    ...driving,
    verbs,
    rows: testcaseRows(db),
    rowsIn: testcaseRows,
    transaction: (work) => db.transaction(work),
    lastRun: executionRows(db).lastRun,
    navigation,
    http,
    apps: userinterfaces,
    // Files are read by their own room, which stands on test cases.
    readFeature: (text, app) => appFiles.readFeature(text, app),
    environments: config.environments,
    uploads,
  });
  const apis = createApis({ ...driving, rows: apiSpecRows(db), http, uploads });
  const apiTests = createApiTests({
    ...{ ...driving, apis, testcases, uploads },
    production: createProductionPolicy(config.environments),
  });
  const appFiles: AppFiles = createAppFiles({ db, clock, userinterfaces, testcases, references, verbs });
  const authoring = createAuthoring({ ...driving, apps: userinterfaces, testcases });
  const planning = createPlanning({
    ...driving,
    ...{ navigation, testcases, authoring, apps: userinterfaces, clock },
    log: log ?? (() => undefined),
  });
  return { apis, apiTests, userinterfaces, navigation, testcases, references, appFiles, authoring, planning };
}
