import { z } from "zod";
import { DeviceError } from "../errors.ts";
import type { Outlet, PowerState } from "../power/outlet.ts";
import type { KvmBox } from "./box.ts";

/** A long press lasts 5 s, and One-KVM answers after it. */
const pressMs = 10_000;
const wireLed = "Wire the power LED to the One-KVM and set it up in its ATX settings.";

const statusSchema = z.object({ available: z.boolean(), power_status: z.enum(["on", "off", "unknown"]) });
const doneSchema = z.object({ success: z.literal(true) });

/** The power button of what a box is wired to. `isForced`: off by a long press, else by asking the system to shut down. */
export function powerButton(box: KvmBox, isForced: boolean): Outlet {
  const name = `the power button of ${box.place.name}`;
  /** After a long press it is off until the button is pressed again: all that is known without an LED. */
  let wasForcedOff = false;
  const read = async (signal: AbortSignal): Promise<PowerState | undefined> => {
    const { available, power_status } = await box.ask(statusSchema, "/api/atx/status", {}, signal);
    if (available) return power_status === "unknown" ? undefined : power_status;
    throw new DeviceError(
      "DEVICE_ERROR",
      `${box.place.name} has no power control. Set up ATX in its settings.`,
    );
  };
  const press = async (action: "short" | "long", signal: AbortSignal) => {
    wasForcedOff = false;
    await box.ask(doneSchema, "/api/atx/power", { body: { action }, ms: pressMs }, signal);
    wasForcedOff = action === "long";
  };
  return {
    name,
    unreadable: wireLed,
    read,
    async turn(to, signal) {
      const state = (await read(signal)) ?? (wasForcedOff ? "off" : undefined);
      if (state === to) return;
      if (to === "off" && isForced) return press("long", signal);
      if (state !== undefined) return press("short", signal);
      throw new DeviceError(
        "COMMAND_UNSUITABLE",
        `Whether the device is on cannot be read, and ${name} would do the opposite if it is ${to}. ${wireLed}`,
      );
    },
  };
}
