import type { Page } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { act } from "../acting/act.ts";
import type { DrivenSession } from "../browser/session.ts";
import { wholeUrl } from "../page/address.ts";

/** How pages reach their servers, and how they say who they are to them. */
export function networkCommands(session: DrivenSession): Command[] {
  return [setNetwork(session), httpCredentials(session)];
}

/** What browsers' own developer tools mean by these names. */
const speeds = {
  slow_3g: { latency_ms: 2_000, download_kbps: 400, upload_kbps: 400 },
  fast_3g: { latency_ms: 563, download_kbps: 1_440, upload_kbps: 675 },
} as const;

function setNetwork(session: DrivenSession): Command {
  const rate = z.number().int().min(1).max(10_000_000).optional();
  const input = z.strictObject({
    offline: z.boolean().default(false),
    speed: z
      .enum(["slow_3g", "fast_3g"])
      .optional()
      .describe("Latency and rates in one word; those given beside it win."),
    latency_ms: z.number().int().min(0).max(60_000).optional().describe("Added to each request."),
    download_kbps: rate,
    upload_kbps: rate,
    headers: z
      .record(z.string().min(1).max(200), z.string().max(10_000))
      .optional()
      .describe("Sent with every request."),
  });
  return defineCommand<typeof input>({
    name: "set_network",
    description:
      "Sets the network of all tabs: offline, slow, or with extra headers, until it is set again; what is left out is as usual.",
    effect: "write",
    input,
    async run({ offline, headers, speed, ...given }, signal) {
      const slow: Slowness = { ...(speed && speeds[speed]), ...defined(given) };
      if (Object.keys(slow).length > 0 && !session.isChromium()) {
        throw new DeviceError(
          "ACTION_REJECTED",
          "Only Chromium can be slowed down. Leave out speed, latency and rates, or use browser: chromium.",
        );
      }
      const network = { offline, headers, ...slow };
      const done = `the network is ${describe(network)}`;
      return act(session, { command: "set_network", timeoutMs: 5_000, signal, done }, async () => {
        await session.forEachTab("network", {
          apply: (page) => emulateNetwork(session, page, network),
          undo: (page) => emulateNetwork(session, page, { offline: false }),
        });
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

const defined = (slow: Slowness): Slowness =>
  Object.fromEntries(Object.entries(slow).filter(([, value]) => value !== undefined));

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

function httpCredentials(session: DrivenSession): Command {
  const input = z
    .strictObject({
      url: z.string().min(1).max(10_000).describe("Of the site; they are sent to no other."),
      username: z.string().min(1).max(1_000).optional(),
      password: z.string().max(1_000).optional().describe("{{secret.NAME}}"),
    })
    .refine(({ username, password }) => (username === undefined) === (password === undefined), {
      message: "give username and password, or neither",
    });
  return defineCommand<typeof input>({
    name: "http_credentials",
    description:
      "Answers a site that asks for name and password by HTTP (status 401); without them it forgets them.",
    effect: "write",
    input,
    async run({ url, username, password }, signal) {
      const { origin } = new URL(wholeUrl(url, session.page().url()));
      const credentials =
        username === undefined || password === undefined ? null : { username, password, origin };
      const done = credentials ? `credentials are set for ${origin}` : "credentials are forgotten";
      return act(session, { command: "http_credentials", timeoutMs: 5_000, signal, done }, () =>
        session.setOnContext("credentials", {
          apply: (context) => context.setHTTPCredentials(credentials),
          undo: (context) => context.setHTTPCredentials(null),
        }),
      );
    },
  });
}
