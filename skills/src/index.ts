export { type LoadedSkills, loadSkillFolders, loadSkills } from "./load.ts";
export { exportSkills, skillMarkdown } from "./markdown.ts";
export { type MatchContext, matchSkill, type SkillMatch } from "./match.ts";
export { parseSkill } from "./parse.ts";
export { type Skill, skillSchema } from "./skill.ts";
export type { SkillProblem } from "./source.ts";
export { compareVersions, findSkill, latestSkills, type SkillFound } from "./versions.ts";
export { type SkillWatch, watchSkills } from "./watch.ts";
