import { join } from "node:path";
import { sourceNames } from "./dataSources.ts";
import { filesIn, readRequests, readText } from "./files.ts";
import { type ParsedSkill, parseDefinition, parseSkill } from "./parse.ts";
import type { Investigation, Skill } from "./skill.ts";
import type { SkillProblem } from "./source.ts";
import { type KnownNames, parseTree, type TreeText } from "./tree/index.ts";

/** What the files of skills may name. */
export type KnownTools = Omit<KnownNames, "sources">;

/** What one folder gave: a skill or its problems, or both when only a data source is refused. `file`: what it was read from. */
export type SkillFile = { file: string; skill?: Skill; problems: SkillProblem[] };

const forms = ["skill.yaml", "skill_definition.yaml"];

/** Reads the skill in `folder/name`. Undefined when the folder has no file of a skill. */
export function readSkillFolder(folder: string, name: string, known: KnownTools): SkillFile | undefined {
  const home = join(folder, name);
  const [first, second] = forms.flatMap((form) => {
    const file = join(home, form);
    const text = readText(file, home);
    return text === undefined ? [] : [{ form, file, text }];
  });
  if (first === undefined) return undefined;
  const { form, file, text } = first;
  const problem = (message: string): SkillFile => ({ file, problems: [{ file, line: 1, message }] });
  if (second !== undefined) return problem(`${second.form} describes this skill too; keep one of them`);
  if (typeof text !== "string") return problem(text.message);
  const parsed =
    form === "skill.yaml" ? parseSkill(text, file, name, known.tools) : parseDefinition(text, file, name);
  return { file, ...withFiles(home, parsed, known) };
}

function withFiles(
  home: string,
  { skill, problems, problemAt }: ParsedSkill,
  known: KnownTools,
): Omit<SkillFile, "file"> {
  if (skill === undefined || problemAt === undefined) return { problems };
  const examples = [
    ...(skill.examples ?? []),
    ...readRequests(join(home, "examples.txt"), home).map(({ text }) => text),
  ];
  const read = readInvestigation(home, skill, problemAt, known);
  const all = [...problems, ...read.problems];
  if (read.problems.length > 0) return { problems: all };
  const { investigation } = read;
  return {
    problems: all,
    skill: { ...skill, ...(examples.length > 0 && { examples }), ...(investigation && { investigation }) },
  };
}

function readInvestigation(
  home: string,
  skill: Skill,
  problemAt: NonNullable<ParsedSkill["problemAt"]>,
  known: KnownTools,
): { investigation?: Investigation; problems: SkillProblem[] } {
  const { path = "decision_tree.yaml", entry_point } = skill.decision_tree ?? {};
  const [tree, mappings] = [path, "api_mappings.yaml"].map((name) => readYaml(home, name));
  if (tree === undefined) {
    if (skill.decision_tree === undefined) return { problems: [] };
    return { problems: [problemAt(["decision_tree"], `decision_tree: ${path} is not in the folder`)] };
  }
  const unread = [tree, mappings].flatMap((file) =>
    file !== undefined && "problem" in file ? [file.problem] : [],
  );
  if ("problem" in tree || (mappings !== undefined && "problem" in mappings)) return { problems: unread };
  const names: KnownNames = { ...known, sources: sourceNames(skill.data_sources) };
  const parsed = parseTree(tree, mappings, skill.human_handoff?.triggers ?? {}, names);
  if (parsed.tree === undefined) return { problems: parsed.problems };
  if (entry_point !== undefined && entry_point !== parsed.tree.entry_point) {
    const message = `decision_tree.entry_point: ${path} begins at ${parsed.tree.entry_point}`;
    return { problems: [problemAt(["decision_tree", "entry_point"], message)] };
  }
  const { problems, ...texts } = readTexts(home);
  return problems.length > 0 ? { problems } : { investigation: { tree: parsed.tree, ...texts }, problems };
}

function readYaml(home: string, name: string): TreeText | { problem: SkillProblem } | undefined {
  const file = join(home, name);
  const text = readText(file, home);
  if (text === undefined) return undefined;
  return typeof text === "string" ? { file, text } : { problem: { file, line: 1, message: text.message } };
}

/** What an investigation's model is given to read. */
function readTexts(
  home: string,
): Pick<Investigation, "knowledge" | "prompts"> & { problems: SkillProblem[] } {
  const problems: SkillProblem[] = [];
  const read = (...names: string[]) => {
    const file = join(home, ...names);
    const text = readText(file, home);
    if (typeof text === "object") problems.push({ file, line: 1, message: text.message });
    return typeof text === "string" ? text : undefined;
  };
  const knowledge = read("knowledge_base.md");
  const prompts = filesIn(join(home, "prompts"), ".txt").flatMap((name) => {
    const text = read("prompts", name);
    return text === undefined ? [] : [[name.slice(0, -".txt".length), text] as const];
  });
  return { ...(knowledge !== undefined && { knowledge }), prompts: Object.fromEntries(prompts), problems };
}
