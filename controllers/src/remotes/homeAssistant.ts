import { z } from "zod";
import { keyTables } from "./keyTables.ts";
import { anywhere, defineRemote, diagnoseLink, keyMap, keysSchema, type RemoteLink } from "./remote.ts";
import { offline, refused, unauthorized } from "./wire/failures.ts";
import { askHttp, readJson } from "./wire/http.ts";
import type { Reach } from "./wire/sockets.ts";

const settings = z.strictObject({
  url: z
    .string()
    .regex(/^https?:\/\/[^\s/@]+$/, "such as http://homeassistant.local:8123, without a path")
    .describe("Address of Home Assistant."),
  token: z.string().min(1).max(1_000).describe("A long-lived access token, best as {{secret.NAME}}."),
  entity: z
    .string()
    .regex(/^remote\.[a-z0-9_]{1,200}$/)
    .describe("Its entity, such as remote.living_room."),
  device: z.string().min(1).max(200).optional().describe("For hubs: the device whose commands are sent."),
  preset: z
    .enum(["apple_tv", "android_tv"])
    .optional()
    .describe("The integration whose commands the keys are; without it, only `keys` count."),
  keys: keysSchema,
});
type Settings = z.output<typeof settings>;

function createLink({ url, token, entity, device }: Settings, reach: Reach): RemoteLink {
  const place = {
    name: `Home Assistant at ${url}`,
    check: "Start it, or correct controllers.home_assistant.url.",
  };
  let isOpen = false;
  const ask = async (path: string, signal: AbortSignal, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = { url: `${url}/api/${path}`, headers };
    const answer = await askHttp(
      body === undefined ? request : { ...request, method: "POST", body: JSON.stringify(body) },
      { place, reach },
      signal,
    );
    if (answer.status === 401 || answer.status === 403)
      throw unauthorized(
        place,
        `it does not accept the token (HTTP ${answer.status})`,
        "Make a new one in your profile there, and correct controllers.home_assistant.token.",
      );
    if (answer.status === 404)
      throw refused(place, `it has no ${entity}`, "Correct controllers.home_assistant.entity.");
    if (answer.status >= 400)
      throw refused(
        place,
        `HTTP ${answer.status}: ${answer.text}`,
        "See its log; check the commands that the integration knows.",
      );
    return answer;
  };
  const state = async (signal: AbortSignal) => {
    const { text } = await ask(`states/${entity}`, signal);
    const parsed = z.object({ state: z.string() }).safeParse(readJson(text));
    if (!parsed.success)
      throw refused(place, "its answer is not Home Assistant's", "Correct controllers.home_assistant.url.");
    if (parsed.data.state === "unavailable")
      throw offline(
        { name: entity, check: "Switch the device on." },
        "Home Assistant says that it is unavailable",
      );
  };
  const send = async (code: string, signal: AbortSignal, more: object = {}) => {
    const body = { entity_id: entity, command: code, ...(device !== undefined && { device }), ...more };
    return (await ask("services/remote/send_command", signal, body)).sentAt;
  };
  return {
    async connect(signal) {
      await state(signal);
      const version = z
        .object({ version: z.string() })
        .safeParse(readJson((await ask("config", signal)).text));
      isOpen = true;
      return { make: "Home Assistant", ...(version.success && { version: version.data.version }) };
    },
    async disconnect() {
      isOpen = false;
    },
    isConnected: () => isOpen,
    ask: state,
    press: (code, signal) => send(code, signal),
  };
}

/** Any remote that Home Assistant has, such as that of an Apple TV. */
export const homeAssistantFactory = defineRemote({
  name: "home_assistant",
  settings,
  example: { url: "http://127.0.0.1:8123", token: "none", entity: "remote.none" },
  claims: ({ url, entity, device = "" }) => [`home_assistant:${url}/${entity}/${device}`],
  diagnose: async (given, context) =>
    /\{\{/.test(given.token)
      ? [{ what: "Home Assistant", status: "ok", detail: "its token is a secret, so it was not asked" }]
      : [await diagnoseLink("Home Assistant", createLink(given, anywhere), context)],
  create: (given, context) => ({
    keys: keyMap(given.preset === undefined ? "" : keyTables[given.preset], given.keys),
    link: createLink(given, context),
  }),
});
