export { type ContextReply, createPlanning, type PlanningService } from "./planning.ts";
export type { PlanReply } from "./views.ts";
