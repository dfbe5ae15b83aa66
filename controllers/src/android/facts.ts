import { tidy } from "../elements/text.ts";
import { DeviceError } from "../errors.ts";
import type { ControllerFacts } from "../ports.ts";
import type { Link } from "./link.ts";

export type AndroidFacts = {
  make: string;
  model: string;
  release: string;
  /** The API level: 34 for Android 14. */
  api: number;
  isTv: boolean;
  /** In its natural position, in pixels. */
  screen: { width: number; height: number };
  density: number;
};

const properties = [
  "ro.product.manufacturer",
  "ro.product.model",
  "ro.build.version.release",
  "ro.build.version.sdk",
  "ro.build.characteristics",
];
const probe = [
  ...properties.map((name) => `getprop ${name}`),
  "wm size",
  "wm density",
  "pm list features | grep -e leanback -e television",
].join("; ");

/** Asks in one round trip. Throws DEVICE_ERROR for a device that has not started yet. */
export async function probeFacts(link: Link, signal: AbortSignal): Promise<AndroidFacts> {
  const { stdout } = await link.script(probe, signal);
  return parseFacts(stdout, link.serial);
}

/** An overridden size counts: apps and pictures have that one. */
function parseFacts(text: string, serial: string): AndroidFacts {
  const [make = "", model = "", release = "", api = "", characteristics = "", ...rest] = text
    .split("\n")
    .map((line) => tidy(line).slice(0, 100));
  const more = rest.join("\n");
  const sizes = [...more.matchAll(/size: (\d+)x(\d+)/g)].at(-1);
  const density = [...more.matchAll(/density: (\d+)/g)].at(-1)?.[1];
  if (!sizes || !/^\d+$/.test(api)) throw notStarted(serial);
  return {
    make,
    model,
    release,
    api: Number(api),
    isTv: /\btv\b/.test(characteristics) || /^feature:/m.test(more),
    screen: { width: Number(sizes[1]), height: Number(sizes[2]) },
    density: Number(density ?? 160),
  };
}

export function factsForAll(
  { make, model, release, screen }: AndroidFacts,
  howRead: string | undefined,
): ControllerFacts {
  const isSaid = model.toLowerCase().startsWith(make.toLowerCase());
  const note = ["Its own traffic passes no rule of url_policy.", howRead].filter(Boolean).join(" ");
  return { make: isSaid ? model : `${make} ${model}`, version: `Android ${release}`, screen, note };
}

const notStarted = (serial: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `${serial} does not say what it is: Android has not started on it yet. Wait until its home screen is there, and try again.`,
    { serial },
  );
