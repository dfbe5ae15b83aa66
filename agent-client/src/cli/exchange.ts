import { AgentError } from "../errors.ts";
import type { AgentEvent, AgentEventBody, SessionEnded } from "../events.ts";
import type { Conversations } from "../sessions/conversations.ts";

/** Whoever has the daemon's token; the command line has it by reading it. */
export const owner = "local";

export type ApprovalRequired = Extract<AgentEventBody, { type: "approval_required" }>;

export type Exchange = {
  conversations: Conversations;
  sessionId: string;
  message: { text: string; skill?: string };
  onEvent(event: AgentEvent): void;
  /** Undefined: nobody said so or so, and it stays open. `signal` aborts when it was decided elsewhere or is over. */
  approve(required: ApprovalRequired, signal: AbortSignal): Promise<boolean | undefined>;
  /** Interrupts the run. */
  signal: AbortSignal;
};

/** Sends a message and stays until its run has ended. Throws what `send` throws; a failed run is an end, no exception. */
export async function exchange(given: Exchange): Promise<SessionEnded> {
  const { conversations, sessionId, message, signal } = given;
  const over = new AbortController();
  let tellEnd = () => {};
  const heard = new Promise<void>((resolve) => {
    tellEnd = resolve;
  });
  const approvals = createDecisions(given, over.signal);
  const unsubscribe = await conversations.subscribe(sessionId, owner, (event) => {
    given.onEvent(event);
    approvals.hear(event);
    if (event.type === "session_ended") tellEnd();
  });
  try {
    await conversations.send(sessionId, owner, message);
    const interrupt = () => {
      // What cannot be interrupted has ended, or is not ours; its end is told in either case.
      conversations.interrupt(sessionId, owner).catch(() => {});
    };
    if (signal.aborted) interrupt();
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      const ended = conversations.ended(sessionId, owner);
      await Promise.race([heard, rejectionOf(ended)]);
      // All was told; the conversation takes the next message when this is over.
      return await ended;
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
  } finally {
    over.abort();
    unsubscribe();
    await approvals.settled();
  }
}

/** Never resolves: the end comes as an event, after all others, and may be known here before them. */
function rejectionOf(ended: Promise<unknown>): Promise<never> {
  return new Promise((_, reject) => {
    ended.catch(reject);
  });
}

/** Asks for one approval after the other, each until it is decided or its time is over. */
function createDecisions({ conversations, sessionId, approve }: Exchange, over: AbortSignal) {
  let queue = Promise.resolve();
  let current: AbortController | undefined;

  async function decide(required: ApprovalRequired, controller: AbortController): Promise<void> {
    const approved = await approve(required, AbortSignal.any([controller.signal, over]));
    if (approved === undefined || controller.signal.aborted || over.aborted) return;
    try {
      await conversations.decide(sessionId, owner, required.approval_id, approved);
    } catch (error) {
      // Somebody else was faster, or its time was over: the run says so itself.
      if (!(error instanceof AgentError && error.code === "APPROVAL_NOT_FOUND")) throw error;
    }
  }

  let failure: { error: unknown } | undefined;
  return {
    hear(event: AgentEvent): void {
      if (event.type === "progress" && event.kind === "approval") current?.abort();
      if (event.type !== "approval_required") return;
      const controller = new AbortController();
      current = controller;
      queue = queue
        .then(() => decide(event, controller))
        .catch((error: unknown) => {
          failure ??= { error };
        });
    },
    async settled(): Promise<void> {
      await queue;
      if (failure) throw failure.error;
    },
  };
}
