import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseSkill } from "./parse.ts";
import type { Skill } from "./skill.ts";
import type { SkillProblem } from "./source.ts";
import { compareVersions } from "./versions.ts";
import { foldedWords } from "./words.ts";

/** `skills` by name, the highest version first. */
export type LoadedSkills = { skills: Skill[]; problems: SkillProblem[] };

/** What one file gave: a skill or its problems. */
export type SkillFile = { file: string; skill?: Skill; problems: SkillProblem[] };

/** A skill is a page of text; a larger file is something else. */
const maxFileBytes = 256 * 1024;

/**
 * Reads every `<name>/skill.yaml` and `<name>@<version>/skill.yaml` below `folder`. A skill with a problem is left out and
 * all its problems are reported; the others go on. `knownTools` are the tools that a skill may name.
 */
export function loadSkills(folder: string, knownTools: ReadonlySet<string>): LoadedSkills {
  return loadSkillFolders([folder], knownTools);
}

/** As {@link loadSkills} over several folders: a name in a later one replaces that name, in all its versions, of those before. */
export function loadSkillFolders(folders: readonly string[], knownTools: ReadonlySet<string>): LoadedSkills {
  return joinSkillFiles(folders.map((folder) => readSkillFiles(folder, knownTools)));
}

/** The files of one folder; one that is missing has none. */
export function readSkillFiles(folder: string, knownTools: ReadonlySet<string>): SkillFile[] {
  const { names, message } = foldersIn(folder);
  const files = names.flatMap((name) => readSkillFile(folder, name, knownTools) ?? []);
  return message === undefined ? files : [...files, unreadable(folder, message)];
}

function readSkillFile(folder: string, name: string, knownTools: ReadonlySet<string>): SkillFile | undefined {
  const file = join(folder, name, "skill.yaml");
  const text = readText(file);
  if (text === undefined) return undefined;
  if (typeof text !== "string") return unreadable(file, text.message);
  const parsed = parseSkill(text, file, name, knownTools);
  const examples = readExamples(join(folder, name, "examples.txt"));
  if (parsed.skill === undefined || examples.length === 0) return { file, ...parsed };
  return { file, ...parsed, skill: { ...parsed.skill, examples } };
}

/** None where there is no such file, or one that cannot be read: the skill is as good without. */
function readExamples(file: string): string[] {
  const text = readText(file);
  if (typeof text !== "string") return [];
  return text.split(/\r?\n/).filter((line) => foldedWords(line).length > 0);
}

const unreadable = (file: string, message: string): SkillFile => ({
  file,
  problems: [{ file, line: 1, message }],
});

/** Joins what the files of each folder gave, later folders over those before. */
export function joinSkillFiles(folders: readonly (readonly SkillFile[])[]): LoadedSkills {
  const problems = folders.flatMap((files) => files.flatMap((file) => file.problems));
  let skills: Skill[] = [];
  for (const files of folders) {
    const own = withoutTwins(files, problems);
    const names = new Set(own.map(({ name }) => name));
    skills = [...skills.filter(({ name }) => !names.has(name)), ...own];
  }
  skills.sort((a, b) =>
    a.name === b.name ? compareVersions(b.version, a.version) : a.name < b.name ? -1 : 1,
  );
  return { skills, problems };
}

function withoutTwins(files: readonly SkillFile[], problems: SkillProblem[]): Skill[] {
  const first = new Map<string, string>();
  return files.flatMap(({ file, skill }) => {
    if (skill === undefined) return [];
    const key = `${skill.name}@${skill.version}`;
    const twin = first.get(key);
    if (twin !== undefined) {
      problems.push({ file, line: 1, message: `version: ${key} is also in ${twin}` });
      return [];
    }
    first.set(key, file);
    return [skill];
  });
}

/** What may be a skill's folder, in order of names, so that of two with one version the same one always stays. */
export function foldersIn(folder: string): { names: string[]; message?: string } {
  try {
    const names = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => name);
    return { names: names.sort() };
  } catch (error) {
    return isMissing(error) ? { names: [] } : { names: [], message: cannotRead(error) };
  }
}

/** Undefined when there is no such file. */
function readText(file: string): string | { message: string } | undefined {
  try {
    const { size } = statSync(file);
    if (size > maxFileBytes) return { message: `has ${size} bytes; a skill has at most ${maxFileBytes}` };
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    return { message: cannotRead(error) };
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

const cannotRead = (error: unknown): string =>
  `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
