import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { latestSkills, matchSkill, nearestPhrase, type Skill, type SkillProblem } from "@labwright/skills";
import { loadConfig } from "../../config.ts";
import type { Catalogue, CatalogueSkill } from "../../registry/catalogue.ts";
import { readUserSkills, type UserSkill } from "../../services/lab/userSkills.ts";
import { expressionProblem } from "../../services/values/conditions.ts";
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
  /** The user's skills with a decision tree. */
  investigating: readonly Skill[];
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
    checkExpression: expressionProblem,
  });
  return {
    folder,
    shipped,
    user: user.current(),
    investigating: user.investigating(),
    problems: user.problems(),
    matched: () => latestSkills([...readBuilt<Skill[]>("skills.json"), ...user.current()]),
  };
}

function readBuilt<Content>(file: string): Content {
  return JSON.parse(readFileSync(join(packageFolder(), "dist", file), "utf8"));
}

/** One line a problem, for stderr. */
export const problemLines = (problems: readonly SkillProblem[]): string =>
  problems.map(({ file, line, message }) => `${file}:${line}: ${message}\n`).join("");
