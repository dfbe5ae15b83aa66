import { z } from "zod";
import type { AgentStore } from "../ports.ts";
import { type Settings, settingsSchema } from "../settings.ts";
import { agentEvent, storedMessage, storedSession } from "./schemas.ts";
import { answerOf, type ServerReply } from "./serverError.ts";

/**
 * Asks the server, wherever it is now. `path` begins with `/server/`; a body goes as JSON. Rejects with SERVER_UNREACHABLE
 * when it does not answer. May repeat a request whose answer was lost: each of the store's bears it.
 */
export type StoreRequest = (
  path: string,
  init: { method: string; body?: unknown; query?: Record<string, string> },
) => Promise<ServerReply>;

type Json = Readonly<Record<string, unknown>>;
type Ask = <T>(method: string, path: string, answer: z.ZodType<T>, given?: Given) => Promise<T>;
type Given = { body?: Json; query?: Record<string, string | number | undefined> };

const root = "/server/agent/store";
const nothing = z.object({});
const held = z.object({ held: z.object({ session: storedSession, is_changed: z.boolean() }).nullable() });

/** The conversations in the server's database. */
export function httpStore(request: StoreRequest): AgentStore {
  const ask = asking(request);
  return { ...conversations(ask), ...entries(ask) };
}

/** What the configuration of the server says of the models and the agents. */
export async function serverSettings(request: StoreRequest): Promise<Settings> {
  return (await asking(request)("GET", "/settings", z.object({ agents: settingsSchema }))).agents;
}

function asking(request: StoreRequest): Ask {
  return async (method, path, answer, { body, query = {} } = {}) => {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    );
    const reply = await request(`${root}${path}`, {
      method,
      ...(body && { body }),
      ...(given.length > 0 && { query: Object.fromEntries(given) }),
    });
    return answerOf(answer, reply);
  };
}

const sessionPath = (id: string, rest = "") => `/sessions/${encodeURIComponent(id)}${rest}`;

function conversations(ask: Ask) {
  const one = z.object({ session: storedSession });
  return {
    createSession: async (session) => (await ask("POST", "/sessions", one, { body: session })).session,
    sessions: async (filter) => {
      const answer = z.object({ sessions: z.array(storedSession) });
      return (await ask("GET", "/sessions", answer, { query: filter })).sessions;
    },
    findSession: async (id) => {
      const found = z.object({ session: storedSession.nullable() });
      return (await ask("GET", sessionPath(id), found)).session ?? undefined;
    },
    deleteSession: async (id) =>
      (await ask("DELETE", sessionPath(id), z.object({ deleted: z.boolean() }))).deleted,
    hold: async (id, holder, ttl_ms) =>
      (await ask("PUT", sessionPath(id, "/hold"), held, { body: { holder, ttl_ms } })).held ?? undefined,
    letGo: async (id, holder) => {
      await ask("DELETE", sessionPath(id, "/hold"), nothing, { query: { holder } });
    },
  } satisfies Partial<AgentStore>;
}

function entries(ask: Ask) {
  const messagePage = z.object({ messages: z.array(storedMessage) });
  const eventPage = z.object({ events: z.array(agentEvent) });
  return {
    append: async (id, holder, given) => {
      await ask("POST", sessionPath(id, "/entries"), nothing, { body: { holder, ...given } });
    },
    messages: async (id, query) =>
      (await ask("GET", sessionPath(id, "/messages"), messagePage, { query })).messages,
    events: async (id, query) => (await ask("GET", sessionPath(id, "/events"), eventPage, { query })).events,
  } satisfies Partial<AgentStore>;
}
