import type { Suites } from "../sides.ts";
import { measureDiscovery } from "./discovery.ts";
import { measurePhrasings } from "./phrasings.ts";
import { measurePlanRun } from "./planRun.ts";
import { measureTasks } from "./tasks.ts";
import { measureTenTasks } from "./tenTasks.ts";

/** Plans and tasks. */
export const step12: Suites = {
  task: measureTasks,
  ten: measureTenTasks,
  discovery: measureDiscovery,
  run: measurePlanRun,
  phrasings: measurePhrasings,
};
