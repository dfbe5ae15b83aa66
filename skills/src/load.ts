import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { cannotRead, filesIn, isMissing } from "./files.ts";
import { type KnownTools, readSkillFolder, type SkillFile } from "./folder.ts";
import type { Skill } from "./skill.ts";
import type { SkillProblem } from "./source.ts";
import { compareVersions } from "./versions.ts";

/** `skills` by name, the highest version first. */
export type LoadedSkills = { skills: Skill[]; problems: SkillProblem[] };

type CheckExpression = KnownTools["checkExpression"];

/**
 * Reads every `<name>/skill.yaml` and `<name>@<version>/skill.yaml` below `folder`, or `skill_definition.yaml` in its place, with
 * their decision trees. A skill with a problem is left out and all its problems are reported; the others go on. `knownTools` are
 * the tools that a skill may name; `checkExpression` says what is wrong with a CEL expression.
 */
export function loadSkills(
  folder: string,
  knownTools: ReadonlySet<string>,
  checkExpression?: CheckExpression,
): LoadedSkills {
  return loadSkillFolders([folder], knownTools, checkExpression);
}

/** As {@link loadSkills} over several folders: a name in a later one replaces that name, in all its versions, of those before. */
export function loadSkillFolders(
  folders: readonly string[],
  knownTools: ReadonlySet<string>,
  checkExpression?: CheckExpression,
): LoadedSkills {
  const known = { tools: knownTools, checkExpression };
  return joinSkillFiles(folders.map((folder) => readSkillFiles(folder, known)));
}

/** The files of one folder; one that is missing has none. */
export function readSkillFiles(folder: string, known: KnownTools): SkillFile[] {
  const { names, message } = foldersIn(folder);
  const files = names.flatMap((name) => readSkillFolder(folder, name, known) ?? misplacedIn(folder, name));
  const all = [...misplacedAt(folder, "<name>/skill.yaml"), ...flatFiles(folder), ...files];
  return message === undefined ? all : [...all, unreadable(folder, message)];
}

/** A skill is a folder; a YAML file next to the folders is not read. */
const flatFiles = (folder: string): SkillFile[] =>
  [".yaml", ".yml"].flatMap((ending) =>
    filesIn(folder, ending)
      .filter((file) => !skillFiles.includes(file))
      .map((file) =>
        unreadable(
          join(folder, file),
          `is not read: a skill is a folder; move it to ${basename(file, ending)}/skill.yaml`,
        ),
      ),
  );

/** Files that show a skill in a place where none is read. */
const skillFiles = ["skill.yaml", "skill.yml", "skill_definition.yaml", "skill_definition.yml", "SKILL.md"];
/** Folders that stand next to skills and are none; so does one whose name begins with a dot or an underscore. */
const otherFolders = new Set(["dist", "node_modules", "out", "src"]);

/** A folder without a skill.yaml: a skill of another form, one that lies a folder too deep, or no skill at all. */
function misplacedIn(folder: string, name: string): SkillFile[] {
  const home = join(folder, name);
  if (otherFolders.has(name) || /^[._]/.test(name)) return [];
  const found = [
    ...misplacedAt(home, `${name}/skill.yaml`),
    ...foldersIn(home).names.flatMap((inner) => misplacedAt(join(home, inner), `${inner}/skill.yaml`)),
  ];
  if (found.length > 0) return found;
  return [
    unreadable(
      home,
      "has no skill.yaml, so it is not a skill; begin its name with _ to keep it here all the same",
    ),
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
