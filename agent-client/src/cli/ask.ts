import type { SessionEnded } from "../events.ts";
import type { OpenAgent, OpenAgentClient } from "./agentClient.ts";
import { type ClientOptions, withClient } from "./client.ts";
import { findConversation } from "./conversation.ts";
import { type ApprovalRequired, exchange, owner } from "./exchange.ts";
import { plainLine } from "./plain.ts";
import { answerTeller, jsonTeller } from "./tell.ts";
import { type ExitCode, exitCodes, type Terminal } from "./terminal.ts";

export type AskOptions = ClientOptions & {
  /** `-` is what stdin says. */
  request: string;
  json?: boolean | undefined;
  agent?: string | undefined;
  skill?: string | undefined;
  resume?: string | undefined;
  timeoutSeconds?: number | undefined;
  /** Approves all that is asked. */
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
  const text = options.request === "-" ? (await terminal.readAll()).trim() : options.request;
  return withClient(options, terminal, open, async (client) => {
    const sessionId = await chooseConversation(client, options);
    const stopping = stopOn(terminal, options.timeoutSeconds);
    const runs = new Map<string, string>();
    const talking = talk(client, sessionId, text, options, terminal, { stopping, runs });
    // Nobody waits for it any more once it was left.
    talking.catch(() => {});
    try {
      const end = await Promise.race([talking, stopping.left]);
      if (end === "left") return exitCodes.interrupted;
      const code = exitCodeOf(end, stopping.reason());
      return code === exitCodes.done && [...runs.values()].some(isBad) ? exitCodes.notDone : code;
    } finally {
      stopping.dispose();
    }
  });
}

/** How a run ends that did not pass. The last one of each tool counts: what was run again is judged by that. */
const isBad = (status: string): boolean =>
  ["failed", "blocked", "error", "timeout", "cancelled", "interrupted"].includes(status);

async function chooseConversation(
  { conversations }: OpenAgent,
  { resume, agent }: AskOptions,
): Promise<string> {
  if (resume !== undefined) return (await findConversation(conversations, resume)).id;
  return (await conversations.create({ owner, ...(agent !== undefined && { agent }) })).id;
}

async function talk(
  { conversations }: OpenAgent,
  sessionId: string,
  text: string,
  { json, skill, yes }: AskOptions,
  terminal: Terminal,
  { stopping, runs }: { stopping: Stopping; runs: Map<string, string> },
): Promise<SessionEnded> {
  const tell = json ? jsonTeller(terminal) : answerTeller(terminal);
  const end = await exchange({
    conversations,
    sessionId,
    message: { text, ...(skill !== undefined && { skill }) },
    onEvent(event) {
      if (event.type === "tool_result" && event.status !== undefined) runs.set(event.tool, event.status);
      tell(event);
    },
    approve: async (required) => decide(required, yes === true, terminal),
    signal: stopping.signal,
  });
  if (!json) terminal.err(`To go on: labwright ask --resume ${sessionId} "…"\n`);
  return end;
}

function decide({ tool }: ApprovalRequired, isApproved: boolean, { err }: Terminal): boolean {
  err(
    isApproved
      ? `Approved by --yes: ${plainLine(tool, 80)}.\n`
      : `Refused: ${plainLine(tool, 80)} needs an approval. With --yes, all is approved.\n`,
  );
  return isApproved;
}

type Stopping = {
  signal: AbortSignal;
  reason(): "interrupt" | "timeout" | undefined;
  /** Resolves at the second Ctrl-C: it does not wait for the end. */
  left: Promise<"left">;
  dispose(): void;
};

function stopOn(terminal: Terminal, timeoutSeconds: number | undefined): Stopping {
  const controller = new AbortController();
  let reason: "interrupt" | "timeout" | undefined;
  let leave: (left: "left") => void = () => {};
  const left = new Promise<"left">((resolve) => {
    leave = resolve;
  });
  const stop = terminal.onInterrupt(() => {
    if (reason === "interrupt") return leave("left");
    reason = "interrupt";
    terminal.err("Interrupting; Ctrl-C again leaves at once.\n");
    controller.abort();
  });
  const timer =
    timeoutSeconds === undefined
      ? undefined
      : setTimeout(() => {
          reason ??= "timeout";
          terminal.err(`It was not done within ${timeoutSeconds} s; it is interrupted.\n`);
          controller.abort();
        }, timeoutSeconds * 1_000);
  return {
    signal: controller.signal,
    reason: () => reason,
    left,
    dispose() {
      stop();
      clearTimeout(timer);
    },
  };
}

/** A run that came to its end all the same is judged by it. */
export function exitCodeOf(
  { outcome }: Pick<SessionEnded, "outcome">,
  reason: "interrupt" | "timeout" | undefined,
): ExitCode {
  switch (outcome) {
    case "done":
      return exitCodes.done;
    case "failed":
      return exitCodes.error;
    case "cancelled":
      return reason === "timeout" ? exitCodes.notDone : exitCodes.interrupted;
    default:
      return exitCodes.notDone;
  }
}
