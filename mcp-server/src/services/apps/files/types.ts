import type { Database } from "../../../storage/engine/database.ts";
import type { ReferenceService } from "../../devices/references/index.ts";
import type { Clock } from "../../ports.ts";
import type { Verbs } from "../steps/index.ts";
import type { TestcaseService } from "../testcases/index.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";

export type AppFilesDependencies = {
  db: Database;
  clock: Clock;
  userinterfaces: Pick<UserInterfaceService, "load" | "loadWithin" | "put" | "keepSources">;
  testcases: Pick<TestcaseService, "exportFor" | "importAll" | "problemsIn" | "written" | "keepSources">;
  references: Pick<ReferenceService, "exportFor" | "importAll" | "removeOrphans" | "keepSources">;
  verbs(): Verbs;
};
