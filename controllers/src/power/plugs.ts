import { z } from "zod";
import { homeAssistant, homeAssistantSettings } from "../wire/homeAssistant.ts";
import { powerFactory } from "./controller.ts";
import { digestAnswer } from "./digest.ts";
import { type Answer, type Asked, ask, jsonOf, refused, unexpected } from "./http.ts";
import type { MakeOutlet, PowerState } from "./outlet.ts";

type Policy = Parameters<MakeOutlet<unknown>>[1];

export const text = z.string().min(1).max(1_000);
const secret = text.describe("Better as {{secret.NAME}}.");
/** A placeholder of a secret is filled in when the device is made. */
const isAddress = (url: string) => url.includes("{{") || /^https?:\/\/[^@/?#]+\/?$/.test(url);
const url = text
  .refine(isAddress, "an address without a path and user, such as http://192.168.1.20")
  .describe("Such as http://192.168.1.20.");
const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).host : address);
const stateOf = (isOn: boolean): PowerState => (isOn ? "on" : "off");

/** The value where it has the shape. Throws DEVICE_ERROR. */
function shaped<T extends z.ZodType>(shape: T, value: unknown, host: string): z.output<T> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unexpected(host, `${Buffer.from(JSON.stringify(value) ?? "").subarray(0, 100)}`);
}

const askJson = async (address: URL, asked: Asked, policy: Policy, signal: AbortSignal) =>
  jsonOf(await ask(address, asked, policy, signal), address.host);

const tasmotaSettings = z.strictObject({
  url,
  outlet: z.int().min(1).max(32).default(1),
  user: text.default("admin"),
  password: secret.optional(),
});
const tasmotaAnswer = z.record(z.string(), z.unknown());

export const tasmotaFactory = powerFactory({
  name: "tasmota",
  settings: tasmotaSettings,
  claim: ({ url, outlet }) => `${hostOf(url)}/${outlet}`,
  make({ url, outlet, user, password }, policy) {
    const host = hostOf(url);
    const send = async (value: string, signal: AbortSignal): Promise<PowerState> => {
      const login = password === undefined ? {} : { user, password };
      const query = new URLSearchParams({ ...login, cmnd: `Power${outlet} ${value}`.trim() });
      const address = new URL(`/cm?${query}`, url);
      const answer = shaped(tasmotaAnswer, await askJson(address, {}, policy, signal), host);
      if ("WARNING" in answer) throw refused(host);
      // A plug with one outlet leaves out its number.
      const state = answer[`POWER${outlet}`] ?? (outlet === 1 ? answer.POWER : undefined);
      return shaped(z.enum(["ON", "OFF"]), state ?? answer, host) === "ON" ? "on" : "off";
    };
    return {
      name: `outlet ${outlet} of ${host}`,
      read: (signal) => send("", signal),
      async turn(to, signal) {
        if ((await send(to, signal)) !== to) throw unexpected(host, `the other state than ${to}`);
      },
    };
  },
});

const shellySettings = z.strictObject({
  url,
  outlet: z.int().min(0).max(31).default(0).describe("Counted from 0, as Shelly does."),
  generation: z
    .union([z.literal(1), z.literal(2)])
    .default(2)
    .describe("2 for all newer ones, too."),
  user: text.default("admin"),
  password: secret.optional(),
});
type Shelly = z.output<typeof shellySettings>;

export const shellyFactory = powerFactory({
  name: "shelly",
  settings: shellySettings,
  claim: ({ url, outlet }) => `${hostOf(url)}/${outlet}`,
  make(settings, policy) {
    const { url, outlet } = settings;
    const host = hostOf(url);
    const ofShelly = settings.generation === 1 ? shelly1 : shelly2;
    return { name: `outlet ${outlet} of ${host}`, ...ofShelly(settings, host, policy) };
  },
});

