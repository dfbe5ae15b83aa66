import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { markTag } from "../logsSinceMark.ts";
import type { AndroidSession } from "../session.ts";

const input = z.strictObject({});

export function logCommands({ device, trail }: AndroidSession): Command[] {
  return [
    defineCommand<typeof input>({
      name: "mark_logs",
      description: "Marks the device's log: log_contains and no_crash_since read it from there on.",
      effect: "write",
      input,
      async run(_input, signal) {
        const token = randomUUID();
        const lines = [
          ["date", "+%s"],
          ["log", "-t", markTag, token],
        ];
        const { stdout, stderr, code } = await device.link().runAll(lines, signal);
        const second = Number(/^(\d+)\s*$/m.exec(stdout)?.[1]);
        if (code !== 0 || !Number.isFinite(second))
          throw new DeviceError(
            "DEVICE_ERROR",
            `The log was not marked: ${`${stdout} ${stderr}`.trim().slice(0, 300)}. Read it with view_logs instead.`,
          );
        trail.mark = { token, second };
        return { message: "marked the log" };
      },
    }),
  ];
}
