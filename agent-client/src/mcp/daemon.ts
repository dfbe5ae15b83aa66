import { AgentError } from "../errors.ts";
import { inAttempts } from "./inAttempts.ts";

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
  /** Addressed and authorised; rejects when the connection breaks. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** As `fetch` for what may be repeated: asked again, of a new daemon, when the one before went away. */
  request(
    path: string,
    init: { method: string; body?: unknown; query?: Record<string, string> },
  ): Promise<{ status: number; body: unknown }>;
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
    return opening.catch((error: unknown) => {
      throw error instanceof AgentError ? error : unreachable(messageOf(error));
    });
  }

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const { url, headers } = await attachment();
    return fetch(new URL(path, url), {
      ...init,
      headers: { ...headers, ...Object.fromEntries(new Headers(init.headers)) },
    });
  }

  const repeated = (ask: () => Promise<Response>): Promise<Response> =>
    inAttempts(ask, {
      left: maxAttempts,
      pauseMs,
      may: (error) => !(error instanceof AgentError || isClosed),
    }).catch((error: unknown) => {
      throw error instanceof AgentError ? error : unreachable(messageOf(error));
    });

  return {
    attachment,
    fetch: send,
    async request(path, { method, body, query }) {
      const search = query ? `?${new URLSearchParams(query)}` : "";
      const response = await repeated(() => send(`${path}${search}`, { method, ...withJson(body) }));
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

const withJson = (body: unknown): RequestInit =>
  body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const unreachable = (why: string) =>
  new AgentError(
    "SERVER_UNREACHABLE",
    `The Labwright server cannot be reached: ${why}`,
    "`labwright status` says whether it runs, `labwright doctor` what is missing.",
  );
