import { AgentError } from "../errors.ts";
import type { AgentEvent, Outcome } from "../events.ts";
import type { Conversation, Conversations } from "../sessions/engine.ts";
import { type ExitCode, exitCodes, Interrupted, type Terminal, unlessInterrupted } from "./terminal.ts";

/** Owns the conversations of whoever can read the daemon's token. */
export const owner = "local";

type ApprovalRequired = Conversation["approvals"][number];

export type Exchange = {
  conversations: Conversations;
  terminal: Terminal;
  sessionId: string;
  text: string;
  skill?: string | undefined;
  timeoutSeconds?: number | undefined;
  onEvent(event: AgentEvent): void;
  /** The answer is ignored once `signal` aborts: decided elsewhere, expired, or the run ends. */
  approve(required: ApprovalRequired, signal: AbortSignal): Promise<boolean>;
};

const exitCodeOf: Record<Outcome, ExitCode> = {
  ...{ done: 0, needs_input: 1, refused: 1, limit: 1, failed: 2, cancelled: 130 },
};

/** Sends a message and waits for the end of its run. Ctrl-C interrupts the run; once more throws Interrupted. */
export async function exchange(given: Exchange): Promise<ExitCode> {
  const { conversations, terminal, sessionId, text, skill, timeoutSeconds: seconds } = given;
  const questions = new AbortController();
  let stopped: string | undefined;
  const stop = (reason: string) => {
    if (stopped === undefined) terminal.err.write(`${reason}\n`);
    stopped ??= reason;
    questions.abort();
    // A run that has ended, or is not ours, cannot be interrupted. Its end shows which.
    sent.then(() => conversations.interrupt(sessionId, owner)).catch(() => {});
  };
  const approvals = createApprovals(given, questions.signal, stop);
  const subscribed = conversations.subscribe(sessionId, owner, approvals.onEvent);
  const message = { text, ...(skill !== undefined && { skill }) };
  const sent = subscribed.then(() => conversations.send(sessionId, owner, message));
  const ended = sent.then(() => conversations.ended(sessionId, owner));
  const late = `Not done within ${seconds} s; interrupting.`;
  const timer = seconds === undefined ? undefined : setTimeout(stop, seconds * 1_000, late);
  try {
    const { outcome } = await unlessInterrupted(terminal, ended).catch((error: unknown) => {
      if (!(error instanceof Interrupted) || stopped !== undefined) throw error;
      stop("\nInterrupting; Ctrl-C again leaves at once.");
      return unlessInterrupted(terminal, ended);
    });
    questions.abort();
    await approvals.settled();
    return outcome === "cancelled" && stopped === late ? exitCodes.notDone : exitCodeOf[outcome];
  } finally {
    questions.abort();
    clearTimeout(timer);
    subscribed.then((unsubscribe) => unsubscribe()).catch(() => {});
  }
}

/** Asks for one approval after the other until `over`. What fails stops the run, and is thrown by `settled`. */
function createApprovals(given: Exchange, over: AbortSignal, stop: (reason: string) => void) {
  const { conversations, sessionId } = given;
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
    const isApproved = !signal.aborted && (await given.approve(required, signal));
    if (signal.aborted) return;
    await conversations.decide(sessionId, owner, approval_id, isApproved).catch((error: unknown) => {
      // Another client was faster, or it has expired. The run shows which.
      if (!(error instanceof AgentError && error.code === "APPROVAL_NOT_FOUND")) throw error;
    });
  }

  return {
    onEvent(event: AgentEvent): void {
      given.onEvent(event);
      if (event.type === "progress" && event.kind === "approval") withdrawIfDecided().catch(() => {});
      if (event.type !== "approval_required") return;
      queue = queue.then(() => ask(event));
      queue.catch(() => stop("An approval could not be decided; interrupting."));
    },
    settled: () => queue,
  };
}
