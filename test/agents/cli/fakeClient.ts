import { AgentError } from "../../../agent-client/src/errors.ts";
import {
  type AgentEvent,
  type AgentEventBody,
  isStored,
  type SessionEnded,
} from "../../../agent-client/src/events.ts";
import type { OpenAgent } from "../../../agent-client/src/openAgent.ts";
import type { StoredSession } from "../../../agent-client/src/ports.ts";
import type { Conversation, Conversations } from "../../../agent-client/src/sessions/engine.ts";
import { allAgents } from "../../fixtures/agentLab.ts";

export const noUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

type Run = {
  text: string;
  skill: string | undefined;
  signal: AbortSignal;
  emit(body: AgentEventBody): void;
  /** Undefined when it expired. */
  approval(tool: string, input: Record<string, unknown>): Promise<boolean | undefined>;
  /** Lets the open approval expire. */
  expire(): void;
};
/** What a message does: its events, and how it ends; `done` with the text when it gives nothing. */
export type Behaviour = (run: Run) => Promise<Partial<SessionEnded> | undefined>;

/** Says "You said: …". */
export const echoes: Behaviour = async ({ text, emit }) => {
  emit({ type: "message", text: `You said: ${text}` });
  return { text: `You said: ${text}` };
};

type Session = StoredSession & {
  events: AgentEvent[];
  listeners: Set<(event: AgentEvent) => void>;
  running?: { controller: AbortController; ended: Promise<SessionEnded> };
  last?: SessionEnded;
  approvals: Map<string, { required: Approval; decide(approved: boolean | undefined): void }>;
};
type Approval = Conversation["approvals"][number];

