import type { Clock, Conversations } from "@labwright/agent-client";
import type { AgentSettings } from "../../config/agents.ts";
import type { AgentStore } from "../store.ts";
import type { Tasks } from "../tasks.ts";

/** An event from outside. One with the `key` of an earlier event is not published again. */
export type OutsideEvent = {
  type: string;
  device_id?: string | undefined;
  payload: Record<string, unknown>;
  key: string;
};

export type ApiDeps = {
  conversations: Conversations;
  tasks: Pick<Tasks, "start" | "get" | "cancel">;
  messages: {
    /** The reply. Throws INVALID_INPUT for a message that is refused. */
    deliver(owner: string, message: unknown, signal: AbortSignal): Promise<Record<string, unknown>>;
    list(
      query: Parameters<AgentStore["messagesOf"]>[0],
    ): Promise<{ seq: number; message: Record<string, unknown> }[]>;
  };
  settings: AgentSettings["api"];
  /** Pages of these may call; Host and Origin are checked by the server. */
  allowedOrigins: readonly string[];
  /** The daemon's token; who has it is `local`. */
  ownerToken: string;
  /** The secret that webhooks are signed with; undefined when none is set. */
  webhookSecret: string | undefined;
  publish(event: OutsideEvent): Promise<{ event_id: number }>;
  /** One call with `key`: false when the model's owner refuses it. Throws MODEL_OVERLOADED and the like when none could be made. */
  tryKey(key: string): Promise<boolean>;
  saveKey(key: string): Promise<void>;
  /** Answers within a few seconds. */
  health(): Promise<{ server: boolean; model: string | null }>;
  clock: Clock;
  /** Where `jwt.secret_env` is looked up. */
  env: Readonly<Record<string, string | undefined>>;
  /** A fault of ours, for the log. */
  fault(error: unknown, trace_id: string): void;
};

/** Where everything of this room is. */
export const basePath = "/server/agent";
/** The largest request: more than the longest message, which the conversation itself refuses. */
export const maxRequestBytes = 12 * 1024 * 1024;
