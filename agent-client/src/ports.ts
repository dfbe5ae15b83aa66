import type { BetaMessageParam } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { Skill } from "@labwright/skills";
import type { z } from "zod";
import type { AgentEvent } from "./events.ts";
import type { storedSession } from "./store/schemas.ts";

/** Milliseconds since 1970, and a timer that ends early with `signal`. Tests have one of their own. */
export type Clock = {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** A tool as a model sees it, and what a caller must know of it. `input_schema` carries no `$schema`. */
export type ToolSpec = {
  name: string;
  description: string;
  input_schema: { type: "object" } & Readonly<Record<string, unknown>>;
  readOnly: boolean;
  destructive: boolean;
  /** As the server declares them; absent where a server of others says nothing. */
  capabilities?: readonly string[];
  domain?: string;
  timeout_ms?: number;
};

/** A picture or a text inside a tool's result, as a model takes them. */
export type ResultPart = { type: "text"; text: string } | { type: "image"; mimeType: string; base64: string };
export type ToolResult = {
  parts: readonly ResultPart[];
  isError: boolean;
  /** The typed result, where it is none of an error. */
  structured?: Readonly<Record<string, unknown>>;
};

export type ToolCall = { name: string; input: Readonly<Record<string, unknown>> };

/** The tools of a server. A tool's failure is a result, never an exception; an abort is. */
export type Toolbox = {
  /** In the server's order, which never changes. */
  specs(): Promise<readonly ToolSpec[]>;
  call(use: ToolCall, options: { signal: AbortSignal; onProgress?(text: string): void }): Promise<ToolResult>;
};

/** A skill of the server's; `own`: the user's. */
export type LabSkill = Skill & { own?: boolean };

/** The server on the other side of the wire, found again when it went away and came back. */
export type LabServer = {
  toolbox: Toolbox;
  /** The highest version of each skill, the user's own among them. */
  skills(): Promise<readonly LabSkill[]>;
  store: AgentStore;
};

export type StoredSession = z.output<typeof storedSession>;
export type SessionPatch = Partial<
  Pick<StoredSession, "title" | "skill" | "usage" | "cost_usd" | "saved_usd" | "turns" | "outcome">
>;

/** `is_changed`: others may have added to it since its holder last held it. */
export type HeldSession = { session: StoredSession; is_changed: boolean };

export type EntryRange = { after: number; limit: number };

/** One message of a conversation, as the Messages API takes it. `seq` counts from 1. */
export type StoredMessage = { seq: number; message: BetaMessageParam };

/**
 * Conversations, kept in the server's database. Each method is one transaction; what it answered survives any process.
 */
export type AgentStore = {
  createSession(session: { id: string; agent: string; owner: string; title: string }): Promise<StoredSession>;
  /** Newest first. */
  sessions(filter: { owner?: string | undefined; limit: number }): Promise<StoredSession[]>;
  findSession(id: string): Promise<StoredSession | undefined>;
  /** With its messages and events. False when there was none. */
  deleteSession(id: string): Promise<boolean>;
  /**
   * Messages, events and what changed of the session, all or nothing. What is there already under its `seq` stays, so
   * that a repeated call does nothing. Throws SESSION_BUSY when another than `holder` has the conversation.
   */
  append(
    id: string,
    holder: string,
    entries: {
      messages?: readonly StoredMessage[];
      events?: readonly AgentEvent[];
      patch?: SessionPatch;
      /** Whether the holder lets go with it. */
      lets_go?: boolean;
    },
  ): Promise<void>;
  /** In order, after `after`; fewer than `limit` where they are large. Nothing: there is no more. */
  messages(id: string, range: EntryRange): Promise<StoredMessage[]>;
  events(id: string, range: EntryRange): Promise<AgentEvent[]>;
  /** Makes `holder` the only one that may append, for `ttl_ms` from now; undefined when another has it. */
  hold(id: string, holder: string, ttl_ms: number): Promise<HeldSession | undefined>;
  letGo(id: string, holder: string): Promise<void>;
};
