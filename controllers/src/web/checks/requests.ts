import type { Request } from "playwright-core";
import { z } from "zod";
import { type Check, defineCheck } from "../../contract.ts";
import { matcherFor, matchSchema } from "../../elements/match.ts";
import { nearestOf } from "../../elements/nearest.ts";
import { quoted } from "../../elements/quoted.ts";
import { absent, missing } from "../../elements/readings.ts";
import { holds as textHolds } from "../../elements/text.ts";
import { aboutIn } from "../../elements/titles.ts";
import { answerOf } from "../activity/bodies.ts";
import type { CheckSession } from "../browser/session.ts";
import { latest } from "./lookup.ts";

/** How many bodies are read, from the last request back. */
const MOST_READ = 20;
const LONGEST_URL = 1_000;

const content = z
  .union([
    z.string().min(1).max(10_000),
    z
      .record(z.string(), z.unknown())
      .refine(isExact, "a number beyond 9007199254740991 is not exact: give it as text"),
  ])
  .optional();
type Content = z.output<typeof content>;

/** A request that the page sent, its body and its answer. */
export function requestSeen(session: CheckSession): Check {
  return defineCheck({
    name: "request_seen",
    description:
      "The page sent a request, with this body and answer; the last hundred or so are known. An object is a part of the JSON",
    input: z.strictObject({
      url: z.string().min(1).max(10_000),
      match: matchSchema.default("words"),
      method: z.string().max(20).optional(),
      status: z.int().min(100).max(599).optional(),
      body: content.describe("Text in what was sent, or a part of its JSON."),
      answer: content.describe("Text in what came back, or a part of its JSON."),
    }),
    judges: ({ body, answer }) => (body === undefined && answer === undefined ? "presence" : "subject"),
    title: (_, input) => `a request was seen${aboutIn(input, "url")}`,
    async read({ url, match, method, status, body, answer }) {
      const requests = await session.page().requests();
      const isNamed = await matcherFor(
        match,
        url,
        requests.map((request) => request.url()),
      );
      const named = requests.filter(
        (request) =>
          isNamed(request.url()) && (method === undefined || request.method() === method.toUpperCase()),
      );
      const fitting =
        status === undefined
          ? named
          : named.filter((request) => request.existingResponse()?.status() === status);
      const { hit, last } = await latest(fitting.slice(-MOST_READ), async (request) => {
        const other = await otherContent(request, body, answer);
        return other && `sent: ${line(request)} with ${other}`;
      });
      const contents = [described("body", body), described("answer", answer)].filter(Boolean).join(" and ");
      const wanted = [method?.toUpperCase(), quoted(url), status].filter(Boolean).join(" ");
      const expected = `a request ${wanted} was sent${contents && `, with ${contents}`}`;
      if (hit) return { holds: true, expected, actual: `sent: ${line(hit)}` };
      if (last === undefined) {
        const reading = absent(expected, `${requests.length} requests were sent, none like it`);
        const isComing = status !== undefined && named.some(isUnderWay);
        const nearest = nearestOf(url, requests.map(line), { text: String });
        return { ...reading, ...missing(!isComing, isComing), nearest };
      }
      const isUnread = fitting.length > MOST_READ || (answer !== undefined && fitting.some(isUnderWay));
      return { holds: false, expected, actual: last, ...missing(false, isUnread) };
    },
  });
}

const isUnderWay = (request: Request): boolean =>
  request.existingResponse() === null && request.failure() === null;

/** How a request's contents differ from the wanted ones; undefined if they do not. */
async function otherContent(request: Request, body: Content, answer: Content): Promise<string | undefined> {
  const sent = body === undefined ? "" : (request.postData() ?? "");
  if (body !== undefined && !holds(body, sent)) return `body ${quoted(sent)}`;
  if (answer === undefined) return undefined;
  const came = await answerOf(request);
  if (came === undefined) return "no answer yet";
  return holds(answer, came) ? undefined : `answer ${quoted(came)}`;
}

const described = (what: string, wanted: Content): string =>
  wanted === undefined
    ? ""
    : `${what} ${quoted(typeof wanted === "string" ? wanted : JSON.stringify(wanted))}`;

function holds(wanted: Exclude<Content, undefined>, found: string): boolean {
  if (typeof wanted === "string") return textHolds({ match: "words", text: wanted }, found);
  try {
    return isPart(wanted, JSON.parse(found));
  } catch {
    return false;
  }
}

/** Has no integer that a double cannot hold. */
function isExact(value: unknown): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isExact);
}

/** `found` has every member of `wanted`; lists have the same length and order. */
function isPart(wanted: unknown, found: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(found) &&
      wanted.length === found.length &&
      wanted.every((one, at) => isPart(one, found[at]))
    );
  }
  if (typeof wanted !== "object" || wanted === null) return wanted === found;
  if (typeof found !== "object" || found === null || Array.isArray(found)) return false;
  const members = new Map(Object.entries(found));
  return Object.entries(wanted).every(([key, value]) => members.has(key) && isPart(value, members.get(key)));
}

const cut = (url: string): string =>
  url.length > LONGEST_URL ? `${url.slice(0, LONGEST_URL)} … ${url.length - LONGEST_URL} more` : url;

function line(request: Request): string {
  const status = request.existingResponse()?.status();
  return `${request.method()} ${cut(request.url())}${status === undefined ? "" : ` ${status}`}`;
}
