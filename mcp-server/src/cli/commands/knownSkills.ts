import { readFileSync } from "node:fs";
import { join } from "node:path";
import { latestSkills, type Skill, type SkillProblem } from "@labwright/skills";
import { loadConfig } from "../../config.ts";
import type { Catalogue, CatalogueSkill } from "../../registry/catalogue.ts";
import { readUserSkills, type UserSkill } from "../../services/lab/userSkills.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import type { DaemonOptions } from "../options.ts";
import type { Terminal } from "../terminal.ts";

export type SkillOptions = Partial<DaemonOptions>;

export type KnownSkills = {
  /** The folder of the user's skills. */
  folder: string;
  shipped: readonly CatalogueSkill[];
  user: readonly UserSkill[];
  /** What is wrong with the files of the user's skills. */
  problems: readonly SkillProblem[];
  /** All of them, as a request is matched with them. */
  matched(): readonly Skill[];
};

/** Reads the skills of this build and the user's. `into`: another folder than the user's own. */
export function readKnownSkills(options: SkillOptions, { env, cwd }: Terminal, into?: string): KnownSkills {
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
export const problemLines = (problems: readonly SkillProblem[]): string =>
  problems.map(({ file, line, message }) => `${file}:${line}: ${message}\n`).join("");
