import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cannotRead, isMissing, readRequests, readText } from "./files.ts";
import { parseSkill } from "./parse.ts";
import type { Skill } from "./skill.ts";
import type { SkillProblem } from "./source.ts";
import { compareVersions } from "./versions.ts";

/** `skills` by name, the highest version first. */
export type LoadedSkills = { skills: Skill[]; problems: SkillProblem[] };

/** What one file gave: a skill or its problems. */
export type SkillFile = { file: string; skill?: Skill; problems: SkillProblem[] };

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
  const files = names.flatMap((name) => readSkillFile(folder, name, knownTools) ?? misplacedIn(folder, name));
  const all = [...misplacedAt(folder, "<name>/skill.yaml"), ...files];
  return message === undefined ? all : [...all, unreadable(folder, message)];
}

function readSkillFile(folder: string, name: string, knownTools: ReadonlySet<string>): SkillFile | undefined {
  const file = join(folder, name, "skill.yaml");
  const text = readText(file);
  if (text === undefined) return undefined;
  if (typeof text !== "string") return unreadable(file, text.message);
  const parsed = parseSkill(text, file, name, knownTools);
  const examples = readRequests(join(folder, name, "examples.txt")).map(({ text }) => text);
  if (parsed.skill === undefined || examples.length === 0) return { file, ...parsed };
  return { file, ...parsed, skill: { ...parsed.skill, examples } };
}

/** Files that show a skill in a place where none is read. */
const skillFiles = ["skill.yaml", "skill.yml", "SKILL.md"];

/** A folder without a skill.yaml: a skill of another form, or one that lies a folder too deep. */
function misplacedIn(folder: string, name: string): SkillFile[] {
  const home = join(folder, name);
  const deeper = name === "node_modules" ? [] : foldersIn(home).names;
  return [
    ...misplacedAt(home, `${name}/skill.yaml`),
    ...deeper.flatMap((inner) => misplacedAt(join(home, inner), `${inner}/skill.yaml`)),
  ];
}

function misplacedAt(home: string, wanted: string): SkillFile[] {
  const found = skillFiles.find((name) => existsSync(join(home, name)));
  if (found === undefined) return [];
  return [unreadable(join(home, found), `is not read: a skill is ${wanted} in the folder of the skills`)];
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
