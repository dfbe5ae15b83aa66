import { appendFileSync, chmodSync } from "node:fs";
import { AgentError } from "../errors.ts";

/** One line of a recording: a request and its answer, a stream as far as it came. */
export type Exchange = {
  request: { method: string; path: string; body: unknown };
  response: {
    status: number;
    headers: Record<string, string>;
    body: string;
    /** The connection ended before the answer did. */
    is_cut?: true | undefined;
  };
};

type Fetch = typeof globalThis.fetch;

/** What of an answer's headers says something to a client; none of them is secret. */
const keptHeaders = ["content-type", "request-id", "retry-after", "retry-after-ms", "x-should-retry"];

/**
 * A fetch that appends every exchange to `file` as one line of JSON, mode 0600, and passes it on untouched. A line is
 * written when its answer has ended, before the client hears of the end. No header of a request is written, and its key
 * nowhere. What failed before there was an answer is not in it. Throws CONFIG_INVALID when the file cannot be written.
 */
export function recordingFetch(file: string, fetch: Fetch): Fetch {
  try {
    appendFileSync(file, "", { mode: 0o600 });
    chmodSync(file, 0o600);
  } catch (error) {
    const hint = "Name a file in a folder that exists and may be written.";
    throw new AgentError("CONFIG_INVALID", `Cannot record to ${file}: ${String(error)}`, hint);
  }
  return async (input, init) => {
    const request = askedOf(input, init);
    const answer = await fetch(input, init);
    const { status } = answer;
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => keptHeaders.includes(name)));
    const write = (body: string, isCut: boolean) => {
      const response = { status, headers, body, ...(isCut && { is_cut: true as const }) };
      const exchange: Exchange = { request, response };
      appendFileSync(file, `${withoutKey(JSON.stringify(exchange), init)}\n`);
    };
    if (answer.body !== null) return new Response(answer.body.pipeThrough(copying(write)), answer);
    write("", false);
    return answer;
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

/** A line without the key that its request carried: an endpoint may repeat it in what it answers. */
function withoutKey(line: string, init: RequestInit | undefined): string {
  const headers = new Headers(init?.headers);
  const bearer = headers.get("authorization")?.replace(/^Bearer /i, "");
  const keys = [bearer, headers.get("x-api-key")].flatMap((key) => (key ? [key] : []));
  return keys.reduce((rest, key) => rest.replaceAll(JSON.stringify(key).slice(1, -1), "***"), line);
}

/** A request as the SDK makes it: an address, and JSON as text. */
export function askedOf(input: string | URL | Request, init: RequestInit | undefined): Exchange["request"] {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : null;
  return { method: init?.method?.toUpperCase() ?? "GET", path: pathname, body };
}
