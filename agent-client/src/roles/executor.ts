import type { Role } from "../messages/contents.ts";
import type { Envelope } from "../messages/envelope.ts";
import type { Clock, Toolbox } from "../ports.ts";
import type { Policy } from "./policy.ts";

export type Health = {
  isUp: boolean;
  /** Requests that it works on now. */
  load: number;
  /** Why it is not up, or what it has. */
  reason: string;
};

/** A reply's content, or the role that should have had the message. */
export type Outcome =
  | {
      payload: Record<string, unknown>;
      /** Why nothing could be started here, so that another executor may try. */
      unable?: string | undefined;
    }
  | { forward: Role; reason: string };

export type Job = {
  message: Envelope;
  signal: AbortSignal;
  /** A line for people. */
  progress(text: string): void;
};

/** One who takes messages of a role. `run` rejects when it went away; a test that fails is a result. */
export type Executor = {
  name: string;
  role: Role;
  health(signal: AbortSignal): Promise<Health>;
  run(job: Job): Promise<Outcome>;
};

export type ExecutorDeps = { toolbox: Toolbox; clock: Clock; policy: Policy };
