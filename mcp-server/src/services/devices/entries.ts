import { type ControllerFactory, controllerKinds, nearest } from "@labwright/controllers";
import type { DeviceSettings } from "../../config.ts";
import { ToolError } from "../../errors.ts";
import type { DeviceEntry, Offer } from "../ports.ts";

export type { DeviceSettings };

/** A device with its drivers, in the order of the configuration, each with what the device sets of it. */
export type ConfiguredDevice = DeviceEntry & {
  drivers: readonly { factory: ControllerFactory; settings: unknown }[];
  screen?: string | undefined;
  /** Id of the device of the configuration that it is a copy of. */
  copyOf?: string;
  /** The same for devices that are equal: one entry of the configuration makes them. */
  oneOf?: string | undefined;
};

export function configuredDevices(
  host: string,
  devices: readonly DeviceSettings[],
  factories: readonly ControllerFactory[],
): ConfiguredDevice[] {
  return devices.map(({ name, model, drivers: names, controllers, screen, oneOf }) => {
    const drivers = names.map((driver) => {
      const factory = factories.find((one) => one.name === driver);
      if (!factory) throw new Error(`Device ${name} uses the unknown driver ${driver}`);
      return { factory, settings: controllers[driver] ?? {} };
    });
    const offers = once(() => offersOf(drivers.map(({ factory }) => factory)));
    return { id: `${host}/${name}`, host, name, model, screen, oneOf, drivers, offers };
  });
}

function offersOf(factories: readonly ControllerFactory[]): Offer[] {
  const offers = factories.flatMap((factory) =>
    factory.offers().map(({ kind, verification, commands, checks }) => ({
      driver: factory.name,
      kind,
      ...(verification !== undefined && { verification }),
      commands,
      checks,
    })),
  );
  return offers.toSorted((a, b) => controllerKinds.indexOf(a.kind) - controllerKinds.indexOf(b.kind));
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

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

/** The first where it does not matter which: there is one alone, or all are equal. */
export function anyOf<Entry extends Pick<ConfiguredDevice, "oneOf">>(
  entries: readonly Entry[],
): Entry | undefined {
  const [first, ...others] = entries;
  const isEqual = ({ oneOf }: Entry) => oneOf !== undefined && oneOf === first?.oneOf;
  return others.every(isEqual) ? first : undefined;
}

export function ambiguousDevice(ids: readonly string[], what: string): ToolError {
  return new ToolError(
    "DEVICE_AMBIGUOUS",
    `${what} It could be ${ids.join(", ")}.`,
    "Name one with device_id, or take_control of one first.",
    { devices: ids },
  );
}
