import { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { sendInput } from "../dispatch.ts";

const input = z.strictObject({});

export const markCommand = (mark: (signal: AbortSignal) => Promise<void>): Command =>
  defineCommand<typeof input>({
    name: "mark_logs",
    description: "Marks the device's log: log_contains and no_crash_since read it from there on.",
    effect: "write",
    input,
    async run(_input, signal) {
      await sendInput(() => mark(signal));
      return { message: "marked the log" };
    },
  });
