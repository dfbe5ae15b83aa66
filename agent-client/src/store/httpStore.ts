import { z } from "zod";
import { AgentError, type AgentErrorCode } from "../errors.ts";
import type { AgentStore } from "../ports.ts";
import type { MessageLog } from "../roles/desk.ts";
import type { Policy } from "../roles/policy.ts";
import { type Settings, settingsSchema } from "../settings.ts";
import { agentEvent, storedMessage, storedSession } from "./schemas.ts";

/** A reply of the server; `body` is parsed JSON, or undefined. */
export type ServerReply = { status: number; body: unknown };

/** Asks the server; may repeat a request whose answer was lost. Rejects with SERVER_UNREACHABLE without an answer. */
export type StoreRequest = (path: string, init: { method: string; body?: unknown }) => Promise<ServerReply>;

type Sent = { body?: unknown; query?: Record<string, string | number | undefined> };
type Ask = <T>(method: string, path: string, answer: z.ZodType<T>, sent?: Sent) => Promise<T>;

/** The conversations in the server's database. */
export function httpStore(request: StoreRequest): AgentStore {
  const ask = storeRoutes(request);
  const pathOf = (id: string, rest = "") => `/sessions/${encodeURIComponent(id)}${rest}`;
  return {
    createSession: async (session) =>
      (await ask("POST", "/sessions", answers.session, { body: session })).session,
    sessions: async (query) => (await ask("GET", "/sessions", answers.sessions, { query })).sessions,
    findSession: async (id) => (await ask("GET", pathOf(id), answers.found)).session ?? undefined,
    deleteSession: async (id) => (await ask("DELETE", pathOf(id), answers.deleted)).deleted,
    async append(id, holder, entries) {
      await ask("POST", pathOf(id, "/entries"), answers.nothing, { body: { holder, ...entries } });
    },
    messages: async (id, query) =>
      (await ask("GET", pathOf(id, "/messages"), answers.messages, { query })).messages,
    events: async (id, query) => (await ask("GET", pathOf(id, "/events"), answers.events, { query })).events,
    async hold(id, holder, ttl_ms) {
      const { held } = await ask("PUT", pathOf(id, "/hold"), answers.held, { body: { holder, ttl_ms } });
      return held ?? undefined;
    },
    async letGo(id, holder) {
      await ask("DELETE", pathOf(id, "/hold"), answers.nothing, { query: { holder } });
    },
  };
}

const answers = {
  nothing: z.object({}),
  session: z.object({ session: storedSession }),
  sessions: z.object({ sessions: z.array(storedSession) }),
  found: z.object({ session: storedSession.nullable() }),
  deleted: z.object({ deleted: z.boolean() }),
  messages: z.object({ messages: z.array(storedMessage) }),
  events: z.object({ events: z.array(agentEvent) }),
  held: z.object({ held: z.object({ session: storedSession, is_changed: z.boolean() }).nullable() }),
};

const denialSchema = z.object({ denial: z.object({ message: z.string(), hint: z.string() }).nullable() });

/** Messages between roles in the server's database. */
export function httpMessages(request: StoreRequest): MessageLog {
  const ask = storeRoutes(request);
  return {
    async add(message) {
      await ask("POST", "/role-messages", answers.nothing, { body: message });
    },
  };
}

/** The server's judgement of what a run may do to production and with personal data. */
export function httpPolicy(request: StoreRequest): Policy {
  const ask = storeRoutes(request);
  return {
    judge: async (asked) => (await ask("POST", "/policy", denialSchema, { body: asked })).denial ?? undefined,
  };
}

/** What the configuration of the server says of the models and the agents. */
export async function serverSettings(request: StoreRequest): Promise<Settings> {
  return (await storeRoutes(request)("GET", "/settings", z.object({ agents: settingsSchema }))).agents;
}

/** Asks the store's routes. Throws an AgentError for an error reply and for an answer that does not fit its schema. */
export function storeRoutes(request: StoreRequest): Ask {
  return async (method, path, answer, { body, query = {} } = {}) => {
    const known = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(known.map(([name, value]): [string, string] => [name, String(value)]));
    const reply = await request(`/server/agent/store${path}?${search}`, { method, body });
    if (reply.status >= 300) throw serverError(reply);
    const { data, error } = answer.safeParse(reply.body);
    if (!error) return data;
    const [issue] = error.issues;
    throw new AgentError(
      "INTERNAL",
      `The server answered in a form of its own: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}.`,
      "Use an agent client and a server of the same build.",
    );
  };
}

const errorSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    hint: z.string().default(""),
    details: z.record(z.string(), z.unknown()).default({}),
  }),
});

/** An error reply as an AgentError: the server's words, and a code that callers of an agent know. */
function serverError({ status, body }: ServerReply): AgentError {
  const reported = errorSchema.safeParse(body).data?.error;
  const message = reported?.message ?? `The server answered with HTTP status ${status}.`;
  const hint = reported?.hint || "Check that the server runs, and see its log.";
  return new AgentError(codeOf(status, reported?.code), message, hint, reported?.details);
}

function codeOf(status: number, code?: string): AgentErrorCode {
  if (code === "SESSION_BUSY" || code === "SESSION_NOT_FOUND") return code;
  if (status === 413) return "INPUT_TOO_LARGE";
  // The server does not take this client for its own: for its callers it is not there.
  if ([401, 403, 502, 503, 504].includes(status)) return "SERVER_UNREACHABLE";
  return status >= 500 || status === 404 ? "INTERNAL" : "INVALID_INPUT";
}