function shelly1({ url, outlet, user, password }: Shelly, host: string, policy: Policy) {
  const login = Buffer.from(`${user}:${password}`).toString("base64");
  const headers = password === undefined ? {} : { authorization: `Basic ${login}` };
  const send = async (query: string, signal: AbortSignal) => {
    const address = new URL(`/relay/${outlet}${query}`, url);
    const answer = await askJson(address, { headers }, policy, signal);
    return stateOf(shaped(z.object({ ison: z.boolean() }), answer, host).ison);
  };
  return {
    read: (signal: AbortSignal) => send("", signal),
    async turn(to: PowerState, signal: AbortSignal) {
      if ((await send(`?turn=${to}`, signal)) !== to) throw unexpected(host, `the other state than ${to}`);
    },
  };
}

function shelly2({ url, outlet, user, password = "" }: Shelly, host: string, policy: Policy) {
  const send = async (call: string, signal: AbortSignal) => {
    const address = new URL(`/rpc/${call}`, url);
    let answer: Answer = await ask(address, {}, policy, signal);
    const challenge = answer.headers.get("www-authenticate") ?? "";
    if (answer.status === 401 && password !== "") {
      const uri = `${address.pathname}${address.search}`;
      const authorization = digestAnswer(challenge, "GET", uri, { user, password });
      if (authorization === undefined) throw refused(host);
      answer = await ask(address, { headers: { authorization } }, policy, signal);
    }
    return jsonOf(answer, host);
  };
  return {
    async read(signal: AbortSignal) {
      const status = await send(`Switch.GetStatus?id=${outlet}`, signal);
      return stateOf(shaped(z.object({ output: z.boolean() }), status, host).output);
    },
    async turn(to: PowerState, signal: AbortSignal) {
      const done = await send(`Switch.Set?id=${outlet}&on=${to === "on"}`, signal);
      shaped(z.object({ was_on: z.boolean() }), done, host);
    },
  };
}

export const homeAssistantPowerFactory = powerFactory({
  name: "home_assistant_power",
  settings: z.strictObject({
    ...homeAssistantSettings,
    entity: text.regex(/^[a-z_]+\.[a-z0-9_]+$/, "an entity such as switch.tv_plug"),
  }),
  claim: ({ url, entity }) => `${hostOf(url)}/${entity}`,
  make(settings, policy) {
    const { entity } = settings;
    const home = homeAssistant(settings, "controllers.home_assistant_power", policy);
    return {
      name: `${entity} of ${home.host}`,
      read: async (signal) => shaped(z.enum(["on", "off"]), await home.state(signal), home.host),
      turn: async (to, signal) => void (await home.call(`homeassistant/turn_${to}`, {}, signal)),
    };
  },
});

const kvmState = z.object({ result: z.object({ leds: z.object({ power: z.boolean() }) }) });

export const oneKvmFactory = powerFactory({
  name: "one_kvm",
  settings: z.strictObject({
    url,
    user: text.default("admin"),
    password: secret,
    hard: z
      .boolean()
      .default(true)
      .describe("Cuts the power. Otherwise it presses the button and the system shuts down."),
  }),
  claim: ({ url }) => `${hostOf(url)}/atx`,
  make({ url, user, password, hard }, policy) {
    const host = hostOf(url);
    const headers = { "x-kvmd-user": user, "x-kvmd-passwd": password };
    const actions = { on: "on", off: hard ? "off_hard" : "off" };
    return {
      name: `the power button of ${host}`,
      async read(signal) {
        const answer = await askJson(new URL("/api/atx", url), { headers }, policy, signal);
        return stateOf(shaped(kvmState, answer, host).result.leds.power);
      },
      async turn(to, signal) {
        const address = new URL(`/api/atx/power?action=${actions[to]}&wait=1`, url);
        const answer = await askJson(address, { method: "POST", headers }, policy, signal);
        shaped(z.object({ ok: z.literal(true) }), answer, host);
      },
    };
  },
});
