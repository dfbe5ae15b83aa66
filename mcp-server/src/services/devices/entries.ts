import { type ControllerKind, type DeviceModel, deviceModels, nearest } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import type { DeviceEntry } from "../ports.ts";

/** A device as the configuration names it. `controllers` holds settings by factory name. */
export type DeviceSettings = {
  name: string;
  model: string;
  controllers: Readonly<Record<string, unknown>>;
};

export type ConfiguredDevice = DeviceEntry & { settings: DeviceSettings["controllers"] };

/** The devices of this host, in the order of the configuration. Throws CONFIG_INVALID for an unknown model. */
export function configuredDevices(
  host: string,
  devices: readonly DeviceSettings[],
  models: readonly DeviceModel[],
): ConfiguredDevice[] {
  const known = new Map<string, readonly ControllerKind[]>(
    [...deviceModels, ...models].map((model) => [model.name, model.controllers]),
  );
  return devices.map(({ name, model, controllers }) => {
    const kinds = known.get(model);
    if (!kinds) {
      throw new ToolError(
        "CONFIG_INVALID",
        `Device ${name} has the unknown model ${model}.`,
        `Use one of ${[...known.keys()].join(", ")}, or add it under models.`,
        { nearest: nearest(model, known.keys()) },
      );
    }
    return { id: `${host}/${name}`, host, name, model, kinds, settings: controllers };
  });
}

/** Finds a device by id or unique bare name. */
export function findDevice<Entry extends DeviceEntry>(entries: readonly Entry[], wanted: string): Entry {
  const exact = entries.find((entry) => entry.id === wanted);
  if (exact) return exact;
  const named = entries.filter((entry) => entry.name === wanted);
  const [only, ...more] = named;
  if (only && more.length === 0) return only;
  const ids = named.length > 1 ? named.map((entry) => entry.id) : entries.map((entry) => entry.id);
  if (only) throw ambiguousDevice(ids, `Several devices are called "${wanted}".`);
  const near = nearest(
    wanted,
    entries.flatMap((entry) => [entry.name, entry.id]),
  );
  throw new ToolError(
    "DEVICE_NOT_FOUND",
    `No device "${wanted}".${near.length > 0 ? ` Nearest: ${near.join(", ")}.` : ""}`,
    "Call list_hosts to see the devices.",
    { nearest: near, devices: ids },
  );
}

export function ambiguousDevice(ids: readonly string[], what: string): ToolError {
  return new ToolError(
    "DEVICE_AMBIGUOUS",
    `${what} It could be ${ids.join(", ")}.`,
    "Name one with device_id, or take_control of one first.",
    { devices: ids },
  );
}
