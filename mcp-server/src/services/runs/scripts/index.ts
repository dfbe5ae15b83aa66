import { findSandbox } from "@labwright/controllers";
import { type ScriptResult, scriptResultSchema } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type {
  CallContext,
  DeviceRef,
  Run,
  RunReply,
  Script,
  ScriptEnd,
  ScriptPort,
  ScriptTask,
} from "../../ports.ts";
import { pageOf } from "../../values/pages.ts";
import { findScript, readScripts } from "./folder.ts";
import { checkReadable, findInterpreter, type Launch } from "./launch.ts";
import { runScript, type ScriptRunDependencies } from "./run.ts";

export type { ToolFacts } from "./allowed.ts";
export type { ScriptTools, ToolCalls, ToolReply } from "./calls.ts";
export { leftIn, openRunFolder, type RunFolder, readResult } from "./channel.ts";
export { follow } from "./follow.ts";
export { findInterpreter } from "./launch.ts";
export { endText, refusalIn } from "./verdict.ts";

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

export type ScriptDependencies = ScriptRunDependencies & {
  folders: { own: string; shipped: string };
  timeoutMs: number;
  /** Where there is no sandbox, run without (`unsafe.unsandboxed_scripts`). */
  withoutSandbox: boolean;
  findSandbox?: typeof findSandbox;
};

export const createScripts = (deps: ScriptDependencies): ScriptService => new Scripts(deps);

class Scripts implements ScriptService {
  constructor(private readonly deps: ScriptDependencies) {}

  async names(): Promise<string[]> {
    return (await readScripts(this.deps.folders)).map(({ name }) => name);
  }

  async list(maxTokens: number) {
    const { items: scripts, more } = pageOf(await readScripts(this.deps.folders), 0, maxTokens);
    return { scripts, more };
  }

  async find(name: string): Promise<Script> {
    return findScript(await readScripts(this.deps.folders), name);
  }

  async execute(request: ScriptRequest, context: CallContext): Promise<ScriptReply> {
    const { executions } = this.deps;
    const { device_id, session_id, args, userinterface_name: userinterface, environment, release } = request;
    const launch = await this.prepare(request.script, context);
    const { name } = launch.script;
    const reply = await executions.run<ScriptResult>(
      {
        kind: "script",
        name,
        device: { device_id, session_id },
        input: { script: name, args },
        userinterface,
        environment,
        release,
        wait_ms: request.wait_ms,
        timeout_ms: this.timeoutOf(request.timeout_ms),
      },
      context,
      async (run) => {
        const end = await runScript(run, launch, { script: name, args, userinterface }, this.deps);
        const { status, reason, result } = end;
        return { status, ...(reason && { reason }), outputs: result.outputs, output: result };
      },
    );
    return replyOf(reply);
  }

  async runWithin(run: Run, task: ScriptTask): Promise<ScriptEnd> {
    const launch = await this.prepare(task.script, run.context);
    return runScript(run, launch, { ...task, timeoutMs: this.timeoutOf(task.timeoutMs) }, this.deps);
  }

  private timeoutOf(asked: number | undefined): number {
    return Math.min(asked ?? this.deps.timeoutMs, this.deps.timeoutMs);
  }

  /** Everything that can be known to be missing, before anything runs. */
  private async prepare(name: string, { within, signal }: CallContext): Promise<Launch> {
    if (within !== undefined) {
      const hint = "Put what both do into one script, or call the tools themselves.";
      throw new ToolError("INVALID_INPUT", "A script cannot run scripts, nor tests that do.", hint);
    }
    const script = await this.find(name);
    const sandbox = await this.sandbox(signal);
    if (sandbox) await checkReadable(script);
    const [interpreter, node] = await Promise.all([
      findInterpreter(script.language, signal),
      findInterpreter("node", signal),
    ]);
    return { script, interpreter, node, sandbox };
  }

  private async sandbox(signal: AbortSignal): Promise<Launch["sandbox"]> {
    const found = await (this.deps.findSandbox ?? findSandbox)(signal);
    if (found.ok) return found.sandbox;
    if (this.deps.withoutSandbox) return undefined;
    throw noSandbox(
      "Scripts run",
      found,
      " If you trust every script here, unsafe.unsandboxed_scripts: true in labwright.yaml runs them without.",
    );
  }
}

export const noSandbox = (what: string, { reason, fix }: { reason: string; fix: string }, otherwise = "") =>
  new ToolError(
    "SANDBOX_UNAVAILABLE",
    `${what} in a sandbox, and this host has none: ${reason}.`,
    `${fix}.${otherwise}`,
  );

const replyOf = ({ output, steps_done: _, ...reply }: RunReply<ScriptResult>): ScriptReply => ({
  ...reply,
  ...scriptEnd(output, reply.reason?.message),
});

/** What the result of a run says of a script; nothing where it is another's or not there yet. */
export function scriptEnd(given: unknown, reason: string | undefined): ScriptEndView {
  const result = scriptResultSchema.safeParse(given).data;
  if (!result) return {};
  const { exit_code, message, outputs, log_tail, log, verified_count } = result;
  return {
    ...(exit_code !== undefined && { exit_code }),
    // A failed script's message is its reason already.
    ...(message !== undefined && message !== reason && { message }),
    ...(Object.keys(outputs).length > 0 && { outputs }),
    ...(log_tail !== undefined && { log_tail }),
    ...(log !== undefined && { log }),
    verified_count,
  };
}
