import { type Controller, DeviceError, type DevicePorts } from "@labwright/controllers";
import { z } from "zod";
import type { OpenDevice } from "../ports.ts";
import { findCheck, findCommand } from "./findCommand.ts";
import { controllersWith, missing, type PortName, reasonsOf, using } from "./portOf.ts";

export function portsLentBy(deviceNow: () => OpenDevice): DevicePorts {
  function first<Name extends PortName>(name: Name) {
    const device = deviceNow();
    const [controller] = controllersWith(device, name);
    const port = controller?.[name];
    if (!controller || !port) throw new DeviceError("CONTROLLER_UNAVAILABLE", missing(device, name));
    return { port, ready: (signal: AbortSignal) => device.untilOpen(controller, signal), controller, device };
  }
  function opened<Name extends "frames" | "stream">(name: Name) {
    const { port, controller, device } = first(name);
    if (device.isOpen(controller)) return port;
    throw stillOpening(device, controller);
  }
  return {
    screen() {
      const { port, ready } = first("screen");
      return {
        async capture(options, signal) {
          await ready(signal);
          return port.capture(options, signal);
        },
      };
    },
    elements() {
      const { port, ready } = first("elements");
      return {
        async dump(options, signal) {
          await ready(signal);
          return port.dump(options, signal);
        },
        async selectors(refs, signal) {
          await ready(signal);
          return port.selectors(refs, signal);
        },
      };
    },
    focus() {
      const { port, ready } = first("focus");
      return {
        async focus(signal) {
          await ready(signal);
          return port.focus(signal);
        },
      };
    },
    frames: () => opened("frames"),
    stream: () => opened("stream"),
    async read({ name, input }, signal, look) {
      const device = deviceNow();
      const found = findCheck(device, name);
      if (!found) throw none(device, `judges ${name}`);
      const { controller, offered } = found;
      const parsed = offered.input.safeParse(input);
      if (!parsed.success)
        throw new DeviceError(
          "INVALID_PARAMS",
          `The input of ${name} is wrong: ${z.prettifyError(parsed.error)}`,
        );
      return using(device, controller, signal, () => offered.read(parsed.data, signal, look));
    },
    async press(key, signal) {
      const device = deviceNow();
      const found = findCommand(device, "press_key");
      if (!found) throw none(device, "presses keys");
      const { controller, offered } = found;
      return using(device, controller, signal, () => offered.run(offered.input.parse({ key }), signal));
    },
  };
}

const none = (device: OpenDevice, does: string) =>
  new DeviceError(
    "CONTROLLER_UNAVAILABLE",
    [`No controller of ${device.id} ${does}.`, ...reasonsOf(device)].join(" "),
  );

const stillOpening = ({ id }: OpenDevice, { kind, driver }: Controller) =>
  new DeviceError(
    "CONTROLLER_UNAVAILABLE",
    `${kind} (${driver}) of ${id} is being opened; try again in a moment.`,
  );
