import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { newSkillFiles, type Skill, skillSchema, type Trial, trySkill } from "@labwright/skills";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { type KnownSkills, problemLines, readKnownSkills, type SkillOptions } from "./knownSkills.ts";

/**
 * `labwright skills new`: writes a skill into the user's folder, or into `into`, that loads and passes its own test. Exit
 * code 2, with nothing written, when the name is wrong, taken, or what another skill is for.
 */
export function newSkill(
  options: SkillOptions & { name: string; into: string | undefined },
  terminal: Terminal,
): ExitCode {
  const { name } = options;
  const into = options.into === undefined ? undefined : resolve(terminal.cwd, options.into);
  const known = readKnownSkills(options, terminal, into);
  const home = join(known.folder, name);
  const problem =
    nameProblem(name, known) ?? writeTried(home, name, () => readKnownSkills(options, terminal, into));
  if (problem !== undefined) {
    terminal.err(`${problem}\n`);
    return exitCodes.error;
  }
  const steps = [
    `Wrote ${home}: ${Object.keys(newSkillFiles(name)).join(", ")}.`,
    `Edit them, then run: labwright skills test ${name}`,
    ...(into === undefined ? [] : [`Labwright reads this folder when LABWRIGHT_SKILLS_DIR is ${into}`]),
  ];
  terminal.out(`${steps.join("\n")}\n`);
  return exitCodes.passed;
}

function nameProblem(name: string, { folder, shipped }: KnownSkills): string | undefined {
  const checked = skillSchema.shape.name.safeParse(name);
  if (!checked.success)
    return `"${name}" cannot be a skill's name: ${checked.error.issues.map(({ message }) => message).join("; ")}.`;
  if (shipped.some((skill) => skill.name === name))
    return `${name} is a skill of Labwright itself; choose another name.`;
  const taken = existsSync(folder) ? readdirSync(folder).find((entry) => nameOf(entry) === name) : undefined;
  return taken === undefined ? undefined : `${join(folder, taken)} is there already.`;
}

const nameOf = (folder: string): string => folder.split("@")[0] ?? "";

/** Writes the files, and removes them again when a request of theirs does not choose the skill. */
function writeTried(home: string, name: string, read: () => KnownSkills): string | undefined {
  mkdirSync(home, { recursive: true });
  for (const [file, text] of Object.entries(newSkillFiles(name))) writeFileSync(join(home, file), text);
  const known = read();
  const skill = known.user.find((one) => one.name === name);
  const failed = skill && trySkill(home, skill, known.matched()).find(({ outcome }) => outcome !== "right");
  if (skill !== undefined && failed === undefined) return undefined;
  rmSync(home, { recursive: true });
  const why = failed ? `With it, ${sayTrial(failed, name)}` : problemLines(known.problems);
  return `${why}. Choose a name that says what is special about the skill.`;
}

/**
 * `labwright skills test`: tries what the user's skills promise, all or the named ones. Exit code 1 when a file has a
 * problem or a request is not right, 2 when there is nothing to test.
 */
export function testSkills(
  options: SkillOptions & { names: readonly string[] },
  terminal: Terminal,
): ExitCode {
  const known = readKnownSkills(options, terminal);
  const isChosen = (name: string) => options.names.length === 0 || options.names.includes(name);
  const skills = known.user.filter(({ name }) => isChosen(name));
  const problems = known.problems.filter(({ file }) => isChosen(nameOf(basename(dirname(file)))));
  const named = new Set([
    ...skills.map(({ name }) => name),
    ...problems.map(({ file }) => nameOf(basename(dirname(file)))),
  ]);
  const missing = options.names.filter((name) => !named.has(name));
  if (missing.length > 0 || named.size === 0) {
    const what = missing.length > 0 ? ` called ${missing.join(", ")}` : "";
    terminal.err(`No skill${what} lies in ${known.folder}. labwright skills new <name> writes one.\n`);
    return exitCodes.error;
  }
  const all = known.matched();
  const tried = skills.map((skill) => ({ skill, trials: trySkill(homeOf(skill, known.folder), skill, all) }));
  terminal.err(problemLines(problems));
  terminal.out(trialTable(tried));
  const isRight = tried.every(({ trials }) => trials.every(({ outcome }) => outcome === "right"));
  return problems.length === 0 && isRight ? exitCodes.passed : exitCodes.failed;
}

function homeOf({ name, version }: Skill, folder: string): string {
  const versioned = join(folder, `${name}@${version}`);
  return existsSync(versioned) ? versioned : join(folder, name);
}

const outcomes = ["right", "wrong", "undecided"] as const;

/** How many requests of each skill were right, wrong and undecided, then each that was not right. */
function trialTable(tried: readonly { skill: Skill; trials: readonly Trial[] }[]): string {
  const rows = [
    ["skill", ...outcomes],
    ...tried.map(({ skill, trials }) => [
      skill.name,
      ...outcomes.map((wanted) => String(trials.filter(({ outcome }) => outcome === wanted).length)),
    ]),
  ];
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  const table = rows.map(
    ([name = "", ...counts]) => `${name.padEnd(width)}${counts.map((count) => count.padStart(11)).join("")}`,
  );
  const failures = tried.flatMap(({ skill, trials }) =>
    trials
      .filter(({ outcome }) => outcome !== "right")
      .map((trial) => `${trial.file}:${trial.line}: ${sayTrial(trial, skill.name)}`),
  );
  return `${[...table, ...failures].join("\n")}\n`;
}

function sayTrial({ request, outcome, reason }: Trial, name: string): string {
  if (outcome === "wrong") return `"${request}" chooses ${name}, and must not`;
  return `"${request}" chooses no skill: ${reason}`;
}
