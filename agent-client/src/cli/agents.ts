import type { Agent } from "../agents/agent.ts";
import type { StoredTask, TaskState } from "../ports.ts";
import type { OpenAgentClient } from "./agentClient.ts";
import { type ClientOptions, withClient } from "./client.ts";
import { jsonLine, plainLine } from "./plain.ts";
import { type ExitCode, exitCodes, type Terminal } from "./terminal.ts";

type Listing = ClientOptions & { json?: boolean | undefined };

/** `labwright agents list`: with what starts each. Exit code 1 when a file of the user's is left out. */
export const listAgents = (options: Listing, terminal: Terminal, open: OpenAgentClient): Promise<ExitCode> =>
  withClient(options, terminal, open, async ({ agents, problems }) => {
    const rows = agents.map(rowOf);
    terminal.out(options.json ? jsonLine(rows) : rows.map(describe).join("\n"));
    for (const { file, line, message } of problems)
      terminal.err(`${plainLine(file, 400)}:${line}: ${plainLine(message, 400)}\n`);
    return problems.length === 0 ? exitCodes.done : exitCodes.notDone;
  });

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

/** `labwright agents tasks`: what the autonomous agents did and have to do, newest first. */
export const listTasks = (
  options: Listing & { agent?: string | undefined; state?: TaskState | undefined },
  terminal: Terminal,
  open: OpenAgentClient,
): Promise<ExitCode> =>
  withClient(options, terminal, open, async ({ tasks }) => {
    const { agent, state } = options;
    const found = await tasks({
      ...(agent !== undefined && { agent }),
      ...(state !== undefined && { state }),
      limit: maxTasks,
    });
    terminal.out(options.json ? jsonLine(found) : found.map(taskLine).join(""));
    if (found.length === 0 && !options.json) terminal.err("There is no such task.\n");
    return exitCodes.done;
  });

function taskLine({ id, agent, state, priority, event, error, finding, updated_at }: StoredTask): string {
  const summary = error ?? (typeof finding?.summary === "string" ? finding.summary : "");
  const parts = [`${id}`, updated_at, agent, state, priority, event.type, plainLine(summary, 160)];
  return `${parts
    .map((part) => plainLine(part, 200))
    .join("  ")
    .trimEnd()}\n`;
}
