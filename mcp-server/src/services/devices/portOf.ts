import { type Controller, DeviceError } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import type { OfferingDevice, OpenDevice } from "../ports.ts";

/** What a device has one of, whichever of its controllers gives it, and how that is called where it is missing. */
const portNames = {
  screen: "picture",
  elements: "elements",
  frames: "video",
  stream: "analysed video and sound",
  focus: "focus",
  logs: "log",
  sensors: "sensors",
  apps: "list of apps",
  recorder: "recording",
  person: "inputs of a person",
  transcriber: "transcripts",
  isolation: "fresh start",
} as const;
export type PortName = keyof typeof portNames;
type Port<Name extends PortName> = NonNullable<Controller[Name]>;

/** Those that have it, in the order in which they are asked: of a picture, the one that a viewer sees comes first. */
export function controllersWith({ controllers, screen }: OpenDevice, name: PortName): Controller[] {
  const found = controllers.filter((controller) => controller[name] !== undefined);
  if (name !== "screen" && name !== "frames" && name !== "stream") return found;
  const rank = ({ kind, driver }: Controller) =>
    screen === kind || screen === driver ? 0 : kind === "av" ? 1 : 2;
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** The port of the first controller that has it and can be opened; undefined where none has it. Throws CONTROLLER_UNAVAILABLE. */
export async function findPort<Name extends PortName>(
  device: OpenDevice,
  name: Name,
  signal: AbortSignal,
): Promise<Port<Name> | undefined> {
  let failure: unknown;
  for (const controller of controllersWith(device, name)) {
    try {
      await device.untilOpen(controller, signal);
      return controller[name] as Port<Name> | undefined;
    } catch (error) {
      signal.throwIfAborted();
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return undefined;
}

/** Throws CONTROLLER_UNAVAILABLE, with what could not be opened, where no controller has it. */
export async function getPort<Name extends PortName>(
  device: OpenDevice,
  name: Name,
  signal: AbortSignal,
): Promise<Port<Name>> {
  const port = await findPort(device, name, signal);
  if (port !== undefined) return port;
  throw new ToolError(
    "CONTROLLER_UNAVAILABLE",
    missing(device, name),
    "Call get_device_info to see what it can do.",
  );
}

export const missing = (device: OfferingDevice, name: PortName): string =>
  [`${device.id} gives no ${portNames[name]}.`, ...reasonsOf(device)].join(" ");

export const reasonsOf = ({ unavailable }: Pick<OfferingDevice, "unavailable">): string[] =>
  unavailable.map(({ kind, driver, reason }) => `${kind} (${driver}) is unavailable: ${reason}`);

/** Uses a controller once it is open. One that died under the work, and does not say so itself, is DEVICE_LOST. */
export async function using<T>(
  device: OpenDevice,
  controller: Controller,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  await device.untilOpen(controller, signal);
  try {
    return await work();
  } catch (error) {
    if (error instanceof DeviceError || signal.aborted || controller.isAlive()) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DeviceError(
      "DEVICE_LOST",
      `${controller.kind} (${controller.driver}) of ${device.id} was lost: ${reason} The next call opens it again.`,
      {},
      { cause: error },
    );
  }
}
