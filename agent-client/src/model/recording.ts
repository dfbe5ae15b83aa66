import { closeSync, fchmodSync, openSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { AgentError } from "../errors.ts";
import { askedOf, differenceOf, type Exchange, exchangeSchema } from "./exchange.ts";

type Fetch = typeof globalThis.fetch;

/** What of an answer's headers says something to a client; none of them is secret. */
const keptHeaders = ["content-type", "request-id", "retry-after", "retry-after-ms", "x-should-retry"];

/**
 * A fetch that appends every exchange to `file` as one line of JSON, mode 0600, and passes it on untouched. A line is
 * written when its answer has ended, before the client hears of the end. No header of a request is written, and its key
 * nowhere. What failed before there was an answer is not in it. Throws CONFIG_INVALID when the file cannot be written.
 */
export function recordingFetch(file: string, fetch: Fetch): Fetch {
  prepare(file);
  return async (input, init) => {
    const request = askedOf(input, init);
    const secrets = secretsOf(init);
    const response = await fetch(input, init);
    const { status, statusText } = response;
    const headers = keptOf(response.headers);
    const write = (answer: Pick<Exchange["response"], "body" | "sse" | "is_cut">) => {
      const exchange: Exchange = {
        at: new Date().toISOString(),
        request,
        response: { status, headers, ...answer },
      };
      return append(file, without(JSON.stringify(exchange), secrets));
    };
    const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
    if (isStream && response.body !== null) {
      const body = copied(response.body, (sse, isCut) => write({ sse, ...(isCut && { is_cut: true }) }));
      return new Response(body, { status, statusText, headers: response.headers });
    }
    const body = await response.text();
    await write({ body });
    return new Response(body || null, { status, statusText, headers: response.headers });
  };
}

const keptOf = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => keptHeaders.includes(name)));

/** The same bytes as they come; `write` gets their text once: when they end, break off or are not wanted any more. */
function copied(
  body: ReadableStream<Uint8Array>,
  write: (text: string, isCut: boolean) => Promise<void>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let isOver = false;
  const end = async (isCut: boolean) => {
    if (isOver) return;
    isOver = true;
    await write(text, isCut);
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(async (error: unknown) => {
        await end(true);
        throw error;
      });
      if (isOver) return;
      if (!done) {
        text += decoder.decode(value, { stream: true });
        return controller.enqueue(value);
      }
      await end(false);
      controller.close();
    },
    async cancel(reason) {
      await end(true);
      await reader.cancel(reason);
    },
  });
}

/**
 * A fetch that answers from `file`, one line after the other, with no network. A request that is not the recorded one is
 * refused as the API refuses: status 400, with the line and what differs; the line then still waits for its request. A
 * `retry-after` is not waited for. Throws CONFIG_INVALID when the file cannot be read.
 */
export function replayingFetch(file: string): Fetch {
  const exchanges = readExchanges(file);
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

function replayed({ status, headers, body, sse, is_cut }: Exchange["response"]): Response {
  const bytes = new TextEncoder().encode(sse ?? body ?? "");
  const { "retry-after": waited, ...rest } = headers;
  const shown = waited === undefined ? rest : { ...rest, "retry-after-ms": "1" };
  if (is_cut !== true) return new Response(bytes.length > 0 ? bytes : null, { status, headers: shown });
  let isSent = false;
  const broken = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (isSent) return controller.error(new TypeError("the recorded answer breaks off here"));
      isSent = true;
      controller.enqueue(bytes);
    },
  });
  return new Response(broken, { status, headers: shown });
}

const refused = (message: string): Response =>
  Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });

function readExchanges(file: string): Exchange[] {
  const lines = reading(file, () => readFileSync(file, "utf8"))
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line, index) => reading(file, () => exchangeSchema.parse(JSON.parse(line)), index + 1));
}

function reading<T>(file: string, read: () => T, line?: number): T {
  try {
    return read();
  } catch (error) {
    const where = line === undefined ? file : `line ${line} of ${file}`;
    const why =
      error instanceof SyntaxError || line === undefined ? String(error) : "it is no recorded exchange";
    throw new AgentError("CONFIG_INVALID", `Cannot replay ${where}: ${why}`, "Record it with --record FILE.");
  }
}

function prepare(file: string): void {
  try {
    const handle = openSync(file, "a", 0o600);
    fchmodSync(handle, 0o600);
    closeSync(handle);
  } catch (error) {
    const hint = "Name a file in a folder that exists and may be written.";
    throw new AgentError("CONFIG_INVALID", `Cannot record to ${file}: ${String(error)}`, hint);
  }
}

async function append(file: string, line: string): Promise<void> {
  const handle = await open(file, "a", 0o600);
  try {
    await handle.appendFile(`${line}\n`);
  } finally {
    await handle.close();
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
