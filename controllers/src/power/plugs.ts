import { z } from "zod";
import { homeAssistant, homeAssistantSettings } from "../wire/homeAssistant.ts";
import { powerFactory } from "./controller.ts";
import { digestAnswer } from "./digest.ts";
import { hostOf, Plug, secretSchema, stateOf, textSchema, urlSchema } from "./http.ts";
import type { PowerState } from "./outlet.ts";

export const tasmotaFactory = powerFactory({
  name: "tasmota",
  settings: z.strictObject({
    url: urlSchema,
    outlet: z.int().min(1).max(32).default(1),
    user: textSchema.default("admin"),
    password: secretSchema.optional(),
  }),
  claim: ({ url, outlet }) => `${hostOf(url)}/${outlet}`,
  make({ url, outlet, user, password }, reach) {
    const plug = new Plug(url, reach);
    const send = async (value: string, signal: AbortSignal): Promise<PowerState> => {
      const login = password === undefined ? {} : { user, password };
      const query = new URLSearchParams({ ...login, cmnd: `Power${outlet} ${value}`.trim() });
      const answer = await plug.json(z.record(z.string(), z.unknown()), `/cm?${query}`, {}, signal);
      if ("WARNING" in answer) throw plug.refused();
      // A plug with one outlet leaves out its number.
      const state = answer[`POWER${outlet}`] ?? (outlet === 1 ? answer.POWER : undefined);
      if (state !== "ON" && state !== "OFF") throw plug.unexpected(JSON.stringify(answer).slice(0, 100));
      return stateOf(state === "ON");
    };
    return {
      name: `outlet ${outlet} of ${plug.host}`,
      read: (signal) => send("", signal),
      async turn(to, signal) {
        if ((await send(to, signal)) !== to) throw plug.unexpected(`the other state than ${to}`);
      },
    };
  },
});

export const shellyFactory = powerFactory({
  name: "shelly",
  settings: z.strictObject({
    url: urlSchema,
    outlet: z.int().min(0).max(31).default(0).describe("Counted from 0, as Shelly does."),
    generation: z
      .union([z.literal(1), z.literal(2)])
      .default(2)
      .describe("2 for all newer ones, too."),
    user: textSchema.default("admin"),
    password: secretSchema.optional(),
  }),
  claim: ({ url, outlet }) => `${hostOf(url)}/${outlet}`,
  make({ url, outlet, generation, ...login }, reach) {
    const plug = new Plug(url, reach);
    const by = generation === 1 ? shelly1(plug, outlet, login) : shelly2(plug, outlet, login);
    return { name: `outlet ${outlet} of ${plug.host}`, ...by };
  },
});

type Login = { user: string; password?: string | undefined };

function shelly1(plug: Plug, outlet: number, { user, password }: Login) {
  const login = Buffer.from(`${user}:${password}`).toString("base64");
  const headers = password === undefined ? {} : { authorization: `Basic ${login}` };
  const send = async (query: string, signal: AbortSignal) => {
    const shape = z.object({ ison: z.boolean() });
    return stateOf((await plug.json(shape, `/relay/${outlet}${query}`, { headers }, signal)).ison);
  };
  return {
    read: (signal: AbortSignal) => send("", signal),
    async turn(to: PowerState, signal: AbortSignal) {
      if ((await send(`?turn=${to}`, signal)) !== to) throw plug.unexpected(`the other state than ${to}`);
    },
  };
}

function shelly2(plug: Plug, outlet: number, { user, password }: Login) {
  const send = async (call: string, signal: AbortSignal) => {
    const path = `/rpc/${call}`;
    const answer = await plug.ask(path, {}, signal);
    if (answer.status !== 401 || password === undefined) return answer;
    const challenge = answer.headers["www-authenticate"] ?? "";
    const authorization = digestAnswer(challenge, "GET", path, { user, password });
    if (authorization === undefined) throw plug.refused();
    return plug.ask(path, { headers: { authorization } }, signal);
  };
  return {
    async read(signal: AbortSignal) {
      const status = await send(`Switch.GetStatus?id=${outlet}`, signal);
      return stateOf(plug.parse(z.object({ output: z.boolean() }), status).output);
    },
    async turn(to: PowerState, signal: AbortSignal) {
      const done = await send(`Switch.Set?id=${outlet}&on=${to === "on"}`, signal);
      plug.parse(z.object({ was_on: z.boolean() }), done);
    },
  };
}

export const homeAssistantPowerFactory = powerFactory({
  name: "home_assistant_power",
  settings: z.strictObject({
    ...homeAssistantSettings,
    entity: textSchema.regex(/^[a-z_]+\.[a-z0-9_]+$/, "an entity such as switch.tv_plug"),
  }),
  claim: ({ url, entity }) => `${hostOf(url)}/${entity}`,
  make(settings, reach) {
    const { entity } = settings;
    const home = homeAssistant(settings, "controllers.home_assistant_power", reach);
    return {
      name: `${entity} of ${home.host}`,
      async read(signal) {
        const state = await home.state(signal);
        if (state === "on" || state === "off") return state;
        throw new Plug(settings.url, reach).unexpected(`the state ${state.slice(0, 100)}`);
      },
      turn: async (to, signal) => void (await home.call(`homeassistant/turn_${to}`, {}, signal)),
    };
  },
});
