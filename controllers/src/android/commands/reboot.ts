import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { Link } from "../link.ts";
import type { AndroidSession } from "../session.ts";

/** A device that restarts ends its connection within this time. */
const goneMs = 60_000;
const lookEveryMs = 500;

const input = z.strictObject({ timeout_ms: z.int().min(1).max(600_000).default(240_000) });

export function rebootCommands(session: AndroidSession): Command[] {
  return [
    defineCommand<typeof input>({
      name: "reboot",
      description: "Restarts the device and waits until it can be used again.",
      effect: "write",
      input,
      async run({ timeout_ms }, signal) {
        const { device, reader } = session;
        const started = performance.now();
        const before = device.link();
        await reader.send(() => leave(before, signal));
        const isGone = async () => !before.isCurrent();
        if (!(await poll(isGone, { everyMs: lookEveryMs, ms: Math.min(goneMs, timeout_ms), signal })))
          throw late("did not restart", before.serial);
        const left = Math.max(0, timeout_ms - (performance.now() - started));
        if (!(await poll(() => isBack(session, signal), { everyMs: lookEveryMs, ms: left, signal })))
          throw late(`was not back after ${timeout_ms} ms`, before.serial);
        const elapsed = Math.round(performance.now() - started);
        return { message: `restarted in ${elapsed} ms`, data: { elapsed_ms: elapsed } };
      },
    }),
  ];
}

/** The connection may end before the answer. */
async function leave(link: Link, signal: AbortSignal): Promise<void> {
  try {
    await link.run(["reboot"], signal);
  } catch (error) {
    if (!(error instanceof DeviceError) || link.isCurrent()) throw error;
  }
}

/** Android says so itself when it has started; until then the connection comes and goes. */
async function isBack({ device }: AndroidSession, signal: AbortSignal): Promise<boolean> {
  try {
    await device.open(signal);
    const { stdout } = await device.link().run(["getprop", "sys.boot_completed"], signal);
    return stdout.trim() === "1";
  } catch (error) {
    if (error instanceof DeviceError) return false;
    throw error;
  }
}

const late = (what: string, serial: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `${serial} ${what}. Look at its screen: it may ask for a PIN before it starts.`,
  );
