import type { Page } from "playwright-core";
import { z } from "zod";
import type { Command } from "../../contract.ts";
import { secretInput } from "../../dispatch.ts";
import { DeviceError } from "../../errors.ts";
import type { Actions } from "../acting/action.ts";
import type { DrivenSession } from "../browser/session.ts";
import { wholeUrl } from "../page/address.ts";
import { shortCommand } from "./elementCommand.ts";

export function networkCommands(actions: Actions): Command[] {
  return [setNetwork(actions), httpCredentials(actions)];
}

/** What browsers' own developer tools mean by these names. */
const speeds = {
  slow_3g: { latency_ms: 2_000, download_kbps: 400, upload_kbps: 400 },
  fast_3g: { latency_ms: 563, download_kbps: 1_440, upload_kbps: 675 },
} as const;

function setNetwork(actions: Actions): Command {
  const { session } = actions;
  const rate = z.number().int().min(1).max(10_000_000).optional();
  return shortCommand(actions, {
    name: "set_network",
    description:
      "Sets the network of all tabs: offline, slow, or with extra headers, until it is set again; what is left out is as usual.",
    input: z.strictObject({
      offline: z.boolean().default(false),
      speed: z
        .enum(["slow_3g", "fast_3g"])
        .optional()
        .describe("Latency and rates in one word; those given as well win."),
      latency_ms: z.number().int().min(0).max(60_000).optional().describe("Added to each request."),
      download_kbps: rate,
      upload_kbps: rate,
      headers: z
        .record(z.string().min(1).max(200), z.string().max(10_000))
        .optional()
        .describe("Sent with every request."),
    }),
    done: (given) => `the network is ${describe(networkOf(given))}`,
    async run(given) {
      const network = networkOf(given);
      const { offline: _, headers: __, ...slow } = network;
      if (Object.keys(slow).length > 0 && !session.isChromium()) {
        throw new DeviceError(
          "COMMAND_UNSUITABLE",
          "Only Chromium can be slowed down. Leave out speed, latency and rates, or use browser: chromium.",
        );
      }
      await session.forEachTab("network", {
        apply: (page) => emulateNetwork(session, page, network),
        undo: (page) => emulateNetwork(session, page, { offline: false }),
      });
    },
  });
}

type Slowness = {
  latency_ms?: number | undefined;
  download_kbps?: number | undefined;
  upload_kbps?: number | undefined;
};
type Network = Slowness & { offline: boolean; headers?: Record<string, string> | undefined };

type Given = Network & { speed?: keyof typeof speeds | undefined };

/** Rates that are given win over those of a named speed. */
const networkOf = ({ offline, headers, speed, ...given }: Given): Network => ({
  offline,
  headers,
  ...(speed && speeds[speed]),
  ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
});

/** The names of headers only: their values may be secrets. */
function describe({ offline, headers = {}, latency_ms, download_kbps, upload_kbps }: Network): string {
  const slow = [
    latency_ms !== undefined && `${latency_ms} ms more a request`,
    download_kbps !== undefined && `${download_kbps} kbit/s down`,
    upload_kbps !== undefined && `${upload_kbps} kbit/s up`,
  ].filter(Boolean);
  const state = offline ? "off" : slow.length > 0 ? `slow: ${slow.join(", ")}` : "as usual";
  const names = Object.keys(headers);
  return names.length > 0 ? `${state}; every request has ${names.join(", ")}` : state;
}

/** Of the tab; what the browser does for all tabs of its context is the same for each of them. */
async function emulateNetwork(
  session: DrivenSession,
  page: Page,
  { offline, headers = {}, latency_ms, download_kbps, upload_kbps }: Network,
): Promise<void> {
  await page.context().setOffline(offline);
  await page.context().setExtraHTTPHeaders(headers);
  const cdp = await session.signals(page).cdp();
  await cdp?.send("Network.emulateNetworkConditions", {
    offline,
    latency: latency_ms ?? 0,
    downloadThroughput: bytesPerSecond(download_kbps),
    uploadThroughput: bytesPerSecond(upload_kbps),
  });
}

/** -1 is "no limit" in the DevTools protocol. */
function bytesPerSecond(kbps: number | undefined): number {
  return kbps === undefined ? -1 : (kbps * 1_000) / 8;
}

function httpCredentials(actions: Actions): Command {
  const { session } = actions;
  const originOf = (url: string) => new URL(wholeUrl(url, session.page().url())).origin;
  return shortCommand(actions, {
    name: "http_credentials",
    description:
      "Answers a site that asks for name and password by HTTP (status 401); without them it forgets them.",
    input: z
      .strictObject({
        url: z.string().min(1).max(10_000).describe("Of the site; they are sent to no other."),
        username: z.string().min(1).max(1_000).optional(),
        password: z.string().max(1_000).optional().describe("{{secret.NAME}}"),
      })
      .refine(({ username, password }) => (username === undefined) === (password === undefined), {
        message: "give username and password, or neither",
      }),
    done({ url, username }) {
      // Refuses what is not an address, also where credentials are only forgotten.
      const origin = originOf(url);
      return username === undefined ? "credentials are forgotten" : `credentials are set for ${origin}`;
    },
    run({ url, username, password }) {
      secretInput()?.allow({ origin: originOf(url) });
      const isGiven = username !== undefined && password !== undefined;
      const credentials = isGiven ? { username, password, origin: originOf(url) } : null;
      return session.setOnContext("credentials", {
        apply: (context) => context.setHTTPCredentials(credentials),
        undo: (context) => context.setHTTPCredentials(null),
      });
    },
  });
}
