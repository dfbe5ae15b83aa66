import { AgentError } from "../errors.ts";
import type { AgentEvent } from "../events.ts";
import type { AgentStore, Clock, StoredMessage, StoredSession } from "../ports.ts";
import { checkConversationId, checkNames, checkSize, invalid, limits } from "./limits.ts";
import { createHolds, type Holds } from "./memoryHolds.ts";
import { memoryTasks } from "./memoryTasks.ts";

/** What a conversation of the memory has. Entries by their seq. */
type Kept = {
  session: StoredSession;
  messages: Map<number, StoredMessage>;
  events: Map<number, AgentEvent>;
};

/** A store that ends with its process, with the rules of the server's. For tests and for measuring. */
export function memoryStore(clock: Pick<Clock, "now">): AgentStore {
  const roles = createHolds(clock);
  return {
    ...memoryConversations(clock),
    ...memoryTasks(clock),
    async holdRole(name, holder, ttl_ms) {
      checkNames(name, holder);
      return roles.hold(name, holder, ttl_ms);
    },
    async letGoRole(name, holder) {
      roles.letGo(name, holder);
    },
  };
}

function memoryConversations(clock: Pick<Clock, "now">) {
  const kept = new Map<string, Kept>();
  const holds = createHolds(clock);
  const now = () => new Date(clock.now()).toISOString();
  const get = (id: string): Kept => {
    const found = kept.get(id);
    if (found) return found;
    throw new AgentError(
      "SESSION_NOT_FOUND",
      `There is no conversation "${id}".`,
      "List the conversations for their ids.",
    );
  };
  return {
    async createSession(given) {
      checkConversationId(given.id);
      checkNames(given.agent, given.owner);
      const there = kept.get(given.id)?.session;
      if (there === undefined) {
        const session = newSession(given, now());
        kept.set(given.id, { session, messages: new Map(), events: new Map() });
        return structuredClone(session);
      }
      if (there.agent === given.agent && there.owner === given.owner) return structuredClone(there);
      throw invalid(`There is a conversation "${given.id}" of another agent or owner already.`);
    },
    async sessions({ owner, limit }) {
      const meant = [...kept.values()].filter(
        ({ session }) => owner === undefined || session.owner === owner,
      );
      return meant
        .sort(newestFirst)
        .slice(0, limit)
        .map(({ session }) => structuredClone(session));
    },
    async findSession(id) {
      return structuredClone(kept.get(id)?.session);
    },
    async deleteSession(id) {
      holds.forget(id);
      return kept.delete(id);
    },
    async hold(id, holder, ttl_ms) {
      get(id);
      checkNames(holder);
      return holds.hold(id, holder, ttl_ms);
    },
    async letGo(id, holder) {
      holds.letGo(id, holder);
    },
    ...memoryEntries({ get, now, holds }),
  } satisfies Partial<AgentStore>;
}

function memoryEntries({ get, now, holds }: { get(id: string): Kept; now(): string; holds: Holds }) {
  return {
    async append(id, holder, { messages = [], events = [], patch = {} }) {
      checkNames(holder);
      for (const { seq, message } of messages) checkSize(`message ${seq}`, message, limits.message);
      for (const event of events) checkSize(`event ${event.seq}`, event, limits.event);
      const foreign = events.find(({ session_id }) => session_id !== id);
      if (foreign) throw invalid(`event ${foreign.seq} is of the conversation "${foreign.session_id}"`);
      const { session, ...entries } = get(id);
      if (!holds.mayAct(id, holder))
        throw new AgentError(
          "SESSION_BUSY",
          `Another program goes on with the conversation "${id}" now.`,
          "Wait until it has ended, or end it there.",
        );
      const added = addNew(entries.messages, messages) + addNew(entries.events, events);
      const isRepeated = added === 0 && messages.length + events.length > 0;
      if (!isRepeated) Object.assign(session, structuredClone(patch), { updated_at: now() });
    },
    async messages(id, after = 0) {
      return inOrder(get(id).messages).filter(({ seq }) => seq > after);
    },
    async events(id, { after, limit }) {
      const all = inOrder(get(id).events);
      return all.filter(({ seq }) => seq > after).slice(0, limit);
    },
  } satisfies Partial<AgentStore>;
}

/** How many were not there. */
function addNew<T extends { seq: number }>(into: Map<number, T>, given: readonly T[]): number {
  const fresh = given.filter(({ seq }) => !into.has(seq));
  for (const entry of fresh) into.set(entry.seq, structuredClone(entry));
  return fresh.length;
}

const inOrder = <T extends { seq: number }>(entries: ReadonlyMap<number, T>): T[] =>
  [...entries.values()].sort((a, b) => a.seq - b.seq).map((entry) => structuredClone(entry));

const newestFirst = (a: Kept, b: Kept) =>
  b.session.created_at.localeCompare(a.session.created_at) || b.session.id.localeCompare(a.session.id);

const newSession = (
  { id, agent, owner, title }: Pick<StoredSession, "id" | "agent" | "owner" | "title">,
  at: string,
): StoredSession => ({
  ...{ id, agent, owner, title, skill: null },
  usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  ...{ cost_usd: 0, saved_usd: 0, turns: 0, outcome: null },
  ...{ created_at: at, updated_at: at },
});
