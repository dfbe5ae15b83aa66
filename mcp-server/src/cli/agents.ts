import { type Agent, loadAgents, withSettings } from "@labwright/agent-client";
import { jsonLine, plainLine } from "@labwright/agent-client/cli";
import { z } from "zod";
import { loadConfig } from "../config.ts";
import { daemonHeaders, daemonUrl } from "../server/daemonFile.ts";
import { connectDaemon } from "./daemon.ts";
import { readKnownSkills } from "./knownSkills.ts";
import type { DaemonOptions } from "./options.ts";
import { type ExitCode, exitCodes, type Terminal } from "./terminal.ts";

type Listing = Partial<DaemonOptions> & { json?: boolean | undefined };

/** `labwright agents list`: with what starts each. Exit code 1 when a file of the user's is left out. */
export function listAgents(options: Listing, terminal: Terminal): ExitCode {
  const { env, cwd } = terminal;
  const { agents: settings } = loadConfig({
    command: "agents",
    options: { config: options.config, data_dir: options.dataDir },
    env,
    cwd,
  });
  const { agents, problems } = loadAgents({
    userFolder: env.LABWRIGHT_AGENTS_DIR || undefined,
    knownSkills: new Set(
      readKnownSkills(options, terminal)
        .matched()
        .map(({ name }) => name),
    ),
  });
  const rows = agents.map((agent) => rowOf(withSettings(agent, settings)));
  terminal.out(options.json ? jsonLine(rows) : rows.map(describe).join("\n"));
  for (const { file, line, message } of problems) terminal.err(`${file}:${line}: ${message}\n`);
  return problems.length === 0 ? exitCodes.passed : exitCodes.failed;
}

const rowOf = (agent: Agent) => {
  const { name, nickname, description, mode, selectable, config, triggers, available_skills } = agent;
  return {
    ...{ name, nickname, description, mode, selectable },
    default: agent.default,
    enabled: config.enabled,
    dry_run: config.dry_run,
    triggers,
    skills: available_skills,
    user_skills: agent.user_skills,
  };
};

function describe(row: ReturnType<typeof rowOf>): string {
  const marks = [
    row.mode,
    ...(row.default ? ["default"] : []),
    row.enabled ? "enabled" : "off",
    ...(row.dry_run ? ["dry run"] : []),
  ].join(", ");
  const starts = [
    ...(row.selectable ? ["a message of yours"] : []),
    ...row.triggers.map(({ event, priority, schedule, skill }) => {
      const when = schedule === undefined ? "" : `, at "${schedule}"`;
      return `${event} (${priority}${when}): ${skill}`;
    }),
  ];
  return [
    `${plainLine(row.nickname, 40)} (${row.name}): ${marks}`,
    `  ${plainLine(row.description, 400)}`,
    "  started by",
    ...starts.map((start) => `    ${plainLine(start, 200)}`),
    `  skills: ${row.skills.join(", ")}${row.user_skills ? ", and yours" : ""}`,
    "",
  ].join("\n");
}

const maxTasks = 100;
const tasksSchema = z.object({
  tasks: z.array(
    z.looseObject({
      id: z.int(),
      agent: z.string(),
      state: z.string(),
      priority: z.string(),
      event: z.looseObject({ type: z.string() }),
      error: z.string().nullable(),
      finding: z.record(z.string(), z.unknown()).nullable(),
      updated_at: z.string(),
    }),
  ),
});
type Task = z.output<typeof tasksSchema>["tasks"][number];

/** `labwright agents tasks`: what the agents did by themselves and have to do, newest first. */
export async function listTasks(
  options: Listing & { agent?: string | undefined; state?: string | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const { agent, state, json } = options;
  const client = `cli/${process.pid}`;
  const attached = await connectDaemon(options, terminal, { command: "agents", client });
  try {
    const query = new URLSearchParams({
      limit: String(maxTasks),
      ...(agent !== undefined && { agent }),
      ...(state !== undefined && { state }),
    });
    const url = daemonUrl(attached.file, `/server/agent/store/tasks?${query}`);
    const response = await fetch(url, { headers: daemonHeaders(attached.file, client) });
    const { tasks } = tasksSchema.parse(await response.json());
    terminal.out(json ? jsonLine(tasks) : tasks.map(taskLine).join(""));
    if (tasks.length === 0 && !json) terminal.err("There is no such task.\n");
    return exitCodes.passed;
  } finally {
    attached.close();
  }
}

function taskLine({ id, agent, state, priority, event, error, finding, updated_at }: Task): string {
  const summary = error ?? (typeof finding?.summary === "string" ? finding.summary : "");
  const parts = [`${id}`, updated_at, agent, state, priority, event.type, plainLine(summary, 160)];
  return `${parts
    .map((part) => plainLine(part, 200))
    .join("  ")
    .trimEnd()}\n`;
}
