import { z } from "zod";
import { ToolError } from "../errors.ts";
import { type Clock, storableText } from "../services/index.ts";
import {
  type AgentEntry,
  type AgentSession,
  type AgentSessionPatch,
  type AgentTask,
  type AgentTaskPatch,
  agentSessionRows,
  agentTaskRows,
  type Database,
  type HeldSession,
  type NewAgentSession,
  type NewAgentTask,
  type RoleMessageQuery,
  roleMessageRows,
} from "../storage/index.ts";

export type { AgentTask };

/** Who has the daemon's token. */
export const ownOwner = "local";
/** The agent that tasks of people are stored under. It is none of the agents' files. */
export const taskAgent = "task";

/** Who wants to be the only one, and for how long from now. */
type WantedHold = { holder: string; ttl_ms: number };
/** `after` is the last seq that the reader has. */
type AgentRange = { after: number; limit: number };
type AgentAppend = {
  messages?: readonly { seq: number; message: object }[];
  events?: readonly { seq: number }[];
  patch?: AgentSessionPatch;
  lets_go?: boolean;
};

const limits = {
  message: 16 * 1_048_576,
  event: 262_144,
  /** The order of a task has up to 1 MB of context. */
  task: 2 * 1_048_576,
  finding: 262_144,
  page: 8 * 1_048_576,
};

/** What an agent says of the model's cache after each reply. */
const cacheEvent = z.looseObject({ type: z.literal("progress"), kind: z.literal("cache"), text: z.string() });
const cacheText = (event: unknown) => cacheEvent.safeParse(event).data?.text ?? [];

/**
 * Conversations and tasks of agents. Times are those of this server's clock, so that the clocks of agents do not matter. `log`
 * gets a line of the model's cache for each reply.
 */
export const createAgentStore = ({
  db,
  clock,
  log,
}: {
  db: Database;
  clock: Clock;
  log(text: string, session: string): void;
}) => ({
  ...conversations(db, clock, log),
  ...tasks(db, clock),
  ...messages(db, clock),
  /** Forgets tasks that ended, and conversations that were last changed, before an instant. */
  async purge(before: string): Promise<void> {
    await agentTaskRows(db).purge(before);
    await agentSessionRows(db).purge(before);
    await roleMessageRows(db).purge(before);
  },
});
export type AgentStore = ReturnType<typeof createAgentStore>;
/** What the work of autonomous agents needs of it. */
export type TaskStore = ReturnType<typeof tasks>;

const nowOf = (clock: Clock): string => new Date(clock.now()).toISOString();

/** From now on. */
function holdOf(clock: Clock, { holder, ttl_ms }: WantedHold) {
  const now = clock.now();
  return { holder, now: new Date(now).toISOString(), until: new Date(now + ttl_ms).toISOString() };
}

const busy = (id: string) =>
  new ToolError(
    "SESSION_BUSY",
    `Another program goes on with the conversation "${id}" now.`,
    "Wait until it has ended, or end it there.",
  );

function conversations(db: Database, clock: Clock, log: (text: string, session: string) => void) {
  const rows = agentSessionRows(db);
  const check = async (id: string): Promise<void> => {
    if (!(await rows.find(id))) throw missing(id);
  };
  /** An empty page of a conversation that is not there is an error. */
  const page = async (read: typeof rows.messages, id: string, range: AgentRange): Promise<AgentEntry[]> => {
    const found = await read(id, { ...range, bytes: limits.page });
    if (found.length === 0) await check(id);
    return found;
  };
  return {
    findSession: rows.find,
    /** Newest first. */
    sessions: rows.list,
    /** With its messages and events. False when there was none. */
    deleteSession: rows.remove,
    letGo: rows.letGo,
    /** How many conversations are held. */
    held: () => rows.held(nowOf(clock)),

    /** The same once more gives what is there. Throws ALREADY_EXISTS for an id of another agent or owner. */
    async createSession(session: NewAgentSession): Promise<AgentSession> {
      const stored = await rows.insert({ ...session, title: storableText(session.title) }, nowOf(clock));
      if (stored.agent === session.agent && stored.owner === session.owner) return stored;
      throw new ToolError(
        "ALREADY_EXISTS",
        `There is a conversation "${session.id}" of another agent or owner already.`,
        "Give each conversation a new id.",
      );
    },

    /**
     * All or nothing; what is there already under its `seq` stays. Throws SESSION_NOT_FOUND, SESSION_BUSY when another
     * holds it, INPUT_TOO_LARGE for a message over 16 MB or an event over 256 KB of JSON.
     */
    async append(id: string, holder: string, given: AgentAppend): Promise<void> {
      const { messages = [], events = [], patch = {}, lets_go = false } = given;
      for (const { seq, message } of messages) checkSize(`message ${seq}`, message, limits.message);
      for (const event of events) checkSize(`event ${event.seq}`, event, limits.event);
      const entries = {
        messages: messages.map(({ seq, message }) => ({ seq, body: message })),
        events: events.map((event) => ({ seq: event.seq, body: event })),
        patch: { ...patch, ...(patch.title !== undefined && { title: storableText(patch.title) }) },
        lets_go,
      };
      const outcome = await rows.append(id, entries, { holder, now: nowOf(clock) });
      if (outcome === "missing") throw missing(id);
      if (outcome === "busy") throw busy(id);
      for (const text of events.flatMap(cacheText)) log(text, id);
    },

    /** In order; fewer than `limit` where they are large. Nothing: there is no more. Throws SESSION_NOT_FOUND. */
    async messages(id: string, range: AgentRange) {
      return (await page(rows.messages, id, range)).map(({ seq, body }) => ({ seq, message: body }));
    },
    async events(id: string, range: AgentRange) {
      return (await page(rows.events, id, range)).map(({ body }) => body);
    },

    /** Undefined when another has it. Throws SESSION_NOT_FOUND. */
    async hold(id: string, holder: string, ttl_ms: number): Promise<HeldSession | undefined> {
      const held = await rows.hold(id, holdOf(clock, { holder, ttl_ms }));
      if (!held) await check(id);
      return held;
    },
  };
}

