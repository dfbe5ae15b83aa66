export {
  type ContextReply,
  createPlanning,
  type PlanningService,
  type PlanReply,
} from "./planning.ts";
