import type { Page } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { secretInput } from "../../dispatch.ts";
import { matcherFor, matchSchema } from "../../elements/match.ts";
import { quoted } from "../../elements/quoted.ts";
import { DeviceError } from "../../errors.ts";
import type { Actions } from "../acting/action.ts";
import { MOST_MOCKS, type Mock, type MockAnswer, type MockedRequests } from "../activity/mocks.ts";
import type { DrivenSession } from "../browser/session.ts";
import { wholeUrl } from "../page/address.ts";
import { shortCommand } from "./elementCommand.ts";

export function networkCommands(actions: Actions): Command[] {
  return [setNetwork(actions), httpCredentials(actions), mockRequest(actions)];
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

/** Reasons without an answer, in Playwright's words. */
const failures = {
  refused: "connectionrefused",
  reset: "connectionreset",
  timed_out: "timedout",
  unknown_host: "namenotresolved",
  offline: "internetdisconnected",
} as const satisfies Record<string, string>;

const MOCK_MS = 5_000;
const longestBody = 1_000_000;
const isShort = (body: unknown) => JSON.stringify(body).length <= longestBody;
const answerSchema = z.strictObject({
  status: z.int().min(200).max(599).default(200),
  body: z
    .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .refine(isShort, `is longer than ${longestBody} characters`)
    .default("")
    .describe("A text, or JSON as it is."),
  headers: z
    .record(
      z
        .string()
        .max(200)
        .regex(/^[\w!#$%&'*+.^`|~-]+$/, "is not a name of a header"),
      z
        .string()
        .max(10_000)
        .regex(/^[^\r\n\0]*$/, "is not a value of a header"),
    )
    .default({}),
});

type Effect = { answer?: unknown; fail?: unknown; delay_ms?: unknown };
const isMock = ({ answer, fail, delay_ms }: Effect): boolean =>
  answer !== undefined || fail !== undefined || delay_ms !== undefined;

const mockInput = z
  .strictObject({
    url: z.string().min(1).max(10_000).optional(),
    match: matchSchema.default("words"),
    method: z.string().min(1).max(20).optional(),
    answer: answerSchema.optional(),
    fail: z.enum(["refused", "reset", "timed_out", "unknown_host", "offline"]).optional(),
    delay_ms: z
      .int()
      .min(1)
      .max(60_000)
      .optional()
      .describe("Before the answer; the server's own without another."),
    times: z.int().min(1).max(10_000).optional().describe("So many requests, then the server again."),
  })
  .refine(({ answer, fail }) => answer === undefined || fail === undefined, {
    message: "give answer or fail, not both",
  })
  .refine((given) => given.url !== undefined || !isMock(given), { message: "give url" });
type MockInput = z.output<typeof mockInput>;

function mockRequest(actions: Actions): Command {
  const { session } = actions;
  return defineCommand({
    name: "mock_request",
    description:
      "Answers, fails or delays requests in place of the server, until the fresh run that sets it ends or another client drives. With url alone that mock ends, without url all.",
    effect: "write",
    input: mockInput,
    async run(given, signal) {
      const options = { command: "mock_request", timeoutMs: MOCK_MS, signal, done: "set" };
      let message = "";
      await actions.run(options, async () => {
        message = await (isMock(given) ? addMock(session, given) : removeMocks(session, given));
      });
      return { message, isNews: true };
    },
  });
}

async function addMock({ live }: DrivenSession, given: MockInput): Promise<string> {
  const { answer, fail, delay_ms: delayMs = 0, times = Number.POSITIVE_INFINITY } = given;
  if (live.mocks.count >= MOST_MOCKS)
    throw new DeviceError(
      "INVALID_PARAMS",
      `There are ${MOST_MOCKS} mocks already. End some: mock_request with the url alone.`,
    );
  const { url = "", match } = given;
  // Refuses a broken pattern now, not at the first request.
  await matcherFor(match, url, []);
  const mock: Mock = {
    ...requestsOf(given),
    ...(answer && { answer: answerOf(answer) }),
    ...(fail && { fail: failures[fail] }),
    delayMs,
    times,
  };
  await live.mocks.add(mock);
  const how = [
    delayMs > 0 && `come ${delayMs} ms later`,
    answer && `are answered with ${answer.status}`,
    fail && `fail (${fail})`,
  ].filter(Boolean);
  return `requests to ${quoted(url)} ${how.join(" and ")}; ${mocksOf(live)}`;
}

const mocksOf = ({ mocks: { count } }: DrivenSession["live"]): string =>
  count === 1 ? "1 mock is set" : `${count} mocks are set`;

/** Throws ACTION_REJECTED where there is no such mock. */
async function removeMocks({ live }: DrivenSession, given: MockInput): Promise<string> {
  const requests = given.url === undefined ? undefined : requestsOf(given);
  const { ended, used } = await live.mocks.remove(requests);
  if (ended === 0 && requests !== undefined)
    throw new DeviceError(
      "ACTION_REJECTED",
      `No mock was set for ${quoted(requests.url)} with this match and method. To set one, give answer, fail or delay_ms.`,
    );
  return `${ended} ended after ${used} requests; ${mocksOf(live)}`;
}

const requestsOf = ({ url = "", match, method }: MockInput): MockedRequests => ({
  url,
  match,
  method: method?.toUpperCase(),
});

function answerOf({ status, body, headers }: z.output<typeof answerSchema>): MockAnswer {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  return {
    status,
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { ...(!names.includes("content-type") && { "content-type": type }), ...headers },
  };
}
