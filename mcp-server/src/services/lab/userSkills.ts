import {
  type KnownTools,
  type LoadedSkills,
  latestSkills,
  loadSkills,
  type Skill,
  type SkillProblem,
  skillMarkdown,
  watchSkills,
} from "@labwright/skills";

/** Without its investigation, which only the server runs. */
export type UserSkill = Omit<Skill, "investigation"> & { markdown: string };

/** The skills in the user's own folder, as they are now. */
export type UserSkills = {
  /** By name, each in its highest version; the same array until one changes. */
  current(): readonly UserSkill[];
  /** Those of {@link current} with a decision tree, as they were loaded. */
  investigating(): readonly Skill[];
  /** What is wrong with the files of others, which are left out or keep their last good state. */
  problems(): readonly SkillProblem[];
  close(): void;
};

type Given = {
  folder: string;
  knownTools: ReadonlySet<string>;
  /** Names of the build's own skills, which the bridge serves without asking anyone, so they cannot be taken. */
  reserved: ReadonlySet<string>;
  /** Says what is wrong with a CEL expression. */
  checkExpression?: KnownTools["checkExpression"];
};

export const readUserSkills = (given: Given): Omit<UserSkills, "close"> => {
  const { folder, knownTools, checkExpression } = given;
  const { skills, investigating, problems } = accepted(
    loadSkills(folder, knownTools, checkExpression),
    given,
  );
  return { current: () => skills, investigating: () => investigating, problems: () => problems };
};

type Accepted = {
  skills: readonly UserSkill[];
  investigating: readonly Skill[];
  problems: readonly SkillProblem[];
};

/**
 * Watches the folder, which may not be there yet. CEL is loaded with the first decision tree; a tree whose expressions are wrong
 * leaves then. `onProblems` hears of each new state that has some.
 * @public main.ts takes it from the rooms that it loads
 */
export function watchUserSkills(
  given: Omit<Given, "checkExpression"> & { onProblems(problems: readonly SkillProblem[]): void },
): UserSkills {
  let state: Accepted;
  let check: KnownTools["checkExpression"];
  let isLoading = false;
  const take = (loaded: LoadedSkills) => {
    state = accepted(loaded, given);
    if (state.problems.length > 0) given.onProblems(state.problems);
    if (state.investigating.length > 0 && !isLoading) {
      isLoading = true;
      void import("../values/conditions.ts").then(({ expressionProblem }) => {
        check = expressionProblem;
        watch.reload();
      });
    }
    return state;
  };
  const watch = watchSkills({
    folders: [given.folder],
    knownTools: given.knownTools,
    checkExpression: (expression) => check?.(expression),
    onChange: take,
  });
  state = take(watch.current());
  return {
    current: () => state.skills,
    investigating: () => state.investigating,
    problems: () => state.problems,
    close: () => watch.close(),
  };
}

function accepted({ skills, problems }: LoadedSkills, { folder, reserved }: Given): Accepted {
  const latest = latestSkills(skills);
  const taken = latest.filter(({ name }) => reserved.has(name));
  const free = latest.filter(({ name }) => !reserved.has(name));
  return {
    skills: free.map(({ investigation: _, ...skill }) => ({ ...skill, markdown: skillMarkdown(skill) })),
    investigating: free.filter(({ investigation }) => investigation !== undefined),
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
export type AgentSkill = Omit<Skill, "investigation"> & { own: boolean };

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
      ...ofBuild.map(({ investigation: _, ...skill }) => ({ ...skill, own: false })),
      ...theirs.map(({ markdown: _, ...skill }) => ({ ...skill, own: true })),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
    known = { user: theirs, all };
    return all;
  };
}
