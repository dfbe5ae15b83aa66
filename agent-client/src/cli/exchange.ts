import { AgentError } from "../errors.ts";
import type { AgentEvent, AgentEventBody, SessionEnded } from "../events.ts";
import type { Conversations } from "../sessions/engine.ts";
import type { Terminal } from "./terminal.ts";

/** Owns the conversations of whoever can read the daemon's token. */
export const owner = "local";

export type ApprovalRequired = Extract<AgentEventBody, { type: "approval_required" }>;

export type Exchange = {
  conversations: Conversations;
  terminal: Terminal;
  sessionId: string;
  message: { text: string; skill: string | undefined };
  onEvent(event: AgentEvent): void;
  /**
   * Undefined: not decided here. `signal` aborts when the approval was decided elsewhere, has expired, or its run has ended.
   */
  approve(required: ApprovalRequired, signal: AbortSignal): Promise<boolean | undefined>;
  /** Interrupts the run. */
  stop: AbortController;
};

/**
 * Sends a message and returns the end of its run. Ctrl-C interrupts the run; once more returns undefined without its end.
 * Throws what `send` throws; a run that failed is returned like any other.
 */
export async function exchange(given: Exchange): Promise<SessionEnded | undefined> {
  const { terminal, stop } = given;
  let stopListening = () => {};
  const left = new Promise<undefined>((resolve) => {
    stopListening = terminal.onInterrupt(() => {
      if (stop.signal.aborted) return resolve(undefined);
      terminal.err("\nInterrupting; Ctrl-C again leaves at once.\n");
      stop.abort();
    });
  });
  try {
    return await Promise.race([run(given), left]);
  } finally {
    stopListening();
  }
}

async function run(given: Exchange): Promise<SessionEnded> {
  const { conversations, sessionId, message, stop } = given;
  const { text, skill } = message;
  const over = new AbortController();
  const approvals = createApprovals(given, over.signal);
  const unsubscribe = await conversations.subscribe(sessionId, owner, (event) => {
    given.onEvent(event);
    approvals.onEvent(event);
  });
  // A run that has ended, or is not ours, cannot be interrupted. Its end tells.
  const interrupt = () => void conversations.interrupt(sessionId, owner).catch(() => {});
  try {
    await conversations.send(sessionId, owner, { text, ...(skill !== undefined && { skill }) });
    stop.signal.addEventListener("abort", interrupt);
    if (stop.signal.aborted) interrupt();
    const end = await conversations.ended(sessionId, owner);
    over.abort();
    await approvals.settled();
    return end;
  } finally {
    over.abort();
    stop.signal.removeEventListener("abort", interrupt);
    unsubscribe();
  }
}

/** Asks for one approval after the other. What fails interrupts the run, and is thrown by `settled`. */
function createApprovals({ conversations, sessionId, approve, stop }: Exchange, over: AbortSignal) {
  let queue = Promise.resolve();
  let withdrawIfDecided = async () => {};

  async function ask(required: ApprovalRequired): Promise<void> {
    const { approval_id } = required;
    const decided = new AbortController();
    withdrawIfDecided = async () => {
      const { approvals } = await conversations.get(sessionId, owner);
      if (!approvals.some((open) => open.approval_id === approval_id)) decided.abort();
    };
    await withdrawIfDecided();
    const signal = AbortSignal.any([decided.signal, over]);
    const approved = signal.aborted ? undefined : await approve(required, signal);
    if (approved === undefined || signal.aborted) return;
    try {
      await conversations.decide(sessionId, owner, approval_id, approved);
    } catch (error) {
      // Somebody else was faster, or it has expired. The run tells which.
      if (!(error instanceof AgentError && error.code === "APPROVAL_NOT_FOUND")) throw error;
    }
  }

  return {
    onEvent(event: AgentEvent): void {
      if (event.type === "progress" && event.kind === "approval") withdrawIfDecided().catch(() => {});
      if (event.type !== "approval_required") return;
      queue = queue.then(() => ask(event));
      queue.catch(() => stop.abort());
    },
    settled: () => queue,
  };
}
