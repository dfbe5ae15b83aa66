import { z } from "zod";
import { AgentError } from "../errors.ts";
import type { Clock, LabEvent, LabFeed } from "../ports.ts";
import { eventData, unlessSilent } from "./eventStream.ts";
import { labEvent } from "./schemas.ts";
import { answerOf, type ServerReply, serverError } from "./serverError.ts";

export type FeedOptions = {
  /** Asks the server, wherever it is now, with its token. `path` begins with `/server/`. Must pass the signal on. */
  fetch(
    path: string,
    init: { method: string; headers: Record<string, string>; body?: string; signal?: AbortSignal },
  ): Promise<Response>;
  clock: Clock;
  /** Hears why a stream broke; it is opened again after `retry_ms`. */
  onBroken?(error: unknown, retry_ms: number): void;
};

const root = "/server/events";
const firstRetryMs = 250;
const lastRetryMs = 10_000;

/** The server's feed of events over HTTP. */
export function httpFeed(options: FeedOptions): LabFeed {
  const cursor = async (consumer: string, put?: { after: number }): Promise<number> => {
    const response = await options.fetch(`${root}/cursors/${encodeURIComponent(consumer)}`, {
      method: put ? "PUT" : "GET",
      headers: { accept: "application/json", ...(put && { "content-type": "application/json" }) },
      ...(put && { body: JSON.stringify(put) }),
    });
    return answerOf(z.object({ after: z.int() }), await replyOf(response)).after;
  };
  return {
    cursor: (consumer) => cursor(consumer),
    async done(consumer, id) {
      await cursor(consumer, { after: id });
    },
    follow: (after, signal) => follow(options, after, signal),
  };
}

async function* follow(options: FeedOptions, after: number, signal: AbortSignal): AsyncGenerator<LabEvent> {
  const place = { last: after };
  let retryMs = firstRetryMs;
  const onAlive = () => {
    retryMs = firstRetryMs;
  };
  while (!signal.aborted) {
    const broken = yield* untilItEnds(options, place, { signal, onAlive });
    if (signal.aborted) return;
    if (broken !== undefined) options.onBroken?.(broken, retryMs);
    // A stream that only ended is opened again by the same rule: a server that is leaving ends it.
    await options.clock.sleep(retryMs, signal).catch(() => {});
    retryMs = Math.min(2 * retryMs, lastRetryMs);
  }
}

type Watch = { signal: AbortSignal; onAlive(): void };

/** Moves `place` on. Returns what broke the stream, if anything did; throws what asking again does not mend. */
async function* untilItEnds(
  options: FeedOptions,
  place: { last: number },
  watch: Watch,
): AsyncGenerator<LabEvent, unknown> {
  try {
    for await (const event of stream(options, place.last, watch)) {
      if (watch.signal.aborted) return undefined;
      if (event.id <= place.last) continue;
      place.last = event.id;
      yield event;
    }
    return undefined;
  } catch (error) {
    if (isOurs(error)) throw error;
    return error;
  }
}

async function* stream(
  { fetch, clock }: FeedOptions,
  after: number,
  { signal, onAlive }: Watch,
): AsyncGenerator<LabEvent> {
  // Ends the request also when its reader goes away between two events.
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const asked = fetch(`${root}?after=${after}`, {
      method: "GET",
      headers: { accept: "text/event-stream" },
      signal: own.signal,
    });
    const response = await unlessSilent(asked, clock);
    if (!response.ok || response.body === null) throw refusal(await replyOf(response));
    for await (const data of eventData(response.body, { clock, signal: own.signal, onAlive }))
      yield read(data);
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** What is not in the feed's form is a fault to be seen: to leave it out would be to lose an event. */
function read(data: string): LabEvent {
  return answerOf(labEvent, { status: 200, body: parsed(data) });
}

/** A server that fails (its database restarts) may serve the next time. */
function refusal(reply: ServerReply): Error {
  const error = serverError(reply);
  return reply.status >= 500 ? new Error(error.message) : error;
}

/** Not mended by asking again. */
const isOurs = (error: unknown) =>
  error instanceof AgentError && (error.code === "INVALID_INPUT" || error.code === "INTERNAL");

const replyOf = async (response: Response) => ({
  status: response.status,
  body: parsed(await response.text()),
});

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
