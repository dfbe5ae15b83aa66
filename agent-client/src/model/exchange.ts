import { z } from "zod";

/** One line of a recording: a request and its answer, a stream as far as it came. */
export const exchangeSchema = z.strictObject({
  request: z.strictObject({ method: z.string(), path: z.string(), body: z.unknown() }),
  response: z.strictObject({
    status: z.int().min(200).max(599),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    /** The connection ended before the answer did. */
    is_cut: z.literal(true).optional(),
  }),
});
export type Exchange = z.output<typeof exchangeSchema>;
export type Asked = Exchange["request"];

/** A request as the SDK makes it: an address, and JSON as text. */
export function askedOf(input: string | URL | Request, init: RequestInit | undefined): Asked {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : null;
  return { method: init?.method?.toUpperCase() ?? "GET", path: pathname, body };
}

/**
 * What differs between two requests, and where; undefined when they are the same. What a tool answered is not compared,
 * only whether it failed: times, handles and pictures are never the same twice. Nor is the order of keys.
 */
export function differenceOf(recorded: Asked, sent: Asked): string | undefined {
  for (const part of ["method", "path"] as const)
    if (recorded[part] !== sent[part]) return told(part, recorded[part], sent[part]);
  return firstDifference(withoutResults(recorded.body), withoutResults(sent.body), "");
}

const withoutResults = (body: unknown): unknown =>
  JSON.parse(
    JSON.stringify(body, (_key, value) =>
      value?.type === "tool_result" ? { ...value, content: undefined } : value,
    ),
  );

function firstDifference(recorded: unknown, sent: unknown, at: string): string | undefined {
  if (!isObject(recorded) || !isObject(sent))
    return Object.is(recorded, sent) ? undefined : told(at, recorded, sent);
  if (Array.isArray(recorded) !== Array.isArray(sent)) return told(at, recorded, sent);
  for (const name of new Set([...Object.keys(recorded), ...Object.keys(sent)])) {
    const found = firstDifference(recorded[name], sent[name], at === "" ? name : `${at}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const shownLetters = 160;

function told(at: string, recorded: unknown, sent: unknown): string {
  const shown = (value: unknown) => {
    const text = value === undefined ? "nothing" : JSON.stringify(value);
    return text.length > shownLetters ? `${text.slice(0, shownLetters)}…` : text;
  };
  return `${at || "body"} is ${shown(sent)}, recorded was ${shown(recorded)}`;
}
