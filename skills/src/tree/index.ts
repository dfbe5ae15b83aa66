export {
  type CaseOutcome,
  type CaseTrial,
  judgeCase,
  parseCase,
  runCase,
  type TreeCase,
  unasked,
} from "./cases.ts";
export { translateCondition } from "./conditions.ts";
export { nextActions, nextState, restoreState, startTree } from "./engine.ts";
export { type KnownNames, parseTree, type TreeText } from "./parseTree.ts";
export { reportOf } from "./report.ts";
export { conditionSchema, type DecisionTree, type HandoffRules, handoffSchema } from "./schema.ts";
export {
  type ActionResult,
  type BoundSql,
  type Evaluate,
  type FilledAction,
  type HttpAction,
  type PlannedAction,
  type QueryAction,
  type ReplyRules,
  resultFields,
  type Scope,
  type SimpleAction,
  type ToolAction,
  TreeError,
  type TreeInput,
  type TreeReport,
  type TreeResult,
  type TreeState,
} from "./types.ts";
