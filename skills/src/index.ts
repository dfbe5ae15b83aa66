export { type TriedCase, tryCases } from "./caseFiles.ts";
export { type DataSources, findSource } from "./dataSources.ts";
export { cannotRead, readText } from "./files.ts";
export type { KnownTools } from "./folder.ts";
export { type LoadedSkills, loadSkillFolders, loadSkills } from "./load.ts";
export { exportSkills, skillMarkdown } from "./markdown.ts";
export { type MatchContext, matchSkill, maxCandidates, nearestPhrase, type SkillMatch } from "./match.ts";
export { describeIssue, nearest, offer } from "./nearest.ts";
export { parseSkill } from "./parse.ts";
export { type Investigation, type Skill, skillSchema } from "./skill.ts";
export { readSource, type SkillProblem, type Source } from "./source.ts";
export { newSkillFiles } from "./template.ts";
export {
  type ActionResult,
  type CaseOutcome,
  type DecisionTree,
  type Evaluate,
  type FilledAction,
  nextActions,
  nextState,
  type PlannedAction,
  parseTree,
  reportOf,
  restoreState,
  type Scope,
  type SimpleAction,
  type SimpleResult,
  startTree,
  type TreeCase,
  TreeError,
  type TreeInput,
  type TreeReport,
  type TreeResult,
  type TreeState,
  translateCondition,
  unasked,
} from "./tree/index.ts";
export { type Trial, trySkill } from "./trial.ts";
export { compareVersions, findSkill, latestSkills, type SkillFound } from "./versions.ts";
export { type SkillWatch, watchSkills } from "./watch.ts";
export { type Wish, wishesIn } from "./wishes.ts";
export { foldedWords } from "./words.ts";
