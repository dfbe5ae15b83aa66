import { AgentError } from "../../../agent-client/src/errors.ts";
import {
  type AgentEvent,
  type AgentEventBody,
  isStored,
  type SessionEnded,
} from "../../../agent-client/src/events.ts";
import type { StoredSession } from "../../../agent-client/src/ports.ts";
import type { Conversation, Conversations } from "../../../agent-client/src/sessions/engine.ts";

const usage = {
  input_tokens: 10,
  output_tokens: 5,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
export const ended = (outcome: SessionEnded["outcome"], text: string): SessionEnded => ({
  type: "session_ended",
  outcome,
  text,
  turns: 1,
  duration_ms: 1,
  usage,
});

/** What a run of the fake may do: tell, wait to be let go on, and ask. */
export type FakeRun = {
  text: string;
  tell(body: AgentEventBody): void;
  approval(tool: string): Promise<boolean>;
  isInterrupted(): boolean;
  signal: AbortSignal;
};
export type Script = (run: FakeRun) => Promise<SessionEnded>;

/** Says a word in two pieces, uses a tool, and ends. */
export const echo: Script = async ({ text, tell }) => {
  tell({
    type: "skill_loaded",
    skill: "run-script",
    version: "1.0.0",
    tools: ["execute_script"],
    chosen_by: "trigger",
    text: "LOAD SKILL run-script",
  });
  tell({ type: "message", text: "You", partial: true });
  tell({ type: "message", text: " said", partial: true });
  tell({ type: "message", text: `You said: ${text}` });
  return ended("done", `You said: ${text}`);
};

type State = {
  session: StoredSession;
  kept: AgentEvent[];
  seq: number;
  listeners: Set<(event: AgentEvent) => void>;
  run: AbortController | undefined;
  approvals: Map<string, { event: Conversation["approvals"][number]; decide(approved: boolean): void }>;
  end: Promise<SessionEnded>;
};

export type FakeConversations = Conversations & {
  /** Tells an event as a run would. */
  tell(id: string, body: AgentEventBody): void;
  listeners(id: string): number;
  removed: string[];
};

const maxText = 1_000_000;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Conversations without a model. A page of events is read at once and arrives late, as one of a database does. */
export function fakeConversations(
  script: Script = echo,
  /** What is done with a run between the word of its end and the moment when the next may start. */
  putAway: () => Promise<void> = async () => {},
): FakeConversations {
  const states = new Map<string, State>();
  const removed: string[] = [];
  let created = 0;
  const find = (id: string, owner: string): State => {
    const state = states.get(id);
    if (state?.session.owner === owner) return state;
    throw new AgentError("SESSION_NOT_FOUND", "There is no such session.", "List your sessions.");
  };
  const tell = (state: State, body: AgentEventBody) => {
    state.seq += 1;
    const event = { ...body, session_id: state.session.id, seq: state.seq, at: "2026-01-01T00:00:00.000Z" };
    if (isStored(event)) state.kept.push(event);
    for (const listener of [...state.listeners]) listener(event);
    return event;
  };
  const shown = (state: State): Conversation => ({
    ...state.session,
    isRunning: state.run !== undefined,
    approvals: [...state.approvals.values()].map(({ event }) => event),
  });
  const approval = (state: State, tool: string, signal: AbortSignal): Promise<boolean> =>
    new Promise((decide) => {
      const approval_id = `ap-${state.seq + 1}`;
      const event = tell(state, {
        type: "approval_required",
        approval_id,
        tool,
        input: {},
        reason: "It destroys.",
        expires_at: "2026-01-01T00:05:00.000Z",
      });
      if (event.type === "approval_required") state.approvals.set(approval_id, { event, decide });
      signal.addEventListener("abort", () => decide(false), { once: true });
    });
  const start = async (state: State, text: string, run: AbortController): Promise<SessionEnded> => {
    const { signal } = run;
    const end = await script({
      text,
      signal,
      tell: (body) => void tell(state, body),
      approval: (tool) => approval(state, tool, signal),
      isInterrupted: () => signal.aborted,
    });
    state.approvals.clear();
    tell(state, end);
    await putAway();
    state.run = undefined;
    return end;
  };
  return {
    removed,
    tell: (id, body) => {
      const state = states.get(id);
      if (state) tell(state, body);
    },
    listeners: (id) => states.get(id)?.listeners.size ?? 0,
    async create({ owner, agent = "assistant", title = "" }) {
      if (agent === "monitor") {
        throw new AgentError("AGENT_NOT_SELECTABLE", "monitor starts by itself.", "Use assistant.");
      }
      created += 1;
      const at = "2026-01-01T00:00:00.000Z";
      const session: StoredSession = {
        id: `s${created}`,
        agent,
        owner,
        title,
        skill: null,
        usage,
        cost_usd: 0,
        saved_usd: 0,
        turns: 0,
        outcome: null,
        created_at: at,
        updated_at: at,
      };
      const state: State = {
        session,
        kept: [],
        seq: 0,
        listeners: new Set(),
        run: undefined,
        approvals: new Map(),
        end: Promise.resolve(ended("done", "")),
      };
      states.set(session.id, state);
      return shown(state);
    },
    list: async ({ owner, limit = 50 }) =>
      [...states.values()]
        .map(({ session }) => session)
        .filter((session) => session.owner === owner)
        .reverse()
        .slice(0, limit),
    get: async (id, owner) => shown(find(id, owner)),
    async remove(id, owner) {
      const state = find(id, owner);
      state.run?.abort();
      await state.end;
      states.delete(id);
      removed.push(id);
    },
    async send(id, owner, { text }) {
      const state = find(id, owner);
      if (text.trim() === "")
        throw new AgentError("INVALID_INPUT", "The message is empty.", "Say something.");
      if (text.length > maxText) {
        throw new AgentError("INPUT_TOO_LARGE", `A message has at most ${maxText} characters.`, "Say less.");
      }
      if (state.run) throw new AgentError("SESSION_BUSY", "A run is under way.", "Wait for its end.");
      const run = new AbortController();
      state.run = run;
      state.end = settled().then(() => start(state, text, run));
      return { seq: state.seq + 1 };
    },
    async interrupt(id, owner) {
      const { run } = find(id, owner);
      run?.abort();
      return run !== undefined;
    },
    async decide(id, owner, approval_id, approved) {
      const state = find(id, owner);
      const waiting = state.approvals.get(approval_id);
      if (!waiting) throw new AgentError("APPROVAL_NOT_FOUND", "Nothing waits under that id.", "Look again.");
      state.approvals.delete(approval_id);
      waiting.decide(approved);
    },
    async events(id, owner, { after, limit = 100 }) {
      const page = find(id, owner)
        .kept.filter(({ seq }) => seq > after)
        .slice(0, limit);
      await settled();
      return page;
    },
    async subscribe(id, owner, listener) {
      const { listeners } = find(id, owner);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    ended: (id, owner) => find(id, owner).end,
    running: () => [...states.values()].filter(({ run }) => run).length,
    suggestions: async () => [{ text: "Run goto script on browser" }],
    async close() {
      for (const { run, end } of states.values()) {
        run?.abort();
        await end;
      }
    },
  };
}
