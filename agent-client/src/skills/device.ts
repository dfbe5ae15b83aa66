import type { Skill } from "@labwright/skills";
import { z } from "zod";
import type { LabServer } from "../ports.ts";

/** A device as far as choosing one needs it. */
export type LabDevice = { id: string; name: string; model: string };

const deviceSchema = z.object({ id: z.string(), model: z.string() });
const hostsSchema = z.object({ hosts: z.array(z.object({ devices: z.array(deviceSchema).default([]) })) });

/** Those of `list_hosts`; none when it failed. Never rejects. */
export async function listDevices({ toolbox }: LabServer, signal: AbortSignal): Promise<LabDevice[]> {
  const found = await toolbox.call({ name: "list_hosts", input: {} }, { signal }).catch(() => undefined);
  const { data } = hostsSchema.safeParse(found?.structured);
  return (data?.hosts ?? []).flatMap(({ devices }) =>
    devices.map(({ id, model }) => ({ id, model, name: id.split("/").at(-1) ?? id })),
  );
}

const platforms: Readonly<Record<string, Skill["platform"]>> = {
  web: "web",
  android_mobile: "mobile",
  ios_mobile: "mobile",
  android_tv: "stb",
  stb: "stb",
  fire_tv: "stb",
  apple_tv: "stb",
  smart_tv: "stb",
  desktop: "desktop",
};

export const platformOf = ({ model }: LabDevice): Skill["platform"] => platforms[model] ?? null;

/** The devices that a text names, by id or name as whole words. */
export function devicesNamed(text: string, devices: readonly LabDevice[]): LabDevice[] {
  const said = ` ${text.toLowerCase().replace(/[^\p{L}\p{N}/_.-]+/gu, " ")} `.replace(/[.](?= )/g, "");
  return devices.filter(({ id, name }) => [id, name].some((one) => said.includes(` ${one.toLowerCase()} `)));
}

/** Words that leave the choice of the device to us. */
const anyDevice =
  /\b(any|all|every|each|free|whichever|alle|jedes?|irgendein\w*|freie\w*|tou(te)?s?|chaque|libre)\b/i;

/** The devices to ask between: none where the words before or now name one or leave it open, or where there is no choice. */
export function devicesToAsk(
  { requires_device, platform }: Skill,
  { text, before, devices }: { text: string; before: string; devices: readonly LabDevice[] },
): LabDevice[] {
  if (!requires_device || anyDevice.test(text)) return [];
  if (devicesNamed(`${before} ${text}`, devices).length > 0) return [];
  const fitting = devices.filter(
    (device) => platform === null || [platform, null].includes(platformOf(device)),
  );
  return fitting.length < 2 ? [] : fitting;
}
