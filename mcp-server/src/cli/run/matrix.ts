import { browserNames, nearest } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import { done, type RunConnection } from "./connection.ts";
import { hostsSchema } from "./slots.ts";

/** An entry of a matrix with what its tests run on, or why nothing of the kind is there. */
export type Entry = { name: string } & ({ on: { device?: string; browser?: string } } | { why: ToolError });

/** Words for devices of several models. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  phone: ["android_mobile", "ios_mobile"],
  android: ["android_mobile", "android_tv"],
  ios: ["ios_mobile"],
  tv: ["android_tv", "stb", "fire_tv", "apple_tv", "smart_tv"],
};

type Known = { id: string; model: string };

/**
 * What each entry of a matrix means: the name or model of a device, a word for a kind of device, or a browser, which is a copy of
 * `device` or of the first one of the model web. Throws INVALID_INPUT for an entry that could be none of these.
 */
export async function entriesOf(
  names: readonly string[],
  device: string | undefined,
  connection: RunConnection,
  signal: AbortSignal,
): Promise<Entry[]> {
  const { hosts } = hostsSchema.parse(await done(connection.call("list_hosts", {}, signal)));
  const devices = hosts.flatMap((host) => host.devices);
  const models = [...new Set(devices.map(({ model }) => model))];
  const known = [...new Set([...devices.map(nameOf), ...models, ...browserNames, ...Object.keys(kinds)])];
  return names.map((name) => {
    const own = devices.find((one) => one.id === name || nameOf(one) === name);
    if (own) return { name, on: { device: own.id } };
    if (browserNames.includes(name)) return browserEntry(name, device, devices);
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const wanted = kind ?? [name];
    const found = devices.filter(({ model }) => wanted.includes(model));
    const free = found.find(({ state }) => !state.startsWith("held")) ?? found[0];
    if (free) return { name, on: { device: free.id } };
    if (kind) return { name, why: noDevice(kind) };
    throw unknownEntry(name, known);
  });
}

const nameOf = ({ id }: Known) => id.slice(id.lastIndexOf("/") + 1);

function browserEntry(name: string, device: string | undefined, devices: readonly Known[]): Entry {
  const base = device ?? devices.find(({ model }) => model === "web")?.id;
  return base === undefined
    ? { name, why: noDevice(["web"]) }
    : { name, on: { device: base, browser: name } };
}

const noDevice = (models: readonly string[]) =>
  new ToolError(
    "DEVICE_NOT_FOUND",
    `There is no device of the model ${models.join(" or ")}.`,
    "Connect one, or add it under devices in labwright.yaml; labwright doctor says what is missing.",
  );

function unknownEntry(name: string, known: readonly string[]): ToolError {
  const near = nearest(name, known, 1);
  const hint = near.length > 0 ? `Did you mean ${near[0]}? ` : "";
  return new ToolError(
    "INVALID_INPUT",
    `--matrix: "${name}" is not a browser, nor the name or model of a device.`,
    `${hint}Entries can be: ${known.join(", ")}.`,
  );
}
