import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  latestSkills,
  matchSkill,
  nearestPhrase,
  newSkillFiles,
  type Skill,
  type SkillProblem,
  skillSchema,
  type Trial,
  trySkill,
} from "@labwright/skills";
import { loadConfig } from "../../config.ts";
import type { Catalogue, CatalogueSkill } from "../../registry/catalogue.ts";
import { readUserSkills, type UserSkill } from "../../services/lab/userSkills.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal, table } from "../terminal.ts";

/** `labwright skills list`: those of the build and the user's own. Exit code 1 when a file of the user's is left out. */
export function listSkills(
  options: DaemonOptions & { json?: boolean | undefined },
  terminal: Terminal,
): ExitCode {
  const known = readKnownSkills(options, terminal);
  const rows = listed(known).map(({ name, version, description, tools, own }) => ({
    ...{ name, version, own, description, tools },
  }));
  terminal.out(options.json ? `${JSON.stringify(rows)}\n` : listText(rows, terminal.columns));
  return reportProblems(known, terminal);
}

/** `labwright skills export`: writes `<folder>/<name>/SKILL.md` for the named ones, or for all. */
export function exportAll(
  options: DaemonOptions & { folder: string; names: readonly string[] },
  terminal: Terminal,
): ExitCode {
  const known = readKnownSkills(options, terminal);
  const skills = listed(known);
  const unknown = options.names.filter((name) => !skills.some((skill) => skill.name === name));
  if (unknown.length > 0) {
    const names = skills.map(({ name }) => name).join(", ");
    terminal.err(`No skill is called ${unknown.join(", ")}. The skills are ${names}.\n`);
    return exitCodes.error;
  }
  for (const { name, markdown } of skills) {
    if (options.names.length > 0 && !options.names.includes(name)) continue;
    const folder = join(resolve(terminal.cwd, options.folder), name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), markdown);
    terminal.out(`${join(folder, "SKILL.md")}\n`);
  }
  return reportProblems(known, terminal);
}

/**
 * `labwright skills why`: which skill a request loads and by which phrase; else why none is loaded, and the nearest phrase of
 * each candidate. Exit code 1 when no skill is loaded.
 */
export function whySkill(options: DaemonOptions & { request: string }, terminal: Terminal): ExitCode {
  const { request } = options;
  const match = matchSkill(request, readKnownSkills(options, terminal).matched());
  if (match.kind === "match") {
    terminal.out(`It loads ${match.skill.name}, by "${match.phrase}".\n`);
    return exitCodes.passed;
  }
  const lines = [
    `Its words load no skill: ${match.reason}. The assistant's model chooses, or asks you which one you mean.`,
    ...match.candidates.map((skill) => `  ${skill.name.padEnd(24)} "${nearestPhrase(request, skill)}"`),
    ...(match.candidates.length > 0
      ? ["The skills that share most words with it come first. The quote is the nearest phrase of each."]
      : ["No skill shares a word with it."]),
  ];
  terminal.out(`${lines.join("\n")}\n`);
  return exitCodes.failed;
}

type Listed = CatalogueSkill & { own: boolean };

const listed = ({ shipped, user }: KnownSkills): Listed[] =>
  [
    ...shipped.map((skill) => ({ ...skill, own: false })),
    ...user.map((skill) => ({ ...skill, own: true })),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));

const listText = (rows: readonly Omit<Listed, "system_prompt" | "markdown">[], columns: number | undefined) =>
  table(
    ["skill", "version", "of", "what it is for"],
    rows.map(({ name, version, own, description }) => [
      ...[name, version, own ? "you" : "Labwright", description],
    ]),
    columns,
  );

function reportProblems({ problems }: KnownSkills, { err }: Terminal): ExitCode {
  err(problemLines(problems));
  return problems.length === 0 ? exitCodes.passed : exitCodes.failed;
}

export type KnownSkills = {
  /** The folder of the user's skills. */
  folder: string;
  shipped: readonly CatalogueSkill[];
  user: readonly UserSkill[];
  /** Problems in the files of the user's skills. */
  problems: readonly SkillProblem[];
  /** All of them, as a request is matched with them. */
  matched(): readonly Skill[];
};

/** Reads the skills of this build and the user's. `into`: another folder than the user's own. */
export function readKnownSkills(options: DaemonOptions, { env, cwd }: Terminal, into?: string): KnownSkills {
  const { folders } = loadConfig({
    command: "skills",
    options: { config: options.config, data_dir: options.dataDir, log_level: options.logLevel },
    env,
    cwd,
  });
  const folder = into ?? folders.skills;
  const { tools, skills: shipped } = readBuilt<Catalogue>("catalogue.json");
  const user = readUserSkills({
    folder,
    knownTools: new Set(tools.map(({ name }) => name)),
    reserved: new Set(shipped.map(({ name }) => name)),
  });
  return {
    folder,
    shipped,
    user: user.current(),
    problems: user.problems(),
    matched: () => latestSkills([...readBuilt<Skill[]>("skills.json"), ...user.current()]),
  };
}

function readBuilt<Content>(file: string): Content {
  return JSON.parse(readFileSync(join(packageFolder(), "dist", file), "utf8"));
}

/** One line a problem, for stderr. */
const problemLines = (problems: readonly SkillProblem[]): string =>
  problems.map(({ file, line, message }) => `${file}:${line}: ${message}\n`).join("");

/**
 * `labwright skills new`: writes a skill into the user's folder, or into `into`, that loads and passes its own test. Exit
 * code 2, with nothing written, when the name is wrong, taken, or what another skill is for.
 */
export function newSkill(
  options: DaemonOptions & { name: string; into?: string | undefined },
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
  return taken === undefined ? undefined : `${join(folder, taken)} exists already.`;
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
  return `${why}. Choose a more specific name.`;
}

/**
 * `labwright skills test`: tries what the user's skills promise, all or the named ones. Exit code 1 when a file has a
 * problem or a request is not right, 2 when there is nothing to test.
 */
export function testSkills(
  options: DaemonOptions & { names: readonly string[] },
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
    const what = missing.length > 0 ? `skill called ${missing.join(", ")}` : "skills";
    terminal.err(`No ${what} in ${known.folder}. Create one with \`labwright skills new <name>\`.\n`);
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

function sayTrial({ request, chosen, reason }: Trial, name: string): string {
  if (chosen === undefined) return `"${request}" chooses no skill: ${reason}`;
  return `"${request}" chooses ${chosen}${chosen === name ? ", and must not" : ""}`;
}
