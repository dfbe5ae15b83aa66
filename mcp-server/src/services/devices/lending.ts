import { type Controller, DeviceError, type DevicePorts } from "@labwright/controllers";
import type { OpenDevice } from "../ports.ts";
import { findCommand } from "./findCommand.ts";
import { controllersWith, missing, type PortName, reasonsOf, using } from "./portOf.ts";

export function portsLentBy(deviceNow: () => OpenDevice): DevicePorts {
  function first<Name extends PortName>(name: Name) {
    const device = deviceNow();
    const [controller] = controllersWith(device, name);
    const port = controller?.[name];
    if (!controller || !port) throw new DeviceError("CONTROLLER_UNAVAILABLE", missing(device, name));
    return { port, ready: (signal: AbortSignal) => device.untilOpen(controller, signal), controller, device };
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
    frames() {
      const { port, controller, device } = first("frames");
      if (device.isOpen(controller)) return port;
      throw stillOpening(device, controller);
    },
    async press(key, signal) {
      const device = deviceNow();
      const found = findCommand(device, "press_key");
      if (!found)
        throw new DeviceError(
          "CONTROLLER_UNAVAILABLE",
          [`No controller of ${device.id} presses keys.`, ...reasonsOf(device)].join(" "),
        );
      const { controller, offered } = found;
      return using(device, controller, signal, () => offered.run(offered.input.parse({ key }), signal));
    },
  };
}

const stillOpening = ({ id }: OpenDevice, { kind, driver }: Controller) =>
  new DeviceError(
    "CONTROLLER_UNAVAILABLE",
    `${kind} (${driver}) of ${id} is being opened; try again in a moment.`,
  );
