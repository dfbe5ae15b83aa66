import type { Clock, DeviceService, ExecutionService, Secrets } from "../../ports.ts";

/** What only the server around the services knows of itself. */
export type Serving = {
  version: string;
  build: string;
  host: string;
  port: number;
  tls: boolean;
  clients(): { bridges: number; sessions: number };
};

/** `idle` has nothing to do, `absent` is not there in this way of running, `failed` did not answer, for `reason`. */
export type PartState = {
  name: string;
  state: "running" | "idle" | "absent" | "failed";
  since?: string;
  reason?: string;
  facts?: Record<string, string | number | boolean>;
};

export const levels = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

export type LogQuery = {
  /** The least. */
  level?: (typeof levels)[number] | undefined;
  /** ISO dates or times. */
  since?: string | undefined;
  until?: string | undefined;
  tool?: string | undefined;
  trace_id?: string | undefined;
  execution_id?: string | undefined;
  /** Whose log: a service's, or a device's by its id; our daemon's when left out. */
  service?: string | undefined;
  /** Part of a line, in any case, as it is shown. */
  text?: string | undefined;
  maxTokens: number;
};

export type ProcessDependencies = {
  /** Of the logs, one `<service>.log` each, with `<service>.log.1` before it. */
  logFolder: string;
  database: { engine: string; bytes(): Promise<number> };
  devices: Pick<DeviceService, "list" | "openCount" | "leases" | "acquire" | "peek">;
  executions: Pick<ExecutionService, "running">;
  secrets: Pick<Secrets, "mask">;
  clock: Clock;
  /** Undefined in a process without clients. */
  serving(): Serving | undefined;
};
