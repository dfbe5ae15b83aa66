import type { ScriptResult } from "../../../domain/index.ts";
import type { CallContext, DeviceRef, RunReply, Script, ScriptPort } from "../../ports.ts";

export type ScriptReply = Omit<RunReply<never>, "output" | "steps_done"> & ScriptEndView;
export type ScriptEndView = {
  exit_code?: number | undefined;
  message?: string | undefined;
  outputs?: ScriptResult["outputs"] | undefined;
  log_tail?: string | undefined;
  log?: string | undefined;
  verified_count?: number | undefined;
};

export type ScriptRequest = DeviceRef & {
  /** Its name, or its name without the extension. */
  script: string;
  args: readonly string[];
  userinterface_name?: string | undefined;
  wait_ms: number;
  /** `limits.script_ms` when left out, which is also the most. */
  timeout_ms?: number | undefined;
  environment?: string | undefined;
  release?: string | undefined;
};

export type ScriptService = ScriptPort & {
  names(): Promise<string[]>;
  /** By name; as many as fit into `maxTokens`, and how many did not. */
  list(maxTokens: number): Promise<{ scripts: Script[]; more: number }>;
  /**
   * Runs a script as an execution. Before anything runs it throws SCRIPT_NOT_FOUND, SANDBOX_UNAVAILABLE,
   * SCRIPT_FAILED for a script that cannot be started here, and INVALID_INPUT within another script.
   */
  execute(request: ScriptRequest, context: CallContext): Promise<ScriptReply>;
};

/** The path that every call takes, for the calls of a script. */
export type ToolCalls = (request: {
  name: string;
  arguments: unknown;
  principal: string;
  client: string;
  /** The folder of the project that the script runs for. */
  project: string;
  signal: AbortSignal;
  /** The run that the call is a part of, and the lease it means when it names no device. */
  within: { execution_id: string; session_id?: string | undefined };
}) => Promise<ToolReply>;

export type ToolReply =
  | { ok: true; structured: Record<string, unknown> }
  | { ok: false; error: { code: string; message: string; hint: string; http_status: number } };
