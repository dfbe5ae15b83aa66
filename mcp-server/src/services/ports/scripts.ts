import type { ScriptResult } from "../../domain/index.ts";
import type { Run } from "./executions.ts";

export type Language = "python" | "node" | "bash";

/** A program of the user's folder or one that ships with the server. `name` is its file name, unique among all. */
export type Script = {
  name: string;
  language: Language;
  /** Its first comment line. */
  description?: string;
  /** Permissions that it asks for: names of tools, `force`, `other_devices`. */
  needs: readonly string[];
  shipped: boolean;
  folder: string;
};

/** How a script ended. `reason` is there whenever it did not pass. */
export type ScriptEnd = {
  status: "passed" | "failed" | "error";
  reason?: { code: string; message: string };
  result: ScriptResult;
};

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
