import { appendFileSync, chmodSync, readFileSync } from "node:fs";
import { z } from "zod";
import { AgentError } from "../errors.ts";

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
type Exchange = z.output<typeof exchangeSchema>;
type Asked = Exchange["request"];

type Fetch = typeof globalThis.fetch;

/** What of an answer's headers says something to a client; none of them is secret. */
const keptHeaders = ["content-type", "request-id", "retry-after", "retry-after-ms", "x-should-retry"];

/**
 * A fetch that appends every exchange to `file` as one line of JSON, mode 0600, and passes it on untouched. A line is
 * written when its answer has ended, before the client hears of the end. No header of a request is written, and its key
 * nowhere. What failed before there was an answer is not in it. Throws CONFIG_INVALID when the file cannot be written.
 */
export function recordingFetch(file: string, fetch: Fetch): Fetch {
  orInvalid(`record to ${file}`, "Name a file in a folder that exists and may be written.", () => {
    appendFileSync(file, "", { mode: 0o600 });
    chmodSync(file, 0o600);
  });
  return async (input, init) => {
    const request = askedOf(input, init);
    const response = await fetch(input, init);
    const headers = Object.fromEntries([...response.headers].filter(([name]) => keptHeaders.includes(name)));
    const write = (body: string, isCut: boolean) => {
      const { status } = response;
      const exchange: Exchange = {
        request,
        response: { status, headers, body, ...(isCut && { is_cut: true }) },
      };
      appendFileSync(file, `${without(JSON.stringify(exchange), secretsOf(init))}\n`);
    };
    if (response.body !== null) return new Response(response.body.pipeThrough(copying(write)), response);
    write("", false);
    return response;
  };
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Passes bytes on as they come. `write` gets their text once: when they end, break off or are not wanted any more. */
function copying(write: (text: string, isCut: boolean) => void): TransformStream<Bytes, Bytes> {
  const decoder = new TextDecoder();
  let text = "";
  // `cancel` is in the standard and in Node since 20.14, not yet in the types.
  const transformer = {
    transform(chunk: Bytes, controller: { enqueue(chunk: Bytes): void }) {
      text += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
    flush: () => write(text, false),
    cancel: () => write(text, true),
  };
  return new TransformStream(transformer);
}

/**
 * A fetch that answers from `file`, one line after the other, with no network. A request that is not the recorded one is
 * refused as the API refuses: status 400, with the line and what differs; the line then still waits for its request. A
 * `retry-after` is not waited for. Throws CONFIG_INVALID when the file cannot be read.
 */
export function replayingFetch(file: string): Fetch {
  const lines = orInvalid(`replay ${file}`, recordIt, () => readFileSync(file, "utf8")).split("\n");
  const exchanges = lines
    .filter((line) => line !== "")
    .map((line, index) =>
      orInvalid(`replay line ${index + 1} of ${file}`, recordIt, () =>
        exchangeSchema.parse(JSON.parse(line)),
      ),
    );
  let next = 0;
  return async (input, init) => {
    init?.signal?.throwIfAborted();
    const asked = askedOf(input, init);
    const exchange = exchanges[next];
    if (exchange === undefined)
      return refused(`${file} has ${exchanges.length} exchanges, and one more was asked for.`);
    const difference = differenceOf(exchange.request, asked);
    if (difference !== undefined)
      return refused(`Line ${next + 1} of ${file} is another request: ${difference}.`);
    next++;
    return replayed(exchange.response);
  };
}

function replayed({ status, headers, body, is_cut }: Exchange["response"]): Response {
  const { "retry-after": waited, ...rest } = headers;
  const shown = waited === undefined ? rest : { ...rest, "retry-after-ms": "1" };
  if (is_cut !== true) return new Response(body || null, { status, headers: shown });
  const pieces = async function* () {
    yield new TextEncoder().encode(body);
    throw new TypeError("the recorded answer breaks off here");
  };
  return new Response(ReadableStream.from(pieces()), { status, headers: shown });
}

const refused = (message: string): Response =>
  Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });

const recordIt = "Record it with --record FILE.";

function orInvalid<T>(what: string, hint: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new AgentError("CONFIG_INVALID", `Cannot ${what}: ${String(error)}`, hint);
  }
}

/** The key as a request carries it: an endpoint may repeat it in what it answers. */
function secretsOf(init: RequestInit | undefined): string[] {
  const headers = new Headers(init?.headers);
  const bearer = headers.get("authorization")?.replace(/^Bearer /i, "");
  return [bearer, headers.get("x-api-key")].flatMap((key) => (key ? [key] : []));
}

const without = (line: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(JSON.stringify(secret).slice(1, -1), "***"), line);

/** A request as the SDK makes it: an address, and JSON as text. */
function askedOf(input: string | URL | Request, init: RequestInit | undefined): Asked {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : null;
  return { method: init?.method?.toUpperCase() ?? "GET", path: pathname, body };
}

/**
 * What differs between two requests, and where; undefined when they are the same. What a tool answered is not compared,
 * only whether it failed: times, handles and pictures are never the same twice. Nor is the order of keys.
 */
const differenceOf = (recorded: Asked, sent: Asked): string | undefined =>
  firstDifference(compared(recorded), compared(sent), "");

function compared({ body, ...asked }: Asked): unknown {
  const text = JSON.stringify(body, (_key, value) =>
    value?.type === "tool_result" ? { ...value, content: undefined } : value,
  );
  return { ...asked, ...JSON.parse(text) };
}

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
