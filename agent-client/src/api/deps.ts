import type { Agent } from "../agents/agent.ts";
import type { Clock } from "../ports.ts";
import type { Conversations } from "../sessions/conversations.ts";
import type { Settings } from "../settings.ts";

/** Where the key of a model is kept. */
export type KeyStore = {
  /** One call with `key`: false when the model's owner refuses it. Throws MODEL_OVERLOADED and the like when none could be made. */
  try(key: string): Promise<boolean>;
  save(key: string): Promise<void>;
};

export type Publish = (event: {
  type: string;
  priority: "critical" | "high" | "normal";
  device_id?: string;
  payload: Record<string, unknown>;
  /** What was published once under it is not published again. */
  key: string;
}) => Promise<{ event_id: number; repeated: boolean }>;

export type ApiDeps = {
  conversations: Conversations;
  agents: readonly Agent[];
  settings: Settings["api"];
  /** The daemon's token; who has it is `local`. Read for each request: a daemon that starts again has another. */
  readonly ownerToken: string;
  webhookSecret: () => string | undefined;
  publish: Publish;
  keys: KeyStore;
  /** Answers within a few seconds. */
  health(): Promise<{ server: boolean; model: string | null }>;
  clock: Clock;
  /** Where `jwt.secret_env` is looked up; the process's environment when left out. */
  env?: Readonly<Record<string, string | undefined>>;
  /** A fault of ours, for the log. */
  fault?(error: unknown, trace_id: string): void;
};

/** Where everything of this room is. */
export const basePath = "/server/agent";
/** The largest request: more than the longest message, which the conversation itself refuses. */
export const bodyLimitBytes = 12 * 1024 * 1024;
