import { jsonLine, plainLine } from "@labwright/agent-client/cli";
import type { Command } from "commander";
import { z } from "zod";
import { askDaemon } from "../askDaemon.ts";
import { examples, readUpTo, withDaemonOptions } from "../commandOptions.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal, table } from "../terminal.ts";

type AuditOptions = DaemonOptions & {
  tool?: string;
  client?: string;
  since?: string;
  limit: number;
  json?: boolean;
};

const text = z.string().default("");
const replySchema = z.object({
  calls: z.array(
    z.looseObject({
      at: text,
      client: text,
      tool: text,
      device_id: text,
      outcome: text,
      duration_ms: z.int(),
    }),
  ),
});
const heads = ["when (UTC)", "client", "tool", "device", "outcome", "ms"];

/** `labwright audit`: who called what that may change something, newest first. */
export function addAuditCommand(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  withDaemonOptions(program.command("audit"))
    .description("lists the calls that may change something: who, what, when, and how each ended")
    .option("--tool <name>", "only calls of this tool")
    .option("--client <name>", "only calls of clients whose name begins so")
    .option("--since <time>", "only calls from then on, such as 2026-11-27 or 2026-11-27T08:00:00Z")
    .option("--limit <count>", "at most so many", readUpTo(1, 1_000), 100)
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examples("labwright audit --limit 20", "labwright audit --tool execute_code --json"),
    )
    .action(async (given: AuditOptions) => {
      exit(await runAudit(given, terminal));
    });
}

async function runAudit(
  { tool, client, since, limit, json, ...options }: AuditOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const filter = { ...(tool && { tool }), ...(client && { client }), ...(since && { since }) };
  const query = new URLSearchParams({ limit: String(limit), ...filter });
  const request = { command: "audit", path: `/api/v1/audit?${query}` };
  const reply = await askDaemon(options, terminal, request, replySchema);
  if (!reply) return exitCodes.error;
  if (json) terminal.out(jsonLine(reply.calls));
  else if (reply.calls.length === 0) terminal.out("No such calls. Calls that only read are not recorded.\n");
  else terminal.out(table(heads, reply.calls.map(rowOf), terminal.columns));
  return exitCodes.passed;
}

type AuditedCall = z.output<typeof replySchema>["calls"][number];

const rowOf = ({ at, client, tool, device_id, outcome, duration_ms }: AuditedCall): string[] => [
  at.replace("T", " ").slice(0, 19),
  ...[client, tool, device_id, outcome].map((part) => plainLine(part, 60)),
  String(duration_ms),
];
