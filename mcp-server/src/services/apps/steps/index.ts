export { noNames } from "../authoring/types.ts";
export { compileSteps } from "./compile.ts";
export { stepsOf } from "./decompile.ts";
export {
  type CommandSchema,
  commandOf,
  commandsIn,
  paramsOf,
  type Said,
  schemaSchema,
  separator,
  shortNames,
} from "./line.ts";
export { readActions, readChecks, writeActions, writeChecks } from "./lists.ts";
export type { Language, Path, StepProblem } from "./readStep.ts";
export { spokenSteps } from "./spokenLine.ts";
export { appNameOf, readTest, writeTest } from "./testForm.ts";
export {
  type CheckOffer,
  type CommandOffer,
  type Fields,
  isFields,
  isVerb as isStepVerb,
  kinds,
  loopVerbs,
  type Verbs,
  verbsOf,
} from "./verbs.ts";
