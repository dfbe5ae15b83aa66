import { ToolError } from "../errors.ts";
import { type Clock, storableText } from "../services/index.ts";
import {
  type AgentEntry,
  type AgentSession,
  type AgentSessionPatch,
  type AgentTask,
  type AgentTaskFilter,
  type AgentTaskPatch,
  agentSessionRows,
  agentTaskRows,
  type Database,
  type NewAgentSession,
  type NewAgentTask,
} from "../storage/index.ts";

type JsonObject = Readonly<Record<string, unknown>>;

export type { AgentSession, AgentTask };
/** Who wants to be the only one, and for how long from now. */
export type WantedHold = { holder: string; ttl_ms: number };
/** `after` is the last seq that the reader has. */
export type AgentRange = { after: number; limit: number };
export type AgentAppend = {
  holder: string;
  messages: readonly { seq: number; message: JsonObject }[];
  events: readonly (JsonObject & { seq: number })[];
  patch: AgentSessionPatch;
};

/** Conversations and tasks of agents. Times are those of this server's clock, so that the clocks of agents do not matter. */
export type AgentStore = {
  /** The same once more gives what is there. Throws ALREADY_EXISTS for an id of another agent or owner. */
  createSession(session: NewAgentSession): Promise<AgentSession>;
  /** Newest first. */
  sessions(filter: { owner?: string | undefined; limit: number }): Promise<AgentSession[]>;
  /** Throws SESSION_NOT_FOUND. */
  getSession(id: string): Promise<AgentSession>;
  /** With its messages and events. False when there was none. */
  deleteSession(id: string): Promise<boolean>;
  /**
   * All or nothing; what is there already under its `seq` stays. Throws SESSION_NOT_FOUND, SESSION_BUSY when another holds
   * it, INPUT_TOO_LARGE for a message over 16 MB or an event over 256 KB of JSON.
   */
  append(id: string, given: AgentAppend): Promise<void>;
  /** In order; fewer than `limit` where they are large. Nothing: there is no more. Throws SESSION_NOT_FOUND. */
  messages(id: string, range: AgentRange): Promise<{ seq: number; message: JsonObject }[]>;
  events(id: string, range: AgentRange): Promise<JsonObject[]>;
  /** False when another has it. Throws SESSION_NOT_FOUND. */
  hold(id: string, wanted: WantedHold): Promise<boolean>;
  letGo(id: string, holder: string): Promise<void>;
  /** False when that agent has a task of that key already. Throws INPUT_TOO_LARGE for an event over 256 KB. */
  addTask(task: NewAgentTask): Promise<boolean>;
  /**
   * The most urgent, then oldest, that is pending or running and that nobody holds; undefined while `max_parallel` tasks
   * of the agent are running, on whichever server.
   */
  claimTask(agent: string, wanted: WantedHold & { max_parallel: number }): Promise<AgentTask | undefined>;
  /**
   * Without `ttl_ms` a new state ends the hold, and another change leaves it as it is. False when another has the task.
   * Throws INPUT_TOO_LARGE for a finding over 256 KB.
   */
  updateTask(
    id: number,
    patch: AgentTaskPatch,
    by: { holder: string; ttl_ms?: number | undefined },
  ): Promise<boolean>;
  /** Newest first. */
  tasks(filter: AgentTaskFilter): Promise<AgentTask[]>;
  /** How many conversations are held. */
  held(): Promise<number>;
};

/** What the work of autonomous agents needs of it. */
export type TaskStore = Pick<AgentStore, "addTask" | "claimTask" | "updateTask" | "tasks">;

const limits = { message: 16 * 1_048_576, event: 262_144, finding: 262_144, page: 8 * 1_048_576 };

export function createAgentStore({ db, clock }: { db: Database; clock: Clock }): AgentStore {
  return { ...conversations(db, clock), ...tasks(db, clock) };
}

const nowOf = (clock: Clock): string => new Date(clock.now()).toISOString();

/** From now on. */
function holdOf(clock: Clock, { holder, ttl_ms }: WantedHold) {
  const now = clock.now();
  return { holder, now: new Date(now).toISOString(), until: new Date(now + ttl_ms).toISOString() };
}

function conversations(db: Database, clock: Clock) {
  const rows = agentSessionRows(db);
  const getSession = async (id: string): Promise<AgentSession> => {
    const found = await rows.find(id);
    if (found) return found;
    throw missing(id);
  };
  /** An empty page of a conversation that is not there is an error. */
  const page = async (id: string, entries: Promise<AgentEntry[]>): Promise<AgentEntry[]> => {
    const found = await entries;
    if (found.length === 0) await getSession(id);
    return found;
  };
  return {
    async createSession(session: NewAgentSession): Promise<AgentSession> {
      const stored = await rows.insert({ ...session, title: storableText(session.title) }, nowOf(clock));
      if (stored.agent === session.agent && stored.owner === session.owner) return stored;
      throw new ToolError(
        "ALREADY_EXISTS",
        `There is a conversation "${session.id}" of another agent or owner already.`,
        "Give each conversation a new id.",
      );
    },
    sessions: rows.list,
    getSession,
    deleteSession: rows.remove,
    async append(id: string, { holder, messages, events, patch }: AgentAppend): Promise<void> {
      for (const { seq, message } of messages) checkSize(`message ${seq}`, message, limits.message);
      for (const event of events) checkSize(`event ${event.seq}`, event, limits.event);
      const entries = {
        messages: messages.map(({ seq, message }) => ({ seq, body: message })),
        events: events.map((event) => ({ seq: event.seq, body: event })),
        patch: { ...patch, ...(patch.title !== undefined && { title: storableText(patch.title) }) },
      };
      const outcome = await rows.append(id, entries, { holder, now: nowOf(clock) });
      if (outcome === "missing") throw missing(id);
      if (outcome === "busy") throw busy(id);
    },
    async messages(id: string, range: AgentRange) {
      const entries = await page(id, rows.messages(id, { ...range, bytes: limits.page }));
      return entries.map(({ seq, body }) => ({ seq, message: body }));
    },
    async events(id: string, range: AgentRange) {
      const entries = await page(id, rows.events(id, { ...range, bytes: limits.page }));
      return entries.map(({ body }) => body);
    },
    async hold(id: string, wanted: WantedHold): Promise<boolean> {
      if (await rows.hold(id, holdOf(clock, wanted))) return true;
      await getSession(id);
      return false;
    },
    letGo: rows.letGo,
    held: () => rows.held(nowOf(clock)),
  };
}

function tasks(db: Database, clock: Clock) {
  const rows = agentTaskRows(db);
  return {
    async addTask(task: NewAgentTask): Promise<boolean> {
      checkSize("the event", task.event, limits.event);
      return rows.insert(task, nowOf(clock));
    },
    claimTask: (agent: string, { max_parallel, ...wanted }: WantedHold & { max_parallel: number }) =>
      rows.claim(agent, { ...holdOf(clock, wanted), max_parallel }),
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
    tasks: rows.list,
  };
}

function checkSize(what: string, value: JsonObject, max: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= max) return;
  throw new ToolError(
    "INPUT_TOO_LARGE",
    `${what} is ${bytes} bytes of JSON, over ${max}.`,
    "Store what is needed to go on, and a link to the rest.",
    { bytes, max_bytes: max },
  );
}

const missing = (id: string) =>
  new ToolError("SESSION_NOT_FOUND", `There is no conversation "${id}".`, "List the conversations.");

const busy = (id: string) =>
  new ToolError(
    "SESSION_BUSY",
    `Another program goes on with the conversation "${id}" now.`,
    "Wait until it has ended, or end it there.",
  );
