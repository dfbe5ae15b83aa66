import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "./ports.ts";

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => pause(ms, undefined, { ref: false, ...(signal && { signal }) }),
};
