import type { ProductionPolicy } from "../../policy/production.ts";
import type { Uploads } from "../../policy/uploads.ts";
import type { Clock, ExecutionService, Secrets } from "../../ports.ts";
import type { ApiService } from "../apis/index.ts";
import type { SchemaChecker } from "../apis/requests/schemaChecker.ts";
import type { TestcaseService } from "../testcases/index.ts";
import type { Role } from "./requests.ts";

export type ApiTestRequest = {
  /** Name of an imported spec; the only one without. */
  api?: string | undefined;
  operations?: readonly string[] | undefined;
  tags?: readonly string[] | undefined;
  /** As `x-priority` of the operations says. */
  priority?: readonly string[] | undefined;
  /** A YAML file of the project or the uploads folder: what the user adds to the document. */
  file?: string | undefined;
  base_url?: string | undefined;
  /** Credentials by role. The first role makes the requests, the second one is another user; `expired` must be refused. */
  auth: Readonly<Record<string, Role>>;
  environment?: string | undefined;
  allow_production?: boolean | undefined;
  /** For made values; the result has it. Random when left out. */
  seed?: number | undefined;
  /** Only these are reported. */
  faults?: readonly string[] | undefined;
  save: boolean;
  /** Also tries F200, F201 and F202. */
  security: boolean;
  /** The most cases of each operation. */
  max_cases: number;
  wait_ms: number;
  timeout_ms: number;
};

export type ApiTestDependencies = {
  apis: Pick<ApiService, "find">;
  testcases: Pick<TestcaseService, "executeUnsaved" | "save">;
  executions: Pick<ExecutionService, "run" | "get">;
  production: Pick<ProductionPolicy, "judgeWrite">;
  uploads: Uploads;
  secrets: Pick<Secrets, "within" | "named">;
  schemas: Pick<SchemaChecker, "check">;
  clock: Clock;
};
