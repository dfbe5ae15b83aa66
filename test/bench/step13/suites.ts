import type { Suites } from "../sides.ts";
import { measureInvestigations } from "./investigate.ts";
import { measureTreeSteps } from "./treeStep.ts";

/** Roles, tests of APIs, and investigations. */
export const step13: Suites = {
  investigate: measureInvestigations,
  tree: measureTreeSteps,
};
