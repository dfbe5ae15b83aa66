import { randomUUID } from "node:crypto";
import { DeviceError } from "../errors.ts";
import { markTag } from "./logsSinceMark.ts";
import type { AndroidSession } from "./session.ts";

/** Writes a line into the device's log, behind which checks read it. */
export async function markLog({ device, trail }: AndroidSession, signal: AbortSignal): Promise<void> {
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
}
