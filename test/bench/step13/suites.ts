import type { Suites } from "../sides.ts";
import { measureApiFaults } from "./apiFaults.ts";
import { measureCritique } from "./critique.ts";
import { measureInvestigations } from "./investigate.ts";
import { measurePrism } from "./prism.ts";
import { measureRouting } from "./routing.ts";
import { measureTreeSteps } from "./treeStep.ts";

/** Roles, tests of APIs, and investigations. */
export const step13: Suites = {
  api: measureApiFaults,
  prism: measurePrism,
  critique: measureCritique,
  routing: measureRouting,
  investigate: measureInvestigations,
  tree: measureTreeSteps,
};
