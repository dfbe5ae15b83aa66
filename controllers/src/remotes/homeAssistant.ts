import { z } from "zod";
import { homeAssistant, homeAssistantSettings } from "../wire/homeAssistant.ts";
import { keyTables } from "./keyTables.ts";
import { type Access, defineRemote } from "./remote.ts";
import { keyMap, keysSchema } from "./settings.ts";

const settings = z.strictObject({
  ...homeAssistantSettings,
  entity: z
    .string()
    .regex(/^remote\.[a-z0-9_]{1,200}$/)
    .describe("Its entity, such as remote.living_room."),
  device: z.string().min(1).max(200).optional().describe("For hubs: the device whose commands are sent."),
  preset: z
    .enum(["apple_tv", "android_tv"])
    .optional()
    .describe("The integration whose commands the keys are; without it, only `keys` count."),
  keys: keysSchema(),
});
type Settings = z.output<typeof settings>;

async function connect(given: Settings, access: Access, signal: AbortSignal) {
  const home = homeAssistant(given, "controllers.home_assistant", access);
  const { device } = given;
  await home.state(signal);
  const version = await home.version(signal);
  return {
    facts: { make: "Home Assistant", ...(version !== undefined && { version }) },
    ask: home.state,
    press: (command: string, own: AbortSignal) =>
      home.call("remote/send_command", { command, ...(device !== undefined && { device }) }, own),
  };
}

/** Any remote that Home Assistant has, such as that of an Apple TV. */
export const homeAssistantFactory = defineRemote({
  ...{ name: "home_assistant", what: "Home Assistant", settings, holds: false, connect },
  claims: ({ url, entity, device = "" }) => [`home_assistant:${url}/${entity}/${device}`],
  keys: ({ preset, keys }) => keyMap(preset === undefined ? "" : keyTables[preset], keys),
});
