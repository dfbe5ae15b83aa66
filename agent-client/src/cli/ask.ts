import type { OpenAgent, OpenAgentClient } from "./agentClient.ts";
import { type ClientOptions, withClient } from "./client.ts";
import { findConversation } from "./conversation.ts";
import { exchange, owner } from "./exchange.ts";
import { plainLine } from "./plain.ts";
import { answerTeller, jsonTeller } from "./tell.ts";
import { type ExitCode, exitCodeOf, exitCodes, type Terminal } from "./terminal.ts";

export type AskOptions = ClientOptions & {
  /** `-` reads it from stdin. */
  request: string;
  json?: boolean | undefined;
  agent?: string | undefined;
  skill?: string | undefined;
  resume?: string | undefined;
  timeoutSeconds?: number | undefined;
  /** Approves everything that needs an approval. */
  yes?: boolean | undefined;
};

/**
 * `labwright ask`: one request and its answer. 0 done, 1 ended otherwise or a run that was asked for did not pass, 2 failed,
 * 130 interrupted.
 */
export async function runAsk(
  options: AskOptions,
  terminal: Terminal,
  open: OpenAgentClient,
): Promise<ExitCode> {
  const { request, json, skill, timeoutSeconds, yes = false } = options;
  const text = request === "-" ? (await terminal.readAll()).trim() : request;
  return withClient(options, terminal, open, async (client) => {
    const { id } = await openConversation(client, options);
    const tell = json ? jsonTeller(terminal) : answerTeller(terminal);
    // The last status of each tool: a run that was repeated is judged by its repetition.
    const statuses = new Map<string, string>();
    const timeout = stopAfter(timeoutSeconds, terminal);
    const end = await exchange({
      conversations: client.conversations,
      terminal,
      sessionId: id,
      message: { text, skill },
      stop: timeout.stop,
      onEvent(event) {
        if (event.type === "tool_result" && event.status !== undefined)
          statuses.set(event.tool, event.status);
        tell(event);
      },
      approve: async ({ tool }) => decide(plainLine(tool, 80), yes, terminal),
    }).finally(timeout.clear);
    if (end === undefined) return exitCodes.interrupted;
    if (!json) terminal.err(`To continue: labwright ask --resume ${id} "…"\n`);
    const isNotDone =
      (end.outcome === "cancelled" && timeout.isOver()) ||
      (end.outcome === "done" && [...statuses.values()].some(isBad));
    return isNotDone ? exitCodes.notDone : exitCodeOf[end.outcome];
  });
}

const openConversation = ({ conversations }: OpenAgent, { resume, agent }: AskOptions) =>
  resume === undefined
    ? conversations.create({ owner, ...(agent !== undefined && { agent }) })
    : findConversation(conversations, resume);

/** Statuses of a run that did not pass. */
const isBad = (status: string): boolean =>
  ["failed", "blocked", "error", "timeout", "cancelled", "interrupted"].includes(status);

function decide(tool: string, isApproved: boolean, { err }: Terminal): boolean {
  err(
    isApproved
      ? `Approved by --yes: ${tool}.\n`
      : `Refused: ${tool} needs an approval. --yes approves everything.\n`,
  );
  return isApproved;
}

/** Aborts `stop` after so many seconds, unless it was aborted before. */
function stopAfter(seconds: number | undefined, { err }: Terminal) {
  const stop = new AbortController();
  let isOver = false;
  const expire = () => {
    if (stop.signal.aborted) return;
    isOver = true;
    err(`Not done within ${seconds} s; interrupting.\n`);
    stop.abort();
  };
  const timer = seconds === undefined ? undefined : setTimeout(expire, seconds * 1_000);
  return { stop, isOver: () => isOver, clear: () => clearTimeout(timer) };
}
