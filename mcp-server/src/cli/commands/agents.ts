import { type Agent, loadAgents, withSettings } from "@labwright/agent-client";
import { jsonLine, plainLine } from "@labwright/agent-client/cli";
import { z } from "zod";
import { loadConfig } from "../../config.ts";
import { requestDaemon } from "../../server/daemonFile.ts";
import { connectDaemon } from "../daemon.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal, table } from "../terminal.ts";
import { readKnownSkills } from "./skills.ts";

type Listing = DaemonOptions & { json?: boolean | undefined };

/** `labwright agents list`: with what starts each. Exit code 1 when a file of the user's is left out. */
export function listAgents(options: Listing, terminal: Terminal): ExitCode {
  const { env, cwd } = terminal;
  const given = { config: options.config, data_dir: options.dataDir };
  const { agents: settings } = loadConfig({ command: "agents", options: given, env, cwd });
  const skills = readKnownSkills(options, terminal).matched();
  const { agents, problems } = loadAgents({
    userFolder: env.LABWRIGHT_AGENTS_DIR || undefined,
    knownSkills: new Set(skills.map(({ name }) => name)),
  });
  const rows = agents.map((agent) => rowOf(withSettings(agent, settings)));
  terminal.out(options.json ? jsonLine(rows) : rows.map(describe).join("\n"));
  for (const { file, line, message } of problems) terminal.err(`${file}:${line}: ${message}\n`);
  return problems.length === 0 ? exitCodes.passed : exitCodes.failed;
}

const rowOf = (agent: Agent) => {
  const { name, nickname, description, mode, selectable, triggers, user_skills } = agent;
  const { enabled, dry_run } = agent.config;
  const skills = agent.available_skills;
  const shown = { name, nickname, description, mode, selectable, default: agent.default };
  const { accepts } = agent;
  return { ...shown, enabled, dry_run, triggers, accepts, skills, user_skills };
};

function describe(row: ReturnType<typeof rowOf>): string {
  const state = row.enabled ? "enabled" : "off";
  const marks = [row.mode, row.default && "default", state, row.dry_run && "dry run"].filter(Boolean);
  const starts = row.triggers.map(({ event, priority, schedule, skill }) => {
    const when = schedule === undefined ? "" : `, at "${schedule}"`;
    return `    ${plainLine(`${event} (${priority}${when}): ${skill}`, 200)}\n`;
  });
  return [
    `${plainLine(row.nickname, 40)} (${row.name}): ${marks.join(", ")}\n`,
    `  ${plainLine(row.description, 400)}\n  started by\n`,
    ...(row.selectable ? ["    a message of yours\n"] : []),
    ...starts,
    ...row.accepts.map((type) => `    a message ${plainLine(type, 64)}\n`),
    `  skills: ${row.skills.join(", ")}${row.user_skills ? ", and yours" : ""}\n`,
  ].join("");
}

const taskSchema = z.looseObject({
  ...{ id: z.int(), agent: z.string(), state: z.string(), priority: z.string(), updated_at: z.string() },
  event: z.looseObject({ type: z.string() }),
  error: z.string().nullable(),
  finding: z.record(z.string(), z.unknown()).nullable(),
});

/** `labwright agents tasks`: what the agents did by themselves and have to do, newest first. */
export async function listTasks(
  { agent, state, json, ...options }: Listing & { agent?: string | undefined; state?: string | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const client = `cli/${process.pid}`;
  const attached = await connectDaemon(options, terminal, { command: "agents", client });
  try {
    const query = new URLSearchParams({ limit: "100", ...(agent && { agent }), ...(state && { state }) });
    const response = await requestDaemon(attached, `/server/agent/store/tasks?${query}`, { client });
    const { tasks } = z.object({ tasks: z.array(taskSchema) }).parse(await response.json());
    if (json) terminal.out(jsonLine(tasks));
    else if (tasks.length > 0) terminal.out(table(taskHeads, tasks.map(taskRow), terminal.columns));
    else terminal.out(`${agent || state ? noMatch : noTasks}\n`);
    return exitCodes.passed;
  } finally {
    attached.close();
  }
}

const noMatch = "No task matches. Leave --agent and --state out to see all.";
const noTasks = "No tasks yet. Agents add one when an alert is raised or a run ends.";
const taskHeads = ["task", "updated", "agent", "state", "priority", "event", "result"];

function taskRow(task: z.output<typeof taskSchema>): string[] {
  const { id, updated_at, agent, state, priority, event, error, finding } = task;
  const summary = error ?? String(finding?.summary ?? "");
  const parts = [String(id), updated_at, agent, state, priority, event.type, summary];
  return parts.map((part) => plainLine(part, 160));
}