/** Conversations in memory, whose runs do what `behave` says. */
export function fakeConversations(behave: Behaviour = echoes) {
  const sessions = new Map<string, Session>();
  const sent: { id: string; text: string; skill: string | undefined }[] = [];
  const decided: boolean[] = [];
  let count = 0;

  const find = (id: string): Session => {
    const found = sessions.get(id);
    if (!found) throw new AgentError("SESSION_NOT_FOUND", `There is no session ${id}.`, "List them.");
    return found;
  };
  const tell = (session: Session, body: AgentEventBody): void => {
    const seq = (session.events.at(-1)?.seq ?? 0) + 1;
    const event = { ...body, session_id: session.id, seq, at: "2026-11-22T12:00:00.000Z" };
    session.events.push(event);
    for (const listener of session.listeners) listener(event);
  };

  async function run(session: Session, message: { text: string; skill?: string }, signal: AbortSignal) {
    let part: Partial<SessionEnded> | undefined;
    try {
      part = await behave({
        text: message.text,
        skill: message.skill,
        signal,
        emit: (body) => tell(session, body),
        expire: () => {
          for (const { decide } of session.approvals.values()) decide(undefined);
        },
        async approval(tool, input) {
          const approval_id = `approval-${session.events.length}`;
          const reason = "It cannot be undone.";
          const expires_at = "2026-11-22T12:05:00.000Z";
          const body = { type: "approval_required" as const, approval_id, tool, input, reason, expires_at };
          const decision = new Promise<boolean | undefined>((resolve) => {
            const required = { ...body, session_id: session.id, seq: 0, at: expires_at };
            session.approvals.set(approval_id, { required, decide: resolve });
            signal.addEventListener("abort", () => resolve(undefined));
          });
          tell(session, body);
          const approved = await decision;
          session.approvals.delete(approval_id);
          // Whoever decided may go on before the run tells it.
          await new Promise(setImmediate);
          signal.throwIfAborted();
          const word = approved === undefined ? "expired" : approved ? "approved" : "refused";
          tell(session, { type: "progress", kind: "approval", text: `${tool}: ${word}` });
          return approved;
        },
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      part = { outcome: "cancelled" };
    }
    const end: SessionEnded = {
      type: "session_ended",
      outcome: "done",
      text: "",
      turns: 1,
      duration_ms: 1_200,
      usage: noUsage,
      ...part,
    };
    session.last = end;
    session.turns += 1;
    tell(session, end);
    // As the real ones: it is busy until what was told is stored.
    await new Promise(setImmediate);
    delete session.running;
    return end;
  }

  const conversations: Conversations = {
    running: () => 0,
    async create({ owner, agent = "assistant", title = "" }) {
      if (agent === "monitor")
        throw new AgentError("AGENT_NOT_SELECTABLE", "Nobody talks to monitor.", "It is started by alerts.");
      if (agent !== "assistant")
        throw new AgentError("AGENT_NOT_FOUND", `There is no ${agent}.`, "List them.");
      count += 1;
      const at = new Date(Date.UTC(2026, 10, 22, 12, count)).toISOString();
      const session: Session = {
        ...{
          id: `${count}0000000-conversation`,
          agent,
          owner,
          title,
          skill: null,
          usage: noUsage,
          cost_usd: 0,
        },
        ...{ saved_usd: 0, turns: 0, outcome: null, created_at: at, updated_at: at },
        ...{ events: [], listeners: new Set(), approvals: new Map() },
      };
      sessions.set(session.id, session);
      return { ...session, isRunning: false, approvals: [] };
    },
    list: async ({ limit = 50 }) => [...sessions.values()].reverse().slice(0, limit),
    async get(id) {
      const session = find(id);
      const approvals = [...session.approvals.values()].map(({ required }) => required);
      return { ...session, isRunning: session.running !== undefined, approvals };
    },
    async remove(id) {
      sessions.delete(id);
    },
    async send(id, _owner, { text, skill }) {
      const session = find(id);
      if (session.running) throw new AgentError("SESSION_BUSY", "It is busy.", "Wait for its end.");
      if (text === "") throw new AgentError("INVALID_INPUT", "The message is empty.", "Write something.");
      sent.push({ id, text, skill });
      session.title ||= text;
      const controller = new AbortController();
      const message = { text, ...(skill !== undefined && { skill }) };
      session.running = {
        controller,
        ended: Promise.resolve().then(() => run(session, message, controller.signal)),
      };
      return { seq: session.events.length };
    },
    async interrupt(id) {
      const { running } = find(id);
      running?.controller.abort(new Error("interrupted"));
      return running !== undefined;
    },
    async decide(id, _owner, approval_id, approved) {
      const decision = find(id).approvals.get(approval_id);
      if (!decision) throw new AgentError("APPROVAL_NOT_FOUND", "It is not waited for.", "");
      decided.push(approved);
      decision.decide(approved);
    },
    events: async (id, _owner, { after, limit = 100 }) =>
      find(id)
        .events.filter((event) => event.seq > after && isStored(event))
        .slice(0, limit),
    async subscribe(id, _owner, listener) {
      const { listeners } = find(id);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async ended(id) {
      const { running, last } = find(id);
      if (running) return running.ended;
      if (last) return last;
      throw new AgentError("NOT_FOUND", "Nothing ran.", "");
    },
    suggestions: async () => [{ text: "List the devices" }, { text: "Run goto" }, { text: "List the tests" }],
    async close() {
      for (const { running } of sessions.values()) running?.controller.abort();
    },
  };
  return { conversations, sessions, sent, decided };
}

/** An agent client over these conversations; `closed` counts how often it was closed. */
export function fakeClient(conversations: Conversations, changes: Partial<OpenAgent> = {}) {
  const state = { closed: 0 };
  const client: OpenAgent = {
    conversations,
    agents: allAgents,
    problems: [],
    server: "http://127.0.0.1:7333",
    skills: async () => [],
    devices: { giveBack: async () => true, takeAgain: async () => [] },
    models: [{ model: "claude-test" }],
    async close() {
      state.closed += 1;
      await conversations.close();
    },
    ...changes,
  };
  return { client, state };
}
