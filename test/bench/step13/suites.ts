import type { Suites } from "../sides.ts";
import { measureInvestigations } from "./investigate.ts";

/** Roles, tests of APIs, and investigations. */
export const step13: Suites = {
  investigate: measureInvestigations,
};
