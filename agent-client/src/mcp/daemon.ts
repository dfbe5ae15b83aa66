import { setTimeout as pause } from "node:timers/promises";
import { AgentError } from "../errors.ts";
import type { StoreRequest } from "../store/httpStore.ts";

/** A living daemon, and how this client is known there. `close` gives back what this client holds. */
export type Attachment = {
  url: URL;
  headers: Readonly<Record<string, string>>;
  lost: AbortSignal;
  close(): void;
};

/** Finds the daemon, or starts it. */
export type Attach = () => Promise<Attachment>;

export type Daemon = {
  /** The one that lives; another one when the one before died. Throws SERVER_UNREACHABLE. */
  attachment(): Promise<Attachment>;
  /** For what may be repeated: asked again, of a new daemon, when the one before went away. */
  request: StoreRequest;
  close(): void;
};

/** Keeps one attachment and replaces it when it is lost. */
export function createDaemon(attach: Attach): Daemon {
  let current: Promise<Attachment> | undefined;
  let isClosed = false;

  function attachment(): Promise<Attachment> {
    if (isClosed) return Promise.reject(unreachable("this client is closed"));
    if (current) return current;
    const opening = attach();
    current = opening;
    const forget = () => {
      if (current === opening) current = undefined;
    };
    opening.then(({ lost }) => lost.addEventListener("abort", forget), forget);
    return opening.catch(throwUnreachable);
  }

  return {
    attachment,
    async request(path, { method, body }) {
      const send = async () => {
        const { url, headers } = await attachment();
        return fetch(new URL(path, url), {
          method,
          headers: { ...headers, "content-type": "application/json" },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
      };
      const mayRetry = (error: unknown) => !(error instanceof AgentError || isClosed);
      const response = await withRetries(send, mayRetry).catch(throwUnreachable);
      return { status: response.status, body: await response.json().catch(() => undefined) };
    },
    close() {
      isClosed = true;
      current?.then((open) => open.close()).catch(() => {});
      current = undefined;
    },
  };
}

/** Runs it up to three times, while `mayRetry` says so of its error. */
export async function withRetries<T>(
  run: () => Promise<T>,
  mayRetry: (error: unknown) => boolean,
): Promise<T> {
  for (const pauseMs of [200, 400]) {
    try {
      return await run();
    } catch (error) {
      if (!mayRetry(error)) throw error;
    }
    await pause(pauseMs);
  }
  return run();
}

function throwUnreachable(error: unknown): never {
  if (error instanceof AgentError) throw error;
  throw unreachable(error instanceof Error ? error.message : String(error));
}

const unreachable = (why: string) =>
  new AgentError(
    "SERVER_UNREACHABLE",
    `The Labwright server cannot be reached: ${why}`,
    "`labwright status` says whether it runs, `labwright doctor` what is missing.",
  );
