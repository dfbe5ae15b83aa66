export { type LoadedSkills, loadSkills, parseSkill, type SkillProblem } from "./load.ts";
export { type Skill, skillSchema } from "./skill.ts";
