import { setTimeout as pause } from "node:timers/promises";
import { AgentError } from "../errors.ts";
import type { StoreRequest } from "../store/httpStore.ts";

/** A living daemon, and the way to be known there: what this client holds is given back when `close` or its death ends it. */
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

const maxAttempts = 3;
const pauseMs = 200;

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
    return opening.catch(toldUnreachable);
  }

  async function send(path: string, init: RequestInit): Promise<Response> {
    const { url, headers } = await attachment();
    return fetch(new URL(path, url), {
      ...init,
      headers: { ...headers, "content-type": "application/json" },
    });
  }

  return {
    attachment,
    async request(path, { method, body, query }) {
      const search = query ? `?${new URLSearchParams(query)}` : "";
      const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await inAttempts(() => send(`${path}${search}`, init), {
        left: maxAttempts,
        pauseMs,
        may: (error) => !(error instanceof AgentError || isClosed),
      }).catch(toldUnreachable);
      return { status: response.status, body: await response.json().catch(() => undefined) };
    },
    close() {
      isClosed = true;
      current?.then(
        (open) => open.close(),
        () => {},
      );
      current = undefined;
    },
  };
}

/** Runs it again while `may` says so, `left` times in all, waiting twice as long each time. */
export async function inAttempts<T>(
  run: () => Promise<T>,
  given: { left: number; pauseMs: number; may(error: unknown): boolean },
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (given.left <= 1 || !given.may(error)) throw error;
    await pause(given.pauseMs);
    return inAttempts(run, { ...given, left: given.left - 1, pauseMs: 2 * given.pauseMs });
  }
}

function toldUnreachable(error: unknown): never {
  throw error instanceof AgentError
    ? error
    : unreachable(error instanceof Error ? error.message : String(error));
}

const unreachable = (why: string) =>
  new AgentError(
    "SERVER_UNREACHABLE",
    `The Labwright server cannot be reached: ${why}`,
    "`labwright status` says whether it runs, `labwright doctor` what is missing.",
  );
