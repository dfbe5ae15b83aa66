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
export { reportOf, type TreeReport, type TreeResult } from "./report.ts";
export { conditionSchema, type DecisionTree, type HandoffRules, handoffSchema } from "./schema.ts";
export {
  type ActionResult,
  type Evaluate,
  type FilledAction,
  type PlannedAction,
  resultFields,
  type Scope,
  type SimpleAction,
  type SimpleResult,
  TreeError,
  type TreeInput,
  type TreeState,
} from "./types.ts";
