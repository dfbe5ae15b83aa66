import type { Suites } from "../sides.ts";
import { measureApiFaults } from "./apiFaults.ts";
import { measureInvestigations } from "./investigate.ts";
import { measurePrism } from "./prism.ts";
import { measureTreeSteps } from "./treeStep.ts";

/** Roles, tests of APIs, and investigations. */
export const step13: Suites = {
  api: measureApiFaults,
  prism: measurePrism,
  investigate: measureInvestigations,
  tree: measureTreeSteps,
};
