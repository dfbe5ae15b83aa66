import { type ControllerFactory, type DeviceModel, deviceModels, nearest } from "@labwright/controllers";
import { z } from "zod";
import { notBuiltIn } from "./controllers.ts";
import type { ConfigFile } from "./schema.ts";
import { secretsNamedIn } from "./secretPlaceholder.ts";
import type { Path } from "./source.ts";

/**
 * One device of this host. `drivers` are those of its model that it does not set, then those that it sets, in its order.
 * `controllers` are the settings by driver, already parsed by their schemas; placeholders of secrets are not filled in.
 */
export type DeviceSettings = {
  name: string;
  model: string;
  drivers: readonly string[];
  controllers: Readonly<Record<string, unknown>>;
  /** Driver or kind of the controller whose picture comes first. */
  screen?: string | undefined;
  watch?: true;
  /** Name of the entry that it is one of, where `count` makes several. */
  oneOf?: string;
};

type Device = ConfigFile["devices"][number];
type Report = (path: Path, message: string) => void;

/** The built-in models and the file's own. One of the same name replaces the built-in. */
export function resolveModels(file: ConfigFile, known: readonly string[], report: Report): DeviceModel[] {
  const seen = new Set<string>();
  file.models.forEach(({ name, drivers }, index) => {
    if (seen.has(name)) report(["models", index, "name"], `a second model "${name}"`);
    seen.add(name);
    drivers.forEach((driver, at) => {
      if (!known.includes(driver)) report(["models", index, "drivers", at], notBuiltIn(driver, known));
    });
  });
  return [...deviceModels.filter(({ name }) => !seen.has(name)), ...file.models];
}

export type Resolving = {
  models: readonly DeviceModel[];
  factories: readonly ControllerFactory[];
  /** The file as it was read: parsing puts keys in the order of the schema. */
  written: unknown;
  /** Names of the secrets that have a value. */
  secrets: readonly string[];
  report: Report;
};

/** Every device, `count` written out: `name`, `name-2`, `name-3` ... */
export function resolveDevices(file: ConfigFile, resolving: Resolving): DeviceSettings[] {
  const taken = new Set<string>();
  return file.devices.flatMap((device, index) => {
    const { name, model, controllers, screen } = device;
    const drivers = driversOf(device, index, resolving) ?? [];
    checkScreen(device, index, drivers, resolving);
    checkSecrets(device, index, resolving);
    const names = Array.from({ length: device.count }, (_, i) => (i === 0 ? name : `${name}-${i + 1}`));
    for (const one of names) {
      if (taken.has(one)) resolving.report(["devices", index, "name"], `a second device "${one}"`);
      taken.add(one);
    }
    return names.map((one) => ({
      ...{ name: one, model, drivers, controllers, screen },
      ...(device.watch && { watch: true as const }),
      ...(names.length > 1 && { oneOf: name }),
    }));
  });
}

/** Undefined, and reported, when the device has no driver or one that is not built in. */
function driversOf(
  device: Device,
  index: number,
  { models, factories, written, report }: Resolving,
): string[] | undefined {
  const model = models.find(({ name }) => name === device.model);
  const known = factories.map(({ name }) => name);
  const isUsable = ({ drivers }: DeviceModel) => drivers.every((driver) => known.includes(driver));
  const path = ["devices", index, "model"];
  if (model === undefined) {
    const names = models.map(({ name }) => name);
    const [best] = nearest(device.model, names, 1);
    const offer = best === undefined ? `known are ${names.join(", ")}` : `did you mean "${best}"?`;
    report(path, `unknown model "${device.model}"; ${offer}`);
    return undefined;
  }
  if (!isUsable(model)) {
    const missing = model.drivers.filter((driver) => !known.includes(driver));
    const usable = models.filter(isUsable).map(({ name }) => name);
    report(
      path,
      `model "${model.name}" needs the driver ${missing.map((driver) => `"${driver}"`).join(" and ")}, which is not built in yet; models that can be used are ${usable.join(", ")}`,
    );
    return undefined;
  }
  const own = Object.keys(writtenSchema.parse(written).devices[index]?.controllers ?? {});
  const implied = model.drivers.filter((driver) => !own.includes(driver));
  if (own.length === 0 && (implied.length === 0 || model.needsMore)) {
    const hint = `name one or more under controllers; known are ${known.join(", ")}`;
    report(path, `model "${model.name}" has no driver that reaches a device; ${hint}`);
    return undefined;
  }
  checkImplied(model, implied, path, { factories, report });
  return [...implied, ...own];
}

/** Reports the drivers of a model that need settings which the device does not give. */
function checkImplied(
  { name }: DeviceModel,
  implied: readonly string[],
  path: Path,
  { factories, report }: Pick<Resolving, "factories" | "report">,
): void {
  for (const { name: driver, settings } of factories.filter((one) => implied.includes(one.name))) {
    const problem = settings.safeParse({}).error?.issues[0];
    if (!problem) continue;
    const setting = ["controllers", driver, ...problem.path].join(".");
    report(path, `model "${name}" needs settings of its driver: ${setting}: ${problem.message}`);
  }
}

const writtenSchema = z.object({
  devices: z
    .array(z.object({ controllers: z.record(z.string(), z.unknown()).optional() }))
    .optional()
    .transform((devices) => devices ?? []),
});

function checkScreen(
  { screen }: Device,
  index: number,
  drivers: readonly string[],
  { factories, report }: Resolving,
): void {
  const own = factories.filter(({ name }) => drivers.includes(name));
  if (screen === undefined || own.length === 0) return;
  const names = [...new Set(own.flatMap(({ name, kinds }) => [name, ...kinds]))];
  if (names.includes(screen)) return;
  const message = `the device has no controller "${screen}"; it has ${names.join(", ")}`;
  report(["devices", index, "screen"], message);
}

function checkSecrets({ controllers }: Device, index: number, { secrets, report }: Resolving): void {
  for (const [driver, settings] of Object.entries(controllers)) {
    const unknown = secretsNamedIn(settings).filter((name) => !secrets.includes(name));
    for (const name of unknown)
      report(["devices", index, "controllers", driver], `there is no secret "${name}"`);
  }
}
