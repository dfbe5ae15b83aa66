import type { ErrorCode } from "../../errors.ts";
import type { AnyTool, Attachment } from "../../registry/tool.ts";
import type { CallContext, CallFacts } from "../../services/index.ts";
import type { CallError } from "./callError.ts";

/** Whose call it is. */
export type Caller = {
  principal: string;
  client: string;
  /** The absolute path of the project whose names count. */
  project?: string | undefined;
};

/** One call, whatever wire it came by. `traceparent` is W3C; `idempotency_key` may also be among the arguments. */
export type CallRequest = Caller & {
  name: string;
  arguments: unknown;
  signal: AbortSignal;
  progress?: ((done: number, total: number | undefined, message: string) => void) | undefined;
  traceparent?: string | undefined;
  idempotency_key?: string | undefined;
  /** Values by the names of secrets, of the caller's own environment. They are neither stored nor logged. */
  secrets?: Readonly<Record<string, string>> | undefined;
  capabilities?: CallContext["capabilities"] | undefined;
  /** The run that makes the call, and the lease to use when the call names no device. */
  within?: { execution_id: string; session_id?: string | undefined } | undefined;
};

/** `structured` is the validated output with secrets masked, `text` its short form for a model. */
export type CallOutcome =
  | {
      ok: true;
      tool: string;
      trace_id: string;
      structured: Record<string, unknown>;
      text: string;
      attachments: Attachment[];
    }
  | { ok: false; tool: string; trace_id: string; error: CallError };

export type CallTool = (request: CallRequest) => Promise<CallOutcome>;

/** One call as the log, the metrics and the audit record it. `outcome` is `ok` or an error code. */
export type CallRecord = CallFacts & {
  tool: string;
  trace_id: string;
  principal: string;
  client: string;
  effect: AnyTool["effect"] | "unknown";
  outcome: "ok" | ErrorCode;
  duration_ms: number;
  at: string;
};
