// Who plans has the plan's shape; this server runs it as an unsaved test case.
export {
  complexityOf,
  deviceOf,
  inOrder,
  longestTask,
  orderProblems,
  type Plan,
  type PlanStep,
  planSchema,
  planStepSchema,
} from "@labwright/agent-client/plan";
