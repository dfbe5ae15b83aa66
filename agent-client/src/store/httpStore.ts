import { z } from "zod";
import { AgentError } from "../errors.ts";
import type { AgentEvent } from "../events.ts";
import type { AgentStore, StoredMessage } from "../ports.ts";
import { agentEvent, storedMessage, storedSession, storedTask } from "./schemas.ts";
import { answerOf, type ServerReply } from "./serverError.ts";

/**
 * Asks the server, wherever it is now. `path` begins with `/server/`; a body goes as JSON. Rejects with SERVER_UNREACHABLE
 * when it does not answer. May repeat a request whose answer was lost: each of the store's bears it (a repeated claim gives
 * another task; the first is free again after its time).
 */
export type StoreRequest = (
  path: string,
  init: { method: string; body?: unknown; query?: Record<string, string> },
) => Promise<ServerReply>;

type Json = Readonly<Record<string, unknown>>;
type Ask = <T>(method: string, path: string, answer: z.ZodType<T>, given?: Given) => Promise<T>;
type Given = { body?: Json; query?: Record<string, string | number | undefined> };

const root = "/server/agent/store";
/** As much as the server gives at a time. */
const pageSize = 1_000;
const nothing = z.object({});
const held = z.object({ held: z.boolean() });

/** The store of the agents in the server's database. */
export function httpStore(request: StoreRequest): AgentStore {
  const ask = asking(request);
  return { ...conversations(ask), ...entries(ask), ...tasks(ask), ...roles(ask) };
}

/** What the configuration of the server says under `agents`, unread. */
export async function serverSettings(request: StoreRequest): Promise<Json> {
  const answer = z.object({ agents: z.record(z.string(), z.unknown()) });
  return (await asking(request)("GET", "/settings", answer)).agents;
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
      try {
        return (await ask("GET", sessionPath(id), one)).session;
      } catch (error) {
        if (error instanceof AgentError && error.code === "SESSION_NOT_FOUND") return undefined;
        throw error;
      }
    },
    deleteSession: async (id) =>
      (await ask("DELETE", sessionPath(id), z.object({ deleted: z.boolean() }))).deleted,
    hold: async (id, holder, ttl_ms) =>
      (await ask("PUT", sessionPath(id, "/hold"), held, { body: { holder, ttl_ms } })).held,
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
    messages: (id, after = 0) =>
      allPages<StoredMessage>({ after, limit: Number.POSITIVE_INFINITY }, async (query) => {
        const page = await ask("GET", sessionPath(id, "/messages"), messagePage, { query });
        return page.messages;
      }),
    events: (id, range) =>
      allPages<AgentEvent>(range, async (query) => {
        const page = await ask("GET", sessionPath(id, "/events"), eventPage, { query });
        return page.events;
      }),
  } satisfies Partial<AgentStore>;
}

/** The server gives less than was asked for where entries are large; a page without any is the end. */
async function allPages<T extends { seq: number }>(
  { after, limit }: { after: number; limit: number },
  read: (query: { after: number; limit: number }) => Promise<T[]>,
): Promise<T[]> {
  const found: T[] = [];
  while (found.length < limit) {
    const last = found.at(-1)?.seq ?? after;
    const page = await read({ after: last, limit: Math.min(pageSize, limit - found.length) });
    if ((page.at(-1)?.seq ?? last) <= last) break;
    found.push(...page);
  }
  return found;
}

function tasks(ask: Ask) {
  return {
    addTask: async (task) =>
      (await ask("POST", "/tasks", z.object({ added: z.boolean() }), { body: task })).added,
    claimTask: async (agent, holder, ttl_ms) => {
      const answer = z.object({ task: storedTask.nullable() });
      const body = { agent, holder, ttl_ms };
      return (await ask("POST", "/tasks/claims", answer, { body })).task ?? undefined;
    },
    updateTask: async (id, holder, patch) => {
      const answer = z.object({ updated: z.boolean() });
      return (await ask("PATCH", `/tasks/${id}`, answer, { body: { holder, ...patch } })).updated;
    },
    tasks: async (filter) => {
      const answer = z.object({ tasks: z.array(storedTask) });
      return (await ask("GET", "/tasks", answer, { query: filter })).tasks;
    },
  } satisfies Partial<AgentStore>;
}

function roles(ask: Ask) {
  const rolePath = (name: string) => `/roles/${encodeURIComponent(name)}`;
  return {
    holdRole: async (name, holder, ttl_ms) =>
      (await ask("PUT", rolePath(name), held, { body: { holder, ttl_ms } })).held,
    letGoRole: async (name, holder) => {
      await ask("DELETE", rolePath(name), nothing, { query: { holder } });
    },
  } satisfies Partial<AgentStore>;
}
