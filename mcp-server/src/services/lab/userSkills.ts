import {
  type LoadedSkills,
  latestSkills,
  loadSkills,
  type Skill,
  type SkillProblem,
  skillMarkdown,
  watchSkills,
} from "@labwright/skills";

export type UserSkill = Skill & { markdown: string };

/** The skills in the user's own folder, as they are now. */
export type UserSkills = {
  /** By name, each in its highest version; the same array until one changes. */
  current(): readonly UserSkill[];
  /** What is wrong with the files of others, which are left out or keep their last good state. */
  problems(): readonly SkillProblem[];
  close(): void;
};

type Given = {
  folder: string;
  knownTools: ReadonlySet<string>;
  /** Names of the build's own skills, which the bridge serves without asking anyone, so they cannot be taken. */
  reserved: ReadonlySet<string>;
};

export const readUserSkills = (given: Given): Pick<UserSkills, "current" | "problems"> => {
  const { skills, problems } = accepted(loadSkills(given.folder, given.knownTools), given);
  return { current: () => skills, problems: () => problems };
};

/**
 * Watches the folder, which may not be there yet. `onProblems` hears of each new state that has some.
 * @public main.ts takes it from the rooms that it loads
 */
export function watchUserSkills(
  given: Given & { onProblems(problems: readonly SkillProblem[]): void },
): UserSkills {
  let state: { skills: readonly UserSkill[]; problems: readonly SkillProblem[] };
  const take = (loaded: LoadedSkills) => {
    state = accepted(loaded, given);
    if (state.problems.length > 0) given.onProblems(state.problems);
    return state;
  };
  const watch = watchSkills({ folders: [given.folder], knownTools: given.knownTools, onChange: take });
  state = take(watch.current());
  return {
    current: () => state.skills,
    problems: () => state.problems,
    close: () => watch.close(),
  };
}

function accepted({ skills, problems }: LoadedSkills, { folder, reserved }: Given) {
  const latest = latestSkills(skills);
  const taken = latest.filter(({ name }) => reserved.has(name));
  return {
    skills: latest
      .filter(({ name }) => !reserved.has(name))
      .map((skill) => ({ ...skill, markdown: skillMarkdown(skill) })),
    problems: [
      ...problems,
      ...taken.map(({ name }) => ({
        file: `${folder}/${name}/skill.yaml`,
        line: 1,
        message: `name: ${name} is a skill of Labwright itself; choose another name`,
      })),
    ],
  };
}

/** A skill with all that choosing and running it needs. `own`: the user's. */
export type AgentSkill = Skill & { own: boolean };

/**
 * The build's skills and the user's, by name; the same array until one of the user's changes.
 * @public main.ts takes it from the rooms that it loads
 */
export function joinSkills(
  ofBuild: readonly Skill[],
  user: () => readonly UserSkill[],
): () => readonly AgentSkill[] {
  let known: { user: readonly UserSkill[]; all: readonly AgentSkill[] } | undefined;
  return () => {
    const theirs = user();
    if (known?.user === theirs) return known.all;
    const all = [
      ...ofBuild.map((skill) => ({ ...skill, own: false })),
      ...theirs.map(({ markdown: _, ...skill }) => ({ ...skill, own: true })),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
    known = { user: theirs, all };
    return all;
  };
}
