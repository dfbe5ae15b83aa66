import type { AgentEvent } from "@labwright/agent-client";

/** Events between who tells them and who writes them. Who tells never waits. */
export type EventQueue = {
  push(event: AgentEvent): void;
  /** The next one, `idle` when none came for `ms`, `closed` when none will. */
  take(ms: number): Promise<AgentEvent | "idle" | "closed">;
  close(): void;
};

/** A queue of at most `limit`: a reader that falls further behind finds it closed. */
export function createEventQueue(limit: number): EventQueue {
  const waiting: AgentEvent[] = [];
  let isClosed = false;
  let wake: (() => void) | undefined;
  const close = () => {
    isClosed = true;
    wake?.();
  };
  return {
    push(event) {
      if (isClosed) return;
      waiting.push(event);
      if (waiting.length > limit) {
        waiting.length = 0;
        close();
      }
      wake?.();
    },
    async take(ms) {
      if (waiting.length === 0 && !isClosed) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      return waiting.shift() ?? (isClosed ? "closed" : "idle");
    },
    close,
  };
}
