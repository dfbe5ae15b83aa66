import { z } from "zod";
import type { Moment } from "../ports.ts";
import { offline, refused } from "./failures.ts";
import { askPeer, type HttpPeer } from "./http.ts";
import { readJson } from "./json.ts";
import type { Reach } from "./sockets.ts";

/** Settings of every driver that asks Home Assistant. A placeholder of a secret is filled in when the device is made. */
export const homeAssistantSettings = {
  url: z
    .string()
    .max(1_000)
    .regex(
      /^https?:\/\/[^\s/@?#]+\/?$|\{\{/,
      "an address without a path and user, such as http://homeassistant.local:8123",
    )
    .describe("Address of Home Assistant, such as http://homeassistant.local:8123."),
  token: z.string().min(1).max(1_000).describe("A long-lived access token, best as {{secret.NAME}}."),
};

export type HomeAssistant = {
  /** Its host and port. */
  host: string;
  /** The entity's state, such as "on". Throws DEVICE_OFFLINE while Home Assistant has lost the device, and what `askPeer` throws. */
  state(signal: AbortSignal): Promise<string>;
  /** Calls a service, such as "remote/send_command", with this entity. Throws what `askPeer` throws. */
  call(service: string, data: object, signal: AbortSignal): Promise<Moment>;
  version(signal: AbortSignal): Promise<string | undefined>;
};

/** One entity of Home Assistant by its REST. `setting` is where its settings are, such as "controllers.home_assistant". */
export function homeAssistant(
  { url, token, entity }: { url: string; token: string; entity: string },
  setting: string,
  reach: Reach,
): HomeAssistant {
  const host = URL.canParse(url) ? new URL(url).host : url;
  const peer: HttpPeer = {
    name: `Home Assistant at ${host}`,
    check: `Start it, or correct ${setting}.url.`,
    root: url,
    headers: { authorization: `Bearer ${token}` },
    reach,
    denied: {
      reason: "it does not accept the token",
      fix: `Make a new one in your profile there, and correct ${setting}.token.`,
    },
    mend: `Correct ${setting}.entity (${entity}), or see its log.`,
  };
  return {
    host,
    async state(signal) {
      const { text } = await askPeer(peer, `/api/states/${entity}`, {}, signal);
      const state = readJson(z.object({ state: z.string() }), text)?.state;
      if (state === undefined)
        throw refused(peer, "its answer is not Home Assistant's", `Correct ${setting}.url.`);
      if (state !== "unavailable") return state;
      const place = { name: entity, check: "Switch the device on." };
      throw offline(place, "Home Assistant says that it is unavailable");
    },
    async call(service, data, signal) {
      const body = JSON.stringify({ entity_id: entity, ...data });
      return (await askPeer(peer, `/api/services/${service}`, { method: "POST", json: body }, signal)).sentAt;
    },
    async version(signal) {
      const { text } = await askPeer(peer, "/api/config", {}, signal);
      return readJson(z.object({ version: z.string() }), text)?.version;
    },
  };
}
