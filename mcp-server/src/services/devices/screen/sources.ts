import type { ElementSource, ScreenSource } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { OpenDevice } from "../../ports.ts";

export const screenOf = (device: OpenDevice): ScreenSource | undefined =>
  [...device.controllers.values()].find(({ screen }) => screen)?.screen;

export const elementsOf = (device: OpenDevice): ElementSource | undefined =>
  [...device.controllers.values()].find(({ elements }) => elements)?.elements;

/** Throws CONTROLLER_UNAVAILABLE, with what could not be opened. */
export function missing(device: OpenDevice, what: "picture" | "elements"): never {
  const reasons = device.unavailable.map(({ kind, reason }) => `${kind}: ${reason}`);
  throw new ToolError(
    "CONTROLLER_UNAVAILABLE",
    [`${device.id} gives no ${what}.`, ...reasons].join(" "),
    "Call get_device_info to see what it can do.",
  );
}
