import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { type Skill, skillSchema } from "./skill.ts";

/** One thing wrong with a skill's file; `line` counts from 1. */
export type SkillProblem = { file: string; line: number; message: string };
export type LoadedSkills = { skills: Skill[]; problems: SkillProblem[] };

/**
 * Reads every `<name>/skill.yaml` below `folder`, sorted by name. A skill with a problem is left out and all its
 * problems are reported; the others go on. `knownTools` are the tools that a skill may name.
 */
export function loadSkills(folder: string, knownTools: ReadonlySet<string>): LoadedSkills {
  const loaded: LoadedSkills = { skills: [], problems: [] };
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = join(folder, entry.name, "skill.yaml");
    if (!entry.isDirectory() || !existsSync(file)) continue;
    const { skill, problems } = parseSkill(readFileSync(file, "utf8"), file, entry.name, knownTools);
    loaded.problems.push(...problems);
    if (skill) loaded.skills.push(skill);
  }
  loaded.skills.sort((a, b) => (a.name < b.name ? -1 : 1));
  return loaded;
}

/** Parses one file; a skill only when nothing is wrong with it. */
export function parseSkill(
  text: string,
  file: string,
  folderName: string,
  knownTools: ReadonlySet<string>,
): { skill?: Skill; problems: SkillProblem[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problem = (offset: number, message: string): SkillProblem => ({
    file,
    line: lines.linePos(offset).line,
    message,
  });
  if (document.errors.length > 0) {
    return { problems: document.errors.map(({ pos, message }) => problem(pos[0], message)) };
  }
  const lineOf = (path: readonly PropertyKey[], message: string): SkillProblem => {
    for (let length = path.length; length > 0; length--) {
      const node: unknown = document.getIn(path.slice(0, length), true);
      if (hasRange(node)) return problem(node.range[0], message);
    }
    return problem(0, message);
  };
  const parsed = skillSchema.safeParse(document.toJS());
  if (!parsed.success) {
    return {
      problems: parsed.error.issues.map(({ path, message }) =>
        lineOf(path, [path.join("."), message].filter(Boolean).join(": ")),
      ),
    };
  }
  const problems = parsed.data.tools
    .map((tool, index) => ({ tool, index }))
    .filter(({ tool }) => !knownTools.has(tool))
    .map(({ tool, index }) => lineOf(["tools", index], `tools.${index}: no tool is called ${tool}`));
  if (parsed.data.name !== folderName)
    problems.push(lineOf(["name"], `name: must be its folder's, ${folderName}`));
  return problems.length > 0 ? { problems } : { skill: parsed.data, problems };
}

const hasRange = (node: unknown): node is { range: [number, number, number] } =>
  typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);
