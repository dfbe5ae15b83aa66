import { z } from "zod";
import { paramsSchema } from "../../../domain/index.ts";
import type { CallContext, DeviceRef, Run, RunReply } from "../../ports.ts";

export type Language = "python" | "node" | "bash";

/** A program of the user's folder or one that ships with the server. `name` is its file name, unique among all. */
export type Script = {
  name: string;
  language: Language;
  /** Its first comment line. */
  description?: string;
  shipped: boolean;
  folder: string;
};

/** What an execution of a script keeps beside its steps. */
export const scriptResultSchema = z.object({
  script: z.string(),
  status: z.string(),
  exit_code: z.int().optional(),
  message: z.string().optional(),
  outputs: paramsSchema,
  log_tail: z.string().optional(),
  /** URI of all that it said. */
  log: z.string().optional(),
  verified_count: z.int(),
});
export type ScriptResult = z.output<typeof scriptResultSchema>;

/** How a script ended. `reason` is there whenever it did not pass. */
export type ScriptEnd = {
  status: "passed" | "failed" | "error";
  reason?: { code: string; message: string };
  result: ScriptResult;
};

export type ScriptReply = Omit<RunReply<never>, "output" | "steps_done"> & {
  exit_code?: number | undefined;
  message?: string | undefined;
  outputs?: ScriptResult["outputs"] | undefined;
  log_tail?: string | undefined;
  log?: string | undefined;
  verified_count?: number | undefined;
};

export type ScriptRequest = DeviceRef & {
  /** Its name, or its name without the extension; left out with an `execution_id`. */
  script?: string | undefined;
  args: readonly string[];
  /** Of a run to go on waiting for. */
  execution_id?: string | undefined;
  userinterface_name?: string | undefined;
  wait_ms: number;
  /** `limits.script_ms` when left out, which is also the most. */
  timeout_ms?: number | undefined;
  environment?: string | undefined;
  release?: string | undefined;
};

/** A script as a part of somebody's run. */
export type ScriptTask = {
  script: string;
  args: readonly string[];
  userinterface?: string | undefined;
  /** Shorter than what the run has left. */
  timeoutMs?: number | undefined;
};

export type ScriptPort = {
  /** Throws SCRIPT_NOT_FOUND with the nearest names, AMBIGUOUS. */
  find(name: string): Promise<Script>;
  /** Runs it on the run's device; its calls become steps of the run. Throws what ended the run. */
  runWithin(run: Run, task: ScriptTask): Promise<ScriptEnd>;
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
  signal: AbortSignal;
  /** The run that the call is a part of, and the lease it means when it names no device. */
  within: { execution_id: string; session_id?: string | undefined };
}) => Promise<ToolReply>;

export type ToolReply =
  | { ok: true; structured: Record<string, unknown> }
  | { ok: false; error: { code: string; message: string; hint: string; http_status: number } };
