import type { OpenAgent } from "../openAgent.ts";
import { exchange, owner } from "./exchange.ts";
import { plainLine } from "./plain.ts";
import { answerPrinter, jsonPrinter } from "./render.ts";
import { findConversation } from "./slash.ts";
import { type ExitCode, exitCodes, type Terminal, unlessInterrupted } from "./terminal.ts";

export type AskOptions = {
  json?: boolean;
  agent?: string;
  skill?: string;
  resume?: string;
  timeout?: number;
  yes?: boolean;
};

const notPassed = ["failed", "blocked", "error", "timeout", "cancelled", "interrupted"];

/** `labwright ask`: one request and its answer. 1 also when a run that was asked for did not pass. */
export async function runAsk(
  { conversations }: OpenAgent,
  terminal: Terminal,
  request: string,
  { json, agent, skill, resume, timeout, yes = false }: AskOptions,
): Promise<ExitCode> {
  const text = request === "-" ? await readStdin(terminal) : request;
  const { id } = await (resume === undefined
    ? conversations.create({ owner, ...(agent !== undefined && { agent }) })
    : findConversation(conversations, resume));
  const print = json ? jsonPrinter(terminal) : answerPrinter(terminal);
  // The last status of each tool: a run that was repeated is judged by its repetition.
  const statuses = new Map<string, string>();
  const code = await exchange({
    ...{ conversations, terminal, sessionId: id, text, skill, timeoutSeconds: timeout },
    onEvent(event) {
      if (event.type === "tool_result" && event.status !== undefined) statuses.set(event.tool, event.status);
      print(event);
    },
    async approve({ tool }) {
      const name = plainLine(tool, 80);
      const refused = `Refused: ${name} needs an approval. --yes approves everything.`;
      terminal.err.write(`${yes ? `Approved by --yes: ${name}.` : refused}\n`);
      return yes;
    },
  });
  if (!json) terminal.err.write(`To continue: labwright ask --resume ${id} "…"\n`);
  const hasBadRun = [...statuses.values()].some((status) => notPassed.includes(status));
  return code === exitCodes.done && hasBadRun ? exitCodes.notDone : code;
}

async function readStdin(terminal: Terminal): Promise<string> {
  const input = terminal.input(true);
  const text = await unlessInterrupted(terminal, input.ask("> ")).finally(() => input.close());
  return text?.trim() ?? "";
}
