import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  newSkillFiles,
  skillSchema,
  type Trial,
  type TriedCase,
  tryCases,
  trySkill,
} from "@labwright/skills";
import { evaluateCondition } from "../../services/values/conditions.ts";
import type { DaemonOptions } from "../options.ts";
import { counted, type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { runLiveCase } from "./liveCases.ts";
import { type KnownSkills, problemLines, readKnownSkills } from "./skills.ts";

/**
 * `labwright skills new`: writes a skill into the user's folder, or into `into`, that loads and passes its own test. Exit
 * code 2, with nothing written, when the name is wrong, taken, or what another skill is for.
 */
export async function newSkill(
  options: DaemonOptions & { name: string; into?: string | undefined; tree?: boolean | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const { name } = options;
  const files = newSkillFiles(name, options.tree ? "tree" : "tools");
  const into = options.into === undefined ? undefined : resolve(terminal.cwd, options.into);
  const known = readKnownSkills(options, terminal, into);
  const home = join(known.folder, name);
  const problem =
    nameProblem(name, known) ??
    (await writeTried(home, name, files, () => readKnownSkills(options, terminal, into)));
  if (problem !== undefined) {
    terminal.err(`${problem}\n`);
    return exitCodes.error;
  }
  const steps = [
    `Wrote ${home}: ${Object.keys(files).join(", ")}.`,
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
async function writeTried(
  home: string,
  name: string,
  files: Readonly<Record<string, string>>,
  read: () => KnownSkills,
): Promise<string | undefined> {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), text);
  }
  const known = read();
  const skill = known.user.find((one) => one.name === name);
  const failed = skill && trySkill(home, skill, known.matched()).find(({ outcome }) => outcome !== "right");
  const [wrong] = skill ? wrongCases(await casesOf(skill, known)) : [];
  if (skill !== undefined && failed === undefined && wrong === undefined) return undefined;
  rmSync(home, { recursive: true });
  if (failed !== undefined) return `With it, ${sayTrial(failed, name)}. Choose a more specific name.`;
  return wrong ?? problemLines(known.problems);
}

type RunLive = NonNullable<Parameters<typeof tryCases>[2]["runLive"]>;

/** The test cases of a skill with a decision tree; none of another skill. */
export async function casesOf(
  { name }: { name: string },
  { investigating, folder }: KnownSkills,
  runLive?: RunLive,
): Promise<TriedCase[]> {
  const skill = investigating.find((one) => one.name === name);
  if (skill === undefined) return [];
  return tryCases(homeOf(skill, folder), skill, { evaluate: evaluateCondition, ...(runLive && { runLive }) });
}

/** Runs a test case without results on its real sources, through the server. */
const liveRunner =
  (skill: string, options: DaemonOptions, terminal: Terminal): RunLive =>
  (given) =>
    withDaemon(options, terminal, { command: "skills" }, ({ call }) =>
      runLiveCase(skill, given, (tool, args) => call(tool, args, terminal.signal)),
    );

const wrongCases = (cases: readonly TriedCase[]): string[] =>
  cases.flatMap(({ file, line, problems }) => problems.map((problem) => `${file}:${line}: ${problem}`));

/**
 * `labwright skills test`: tries what the user's skills promise, all or the named ones, and the test cases of decision trees. Exit
 * code 1 when a file has a problem or a request or a test case is not right, 2 when there is nothing to test.
 */
export async function testSkills(
  options: DaemonOptions & { names: readonly string[] },
  terminal: Terminal,
): Promise<ExitCode> {
  const known = readKnownSkills(options, terminal);
  const isChosen = (name: string) => options.names.length === 0 || options.names.includes(name);
  const skills = known.user.filter(({ name }) => isChosen(name));
  const problems = known.problems.filter((problem) => isChosen(skillOf(problem, known)));
  const named = new Set([
    ...skills.map(({ name }) => name),
    ...problems.map((problem) => skillOf(problem, known)),
  ]);
  const missing = options.names.filter((name) => !named.has(name));
  if (missing.length > 0 || named.size === 0) {
    const what = missing.length > 0 ? `skill called ${missing.join(", ")}` : "skills";
    terminal.err(`No ${what} in ${known.folder}. Create one with \`labwright skills new <name>\`.\n`);
    return exitCodes.error;
  }
  const all = known.matched();
  const tried = await Promise.all(
    skills.map(async (skill) => ({
      skill,
      trials: trySkill(homeOf(skill, known.folder), skill, all),
      cases: await casesOf(skill, known, liveRunner(skill.name, options, terminal)),
    })),
  );
  terminal.err(problemLines(problems));
  terminal.out(trialTable(tried) + caseLines(tried, known));
  const isRight = tried.every(
    ({ trials, cases }) =>
      trials.every(({ outcome }) => outcome === "right") &&
      cases.every(({ problems }) => problems.length === 0),
  );
  return problems.length === 0 && isRight ? exitCodes.passed : exitCodes.failed;
}

/** The name of the skill that a problem is about: its file lies in the folder of the skill, or is that folder, or a flat file. */
function skillOf({ file }: { file: string }, { folder }: KnownSkills): string {
  const home = dirname(file) === folder ? file : dirname(file);
  return nameOf(basename(home).replace(/\.ya?ml$/, "")).replaceAll("_", "-");
}

function caseLines(
  tried: readonly { skill: { name: string }; cases: readonly TriedCase[] }[],
  known: KnownSkills,
): string {
  return tried
    .flatMap(({ skill: { name }, cases }) => {
      const isRight = cases.filter(({ problems }) => problems.length === 0).length;
      if (cases.length > 0)
        return [`${name}: ${isRight} of ${counted(cases.length, "test case")} right`, ...wrongCases(cases)];
      const hasTree = known.investigating.some((one) => one.name === name);
      return hasTree
        ? [`${name}: no test case; write one into ${join(homeOf({ name }, known.folder), "test_cases")}`]
        : [];
    })
    .map((line) => `${line}\n`)
    .join("");
}

/** The folder of a skill: with its version, or with underscores in its name. */
function homeOf({ name, version }: { name: string; version?: string }, folder: string): string {
  const names = [
    `${name}@${version}`,
    name,
    name.replaceAll("-", "_"),
    `${name.replaceAll("-", "_")}@${version}`,
  ];
  return join(folder, names.find((one) => existsSync(join(folder, one))) ?? name);
}

const outcomes = ["right", "wrong", "undecided"] as const;

/** How many requests of each skill were right, wrong and undecided, then each that was not right. */
function trialTable(tried: readonly { skill: { name: string }; trials: readonly Trial[] }[]): string {
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
