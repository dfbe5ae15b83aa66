import { jsonLine } from "@labwright/agent-client/cli";
import type { Skill, TriedCase } from "@labwright/skills";
import type { Command } from "commander";
import { z } from "zod";
import {
  type SkillSpending,
  type SkillUse,
  skillSpendingSchema,
  skillUseSchema,
} from "../../domain/index.ts";
import { askDaemon } from "../askDaemon.ts";
import { examples, withDaemonOptions } from "../commandOptions.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

const replySchema = z.object({ uses: z.array(skillUseSchema), spending: z.array(skillSpendingSchema) });

/** `labwright skills stats`: what the investigations of a skill took and found, next to what its author expects. */
export function addSkillStatsCommand(
  skills: Command,
  terminal: Terminal,
  exit: (code: ExitCode) => void,
): void {
  withDaemonOptions(skills.command("stats"))
    .description(
      "what investigations took and found, by skill: time, calls, questions, accuracy, rating, cost",
    )
    .argument("[name]", "only this skill")
    .option("--json", "as JSON")
    .addHelpText("after", examples("labwright skills stats", "labwright skills stats ocean-debugging --json"))
    .action(async (name: string | undefined, given: DaemonOptions & { json?: boolean }) =>
      exit(await showStats(name, given, terminal)),
    );
}

async function showStats(
  name: string | undefined,
  { json, ...options }: DaemonOptions & { json?: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const [{ readKnownSkills }, { casesOf }] = await Promise.all([
    import("./skills.ts"),
    import("./ownSkills.ts"),
  ]);
  const known = readKnownSkills(options, terminal);
  const investigating = [...known.matched().filter((skill) => skill.investigation), ...known.investigating];
  const own = investigating.filter((skill) => name === undefined || skill.name === name);
  const query = name === undefined ? "" : `?${new URLSearchParams({ skill: name })}`;
  const request = { command: "skills", path: `/api/v1/skills/stats${query}` };
  const reply = await askDaemon(options, terminal, request, replySchema);
  if (!reply) return exitCodes.error;
  const names = [...new Set([...own.map((skill) => skill.name), ...reply.uses.map(({ skill }) => skill)])];
  if (names.length === 0) {
    const what =
      name === undefined ? "No skill with a decision tree is known" : `No skill called ${name} investigates`;
    terminal.err(`${what}. Create one with \`labwright skills new <name> --tree\`.\n`);
    return exitCodes.error;
  }
  const all = await Promise.all(
    names.sort().map(async (skill) => ({
      ...statsOf(skill, { known: own, ...reply }),
      cases: casesView(await casesOf({ name: skill }, known)),
    })),
  );
  terminal.out(json ? jsonLine(all) : all.map(textOf).join("\n"));
  return exitCodes.passed;
}

type Stats = {
  skill: string;
  use?: SkillUse | undefined;
  spending?: SkillSpending | undefined;
  metrics?: Skill["metrics"] | undefined;
  /** The skill's own test cases. `false_positives`: cases in which it names another cause than the right one. */
  cases: { total: number; right: number; false_positives: number };
};

const casesView = (cases: readonly TriedCase[]): Stats["cases"] => ({
  total: cases.length,
  right: cases.filter(({ problems }) => problems.length === 0).length,
  false_positives: cases.filter(
    ({ root_cause, problems }) =>
      root_cause !== null && problems.some((problem) => problem.startsWith("root_cause:")),
  ).length,
});

function statsOf(
  name: string,
  given: { known: readonly Skill[]; uses: readonly SkillUse[]; spending: readonly SkillSpending[] },
): Omit<Stats, "cases"> {
  return {
    skill: name,
    use: given.uses.find(({ skill }) => skill === name),
    spending: given.spending.find(({ skill }) => skill === name),
    metrics: given.known.find((skill) => skill.name === name)?.metrics,
  };
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const joined = (...parts: (string | undefined | false)[]) => parts.filter(Boolean).join("; ");

function textOf(stats: Stats): string {
  const lines = [...aimLines(stats), ...useLines(stats), ...spendingLines(stats)];
  const shown = lines.flatMap(([head, text]) => (text === "" ? [] : [`  ${head.padEnd(16)}${text}\n`]));
  return `${stats.skill}\n${shown.join("")}`;
}

type Line = [head: string, text: string];

/** `part` of the test cases, and of the results that a person judged. */
function shareOf({ use, cases }: Stats, part: "right" | "wrong"): string {
  const ofCases = part === "right" ? cases.right : cases.false_positives;
  return joined(
    cases.total > 0 && `${ofCases} of ${count(cases.total, "test case")}`,
    use && use.confirmed > 0 && `${use[part]} of ${use.confirmed} that a person judged`,
  );
}

function aimLines(stats: Stats): Line[] {
  const { use, metrics = {} } = stats;
  const { target_time: target, baseline_time: baseline, expected_accuracy: expected } = metrics;
  const took = use && `${seconds(use.mean_ms)} a run`;
  return [
    ["runs", use ? usersOf(use) : "none yet"],
    ["time", joined(took, target && `target ${target}`, baseline && `baseline ${baseline}`)],
    ["accuracy", joined(shareOf(stats, "right"), expected && `expected ${expected}`)],
    ["false positives", shareOf(stats, "wrong")],
  ];
}

function useLines({ use }: Stats): Line[] {
  if (!use) return [];
  const { rating, rated, handoffs, asked, cached } = use;
  return [
    ["rating", rating === null ? "" : `${rating.toFixed(1)} of 5, in ${count(rated, "run")}`],
    ["steps", `${use.mean_steps.toFixed(1)} a run`],
    ["calls", `${use.mean_calls.toFixed(1)} a run; ${cached} further replies came from the cache`],
    ["handoffs", `${handoffs}, in ${count(asked, "run")}`],
    [
      "infrastructure",
      `${seconds(use.source_ms)} in which databases, APIs and tools worked; their price is not known`,
    ],
  ];
}

function spendingLines({ spending }: Stats): Line[] {
  if (!spending) return [];
  const { tokens, cost_usd, conversations } = spending;
  const where = `in ${count(conversations, "conversation")} that used the skill`;
  return [["model", `${tokens} tokens, $${cost_usd.toFixed(2)}, ${where}`]];
}

const usersOf = ({ runs, done, users, repeats }: SkillUse) =>
  `${runs} (${done} done) by ${count(users, "user")}; ${repeats} were repeats`;
