import type { AgentEvent, SessionEnded } from "../events.ts";
import type { StoredSession } from "../ports.ts";

export type Suggestion = { text: string };

/** A conversation with what it waits for. */
export type Conversation = StoredSession & {
  isRunning: boolean;
  approvals: readonly Extract<AgentEvent, { type: "approval_required" }>[];
};

/**
 * Conversations with agents: the one door for the command line, REST and Socket.IO. One that is another owner's is not
 * there: SESSION_NOT_FOUND.
 */
export type Conversations = {
  /** Throws AGENT_NOT_FOUND, AGENT_NOT_SELECTABLE with the events that start it. */
  create(given: {
    owner: string;
    agent?: string | undefined;
    title?: string | undefined;
  }): Promise<Conversation>;
  list(given: { owner: string; limit?: number }): Promise<StoredSession[]>;
  get(id: string, owner: string): Promise<Conversation>;
  /** Ends what runs in it first. */
  remove(id: string, owner: string): Promise<void>;
  /**
   * Takes a message and starts a run; resolves when the message is stored. Throws SESSION_BUSY while one runs, here or in
   * another process; INPUT_TOO_LARGE; INVALID_INPUT for an empty one.
   */
  send(
    id: string,
    owner: string,
    message: { text: string; skill?: string | undefined },
  ): Promise<{ seq: number }>;
  /** Ends the run with `cancelled`, and the tool under way with it. False when nothing ran. */
  interrupt(id: string, owner: string): Promise<boolean>;
  /** Throws APPROVAL_NOT_FOUND for one that is decided, expired or unknown. */
  decide(id: string, owner: string, approval_id: string, approved: boolean): Promise<void>;
  /** What was told, in order, without pieces. */
  events(id: string, owner: string, range: { after: number; limit?: number }): Promise<AgentEvent[]>;
  /** Hears every event of a conversation from now on, pieces too, in order. Gives the way to stop. */
  subscribe(id: string, owner: string, listener: (event: AgentEvent) => void): Promise<() => void>;
  /** Resolves with the end of the run under way, or of the last one. */
  ended(id: string, owner: string): Promise<SessionEnded>;
  /** How many have a run under way here. */
  running(): number;
  /** Three that the devices at hand can run. */
  suggestions(agent?: string): Promise<Suggestion[]>;
  /** Ends every run. */
  close(): Promise<void>;
};
