import type { CallTool } from "./call.ts";

/** Counts the calls under way. `quiet` resolves when there are none, or after `ms`. */
export function trackCalls(callTool: CallTool): {
  callTool: CallTool;
  running(): number;
  quiet(ms: number): Promise<void>;
} {
  let running = 0;
  const waiting = new Set<() => void>();
  return {
    async callTool(request) {
      running += 1;
      try {
        return await callTool(request);
      } finally {
        running -= 1;
        if (running === 0) for (const done of waiting) done();
      }
    },
    running: () => running,
    quiet: (ms) =>
      new Promise((resolve) => {
        if (running === 0) return resolve();
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          // The answers are written in this turn of the loop; the sockets may close in the next.
          setImmediate(resolve);
        };
        const timer = setTimeout(end, ms);
        waiting.add(end);
      }),
  };
}
