import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { explainMatch, latestSkills, type Skill } from "@labwright/skills";
import { loadConfig } from "../config.ts";
import type { Catalogue, CatalogueSkill } from "../registry/catalogue.ts";
import { readUserSkills } from "../services/userSkills.ts";
import { packageFolder } from "../storage/packageFolder.ts";
import type { DaemonOptions } from "./options.ts";
import { type ExitCode, exitCodes, type Terminal } from "./terminal.ts";

type Options = Partial<DaemonOptions>;

/** `labwright skills list`: those of the build and the user's own. Exit code 1 when a file of the user's is left out. */
export function listSkills(options: Options & { json?: boolean | undefined }, terminal: Terminal): ExitCode {
  const { skills, problems } = loadAll(options, terminal);
  const rows = skills.map(({ name, version, description, tools, own }) => ({
    ...{ name, version, own, description, tools },
  }));
  terminal.out(options.json ? `${JSON.stringify(rows)}\n` : rows.map(line).join(""));
  return told(problems, terminal);
}

/** `labwright skills export`: writes `<folder>/<name>/SKILL.md` for the named ones, or for all. */
export function exportAll(
  options: Options & { folder: string; names: readonly string[] },
  terminal: Terminal,
): ExitCode {
  const { skills, problems } = loadAll(options, terminal);
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
  return told(problems, terminal);
}

/**
 * `labwright skills why`: which skill a request loads, how near each comes and by which phrase, and what kept the best from
 * being taken. Exit code 1 when it would be asked which is meant.
 */
export function whySkill(options: Options & { request: string }, terminal: Terminal): ExitCode {
  const file = join(packageFolder(), "dist", "skills.json");
  const shipped: Skill[] = JSON.parse(readFileSync(file, "utf8"));
  const { user } = readOwn(options, terminal);
  const { decision, near, stopped } = explainMatch(
    options.request,
    latestSkills([...shipped, ...user.current()]),
  );
  const isMatch = decision.kind === "match";
  const lines = [
    isMatch ? `It loads ${decision.skill.name}.` : `It is asked which is meant: ${stopped.join("; ")}.`,
    ...near.map(
      ({ skill, score, phrase }) => `${score.toFixed(2).padStart(7)}  ${skill.name.padEnd(24)} "${phrase}"`,
    ),
    "The number is how much better a skill fits than what no skill is for; its phrase that comes nearest is quoted.",
  ];
  terminal.out(`${lines.join("\n")}\n`);
  return isMatch ? exitCodes.passed : exitCodes.failed;
}

type Listed = CatalogueSkill & { own: boolean };

function readOwn(options: Options, { env, cwd }: Terminal) {
  const { folders } = loadConfig({
    command: "skills",
    options: { config: options.config, data_dir: options.dataDir, log_level: options.logLevel },
    env,
    cwd,
  });
  const file = join(packageFolder(), "dist", "catalogue.json");
  const { tools, skills }: Catalogue = JSON.parse(readFileSync(file, "utf8"));
  const user = readUserSkills({
    folder: folders.skills,
    knownTools: new Set(tools.map(({ name }) => name)),
    reserved: new Set(skills.map(({ name }) => name)),
  });
  return { skills, user };
}

function loadAll(options: Options, terminal: Terminal) {
  const { skills, user } = readOwn(options, terminal);
  const all: Listed[] = [
    ...skills.map((skill) => ({ ...skill, own: false })),
    ...user.current().map((skill) => ({ ...skill, own: true })),
  ];
  return { skills: all.sort((a, b) => (a.name < b.name ? -1 : 1)), problems: user.problems() };
}

const line = ({ name, version, own, description }: Omit<Listed, "system_prompt" | "markdown">) =>
  `${name}@${version}${own ? " (yours)" : ""}: ${description}\n`;

function told(
  problems: readonly { file: string; line: number; message: string }[],
  { err }: Terminal,
): ExitCode {
  for (const { file, line: at, message } of problems) err(`${file}:${at}: ${message}\n`);
  return problems.length === 0 ? exitCodes.passed : exitCodes.failed;
}
