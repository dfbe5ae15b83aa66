export { createRequirements } from "./requirements.ts";
export type { RequirementService } from "./types.ts";
