import type { CallToolResult, ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import type { CatalogueSkill } from "../../registry/catalogue.ts";

/** A `tools/call` as it came, with what its connection said of itself. */
export type ToolCall = {
  name: string;
  arguments: Record<string, unknown>;
  idempotency_key: string | undefined;
  traceparent: string | undefined;
  /** The name the host gives itself, if it gave one. */
  host: string | undefined;
  elicitation: boolean;
  /** The host shows views of results. */
  views: boolean;
  signal: AbortSignal;
  /** Undefined when the host asked for no progress. */
  progress: ((done: number, total: number | undefined, message: string | undefined) => void) | undefined;
  http: Request | undefined;
  /** The session of a 2025-11-25 client over HTTP. */
  session: string | undefined;
};

/** A variable of a resource's template that a person is typing; `given` are the template's other variables. */
export type Completion = {
  template: string;
  variable: string;
  typed: string;
  given: Readonly<Record<string, string>>;
};

/** Everything that is not a pure function of the build. Daemon and bridge differ in who has it. */
export type Backend = {
  callTool(call: ToolCall): Promise<CallToolResult>;
  /** Throws ResourceNotFoundError with the nearest names. */
  readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult>;
  complete(asked: Completion): Promise<readonly string[]>;
  /**
   * Calls `changed` when reading `uri` would give more than before, and at once if it would now; ends with what it
   * resolves to. Throws ResourceNotFoundError for what never changes.
   */
  watch(uri: string, changed: () => void): Promise<() => void>;
  /** What is offered by name: the latest reports. */
  listed(): Promise<readonly Resource[]>;
  /** The user's own skills, which are not of the build. */
  skills(): Promise<readonly CatalogueSkill[]>;
};