function tasks(db: Database, clock: Clock) {
  const rows = agentTaskRows(db);
  return {
    /** Newest first. */
    tasks: rows.list,
    findTask: rows.find,
    /** Whether a task of the agent is pending or running. */
    hasOpenTask: rows.hasOpen,

    /** Also one that another process runs, which stops at its next renewal. False when it has ended. */
    cancelTask: (id: number, error: string) => rows.cancel(id, { error, now: nowOf(clock) }),

    /** False when that agent has a task of that key already. Throws INPUT_TOO_LARGE for an event over 2 MB. */
    async addTask(task: NewAgentTask): Promise<boolean> {
      checkSize("the event", task.event, limits.task);
      return rows.insert(task, nowOf(clock));
    },

    /**
     * The most urgent, then oldest, that is pending or running and not held; undefined while `max_parallel` tasks
     * of the agent are running, on whichever server.
     */
    claimTask: (agent: string, { max_parallel, ...wanted }: WantedHold & { max_parallel: number }) =>
      rows.claim(agent, { ...holdOf(clock, wanted), max_parallel }),

    /**
     * Without `ttl_ms` a new state ends the hold, and another change leaves it as it is. False when another has the task.
     * Throws INPUT_TOO_LARGE for a finding over 256 KB.
     */
    async updateTask(
      id: number,
      { error, ...patch }: AgentTaskPatch,
      { holder, ttl_ms }: { holder: string; ttl_ms?: number | undefined },
    ): Promise<boolean> {
      if (patch.finding) checkSize("the finding", patch.finding, limits.finding);
      const changes = { ...patch, error: error && storableText(error) };
      const by = ttl_ms === undefined ? { holder, now: nowOf(clock) } : holdOf(clock, { holder, ttl_ms });
      return rows.update(id, changes, by);
    },
  };
}

type StoredMessage = { message_id: string; correlation_id: string };

/** Messages between the roles of `labwright qa`. */
function messages(db: Database, clock: Clock) {
  const rows = roleMessageRows(db);
  return {
    /** A message that is there already stays as it is. Throws INPUT_TOO_LARGE over 2 MB. */
    async addMessage(owner: string, message: StoredMessage): Promise<void> {
      checkSize("the message", message, limits.task);
      const { message_id, correlation_id } = message;
      await rows.insert({ message_id, correlation_id, owner, at: nowOf(clock), body: message });
    },

    /** Those of one correlation id, in the order in which they came. */
    async messagesOf(query: RoleMessageQuery) {
      return (await rows.list(query)).map(({ seq, body }) => ({ seq, message: body }));
    },
  };
}

function checkSize(what: string, value: object, max_bytes: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= max_bytes) return;
  const hint = "Store what is needed to go on, and a link to the rest.";
  const message = `${what} is ${bytes} bytes of JSON, over ${max_bytes}.`;
  throw new ToolError("INPUT_TOO_LARGE", message, hint, { bytes, max_bytes });
}

const missing = (id: string) =>
  new ToolError("SESSION_NOT_FOUND", `There is no conversation "${id}".`, "List the conversations.");
