import { jsonLine, plainLine } from "@labwright/agent-client/cli";
import { type Command, Option } from "commander";
import { z } from "zod";
import { memoryKindSchema, memoryScopeSchema } from "../../domain/memory.ts";
import { askDaemon } from "../askDaemon.ts";
import { examples, readUpTo, withDaemonOptions } from "../commandOptions.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal, table } from "../terminal.ts";

type ListOptions = DaemonOptions & {
  scope?: string;
  subject?: string;
  kind?: string;
  limit: number;
  json?: boolean;
};
type ForgetOptions = DaemonOptions & { all?: boolean; json?: boolean };

const memorySchema = z.looseObject({
  id: z.string(),
  subject: z.string(),
  kind: z.string(),
  seen: z.int(),
  confidence: z.number(),
  expires_at: z.string(),
  execution_id: z.string(),
  text: z.string(),
});
const heads = ["id", "about", "kind", "seen", "confidence", "until", "execution", "what"];

/** `labwright memory`: what earlier executions showed, and how to forget it. */
export function addMemoryCommand(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  const memory = program
    .command("memory")
    .description(
      "what earlier executions showed of apps, devices and tests, which planners and the analyzer get",
    )
    .addHelpText("after", examples("labwright memory list", "labwright memory forget 3f0c9a1b2d4e5f60"));
  withDaemonOptions(memory.command("list", { isDefault: true }))
    .description("lists it, the most certain first")
    .addOption(new Option("--scope <scope>", "only about these").choices(memoryScopeSchema.options))
    .option("--subject <name>", "only about this app, test or device")
    .addOption(new Option("--kind <kind>", "only of this kind").choices(memoryKindSchema.options))
    .option("--limit <count>", "at most so many", readUpTo(1, 1_000), 100)
    .option("--json", "as JSON")
    .addHelpText("after", examples("labwright memory list --subject shop", "labwright memory list --json"))
    .action(async (given: ListOptions) => exit(await list(given, terminal)));
  withDaemonOptions(memory.command("forget"))
    .description("forgets one memory, or all")
    .argument("[id]", "as `labwright memory list` shows it")
    .option("--all", "forgets everything")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examples("labwright memory forget 3f0c9a1b2d4e5f60", "labwright memory forget --all"),
    )
    .action(async (id: string | undefined, given: ForgetOptions) => exit(await forget(id, given, terminal)));
}

async function list(given: ListOptions, terminal: Terminal): Promise<ExitCode> {
  const { scope, subject, kind, limit, json, ...options } = given;
  const filter = { ...(scope && { scope }), ...(subject && { subject }), ...(kind && { kind }) };
  const query = new URLSearchParams({ limit: String(limit), ...filter });
  const request = { command: "memory", path: `/api/v1/memory?${query}` };
  const reply = await askDaemon(options, terminal, request, z.object({ memory: z.array(memorySchema) }));
  if (!reply) return exitCodes.error;
  if (json) terminal.out(jsonLine(reply.memory));
  else if (reply.memory.length === 0)
    terminal.out("Nothing is remembered. Executions that fail, and plans that did a task, add to it.\n");
  else terminal.out(table(heads, reply.memory.map(rowOf), terminal.columns));
  return exitCodes.passed;
}

async function forget(
  id: string | undefined,
  { all, json, ...options }: ForgetOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  if ((id === undefined) === (all !== true)) {
    terminal.err("Name one id, or give --all. `labwright memory list` shows the ids.\n");
    return exitCodes.error;
  }
  const query = new URLSearchParams(id === undefined ? { all: "true" } : { id });
  const request = { command: "memory", method: "DELETE", path: `/api/v1/memory?${query}` } as const;
  const reply = await askDaemon(options, terminal, request, z.object({ forgotten: z.int() }));
  if (!reply) return exitCodes.error;
  const count = reply.forgotten;
  terminal.out(json ? jsonLine(reply) : `Forgot ${count} ${count === 1 ? "memory" : "memories"}.\n`);
  return exitCodes.passed;
}

const rowOf = (one: z.output<typeof memorySchema>): string[] => [
  one.id,
  plainLine(one.subject, 40),
  one.kind,
  String(one.seen),
  one.confidence.toFixed(2),
  one.expires_at.slice(0, 10),
  one.execution_id,
  plainLine(one.text, 500),
];
