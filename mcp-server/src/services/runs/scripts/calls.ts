import { type Failure, failureSchema, type Step } from "../../../domain/index.ts";
import { type ErrorCode, errors, ToolError } from "../../../errors.ts";
import type { Clock, Run } from "../../ports.ts";
import { projectInUse } from "../../records/inUse.ts";
import { verdictOf } from "../../records/verdicts.ts";
import { checkAllowed, refuseAlways, type ToolFacts } from "./allowed.ts";

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

/** How a script's calls are made, and what their tools say of themselves. */
export type ScriptTools = { calls: ToolCalls; find(tool: string): ToolFacts | undefined };

const unsureCode: ErrorCode = "CHECK_INCONCLUSIVE";
const mostCalls = 5_000;
type Arguments = Readonly<Record<string, unknown>>;

/** The calls that a script makes: each goes the path of every call and becomes a step of the script's run. */
export class ScriptToolCalls {
  verifiedCount = 0;
  private made = 0;
  private readonly counted = new Set<unknown>();
  /** By execution or recording: the tool that named it first, which is the one that started it if the script did. */
  private readonly started = new Map<unknown, string>();
  /** By call: why its last answer was inconclusive. */
  private readonly unsure = new Map<string, string>();
  private readonly sessions: Set<unknown>;
  // Calls come by a socket, which knows nothing of the project in use.
  private readonly project = projectInUse();

  constructor(
    private readonly run: Run,
    private readonly tools: ScriptTools,
    private readonly clock: Clock,
    /** Permissions that the script asks for and the configuration gives. */
    private readonly given: ReadonlySet<string>,
  ) {
    this.sessions = new Set([run.session_id]);
  }

  /** Never throws but for a step that could not be stored. */
  async call(tool: string, args: Arguments, signal: AbortSignal): Promise<ToolReply> {
    const { run } = this;
    this.made += 1;
    const refusal = this.refusalOf(tool, args);
    if (refusal) return refused(refusal);
    const started = this.clock.monotonic();
    const { principal, client } = run.context;
    const within = { execution_id: run.id, session_id: run.session_id };
    const reply = await this.tools.calls({
      name: tool,
      arguments: args,
      principal,
      client,
      project: this.project,
      signal,
      within,
    });
    if (reply.ok) this.count(tool, reply.structured);
    // A lease that it may take is one that it may use.
    if (reply.ok && tool === "take_control") this.sessions.add(reply.structured.session_id);
    if (reply.ok && tool === "start_recording") this.started.set(reply.structured.recording_id, tool);
    this.noteUnsure(JSON.stringify([tool, args]), reply);
    const durationMs = this.clock.monotonic() - started;
    await run.step({
      path: "",
      kind: "tool",
      label: labelOf(tool, args),
      started_at: new Date(this.clock.now() - durationMs).toISOString(),
      duration_ms: durationMs,
      input: { tool, arguments: args },
      artifacts: [],
      ...endOf(reply),
    });
    return reply;
  }

  /** An inconclusive check that was not judged later leaves the script's verdict open. */
  inconclusive(): Failure | undefined {
    const [message] = this.unsure.values();
    return message === undefined ? undefined : { code: unsureCode, message };
  }

  private noteUnsure(call: string, reply: ToolReply): void {
    const message = reply.ok ? unsureIn(reply.structured) : messageOf(reply.error);
    if (message === undefined) this.unsure.delete(call);
    else this.unsure.set(call, message);
  }

  private refusalOf(tool: string, args: Arguments): ToolError | undefined {
    try {
      this.check(tool, args);
      return undefined;
    } catch (error) {
      if (error instanceof ToolError) return error;
      throw error;
    }
  }

  private check(tool: string, args: Arguments): void {
    const { run, sessions } = this;
    if (this.made > mostCalls) {
      const message = `A script makes at most ${mostCalls} calls.`;
      throw new ToolError("RATE_LIMITED", message, "Do more in each call.");
    }
    const facts = this.tools.find(tool);
    refuseAlways(tool, facts);
    if (tool === "cancel_execution") this.checkEnd(args.execution_id, tool, "runs");
    if (tool === "stop_recording") this.checkEnd(args.recording_id, tool, "recordings");
    const isOwnLease = args.session_id === undefined || args.session_id === run.session_id;
    if (tool === "release_control" && isOwnLease) {
      const hint = "It is given back when the script's run ends.";
      throw new ToolError("INVALID_INPUT", "A script cannot give back the device that it runs on.", hint);
    }
    checkAllowed({ tool, args, facts }, { device_id: run.device.id, sessions }, this.given);
  }

  /** Throws INVALID_INPUT for a run or recording that the script did not start. */
  private checkEnd(id: unknown, tool: string, things: string): void {
    if (id === this.run.id) {
      const message = "A script cannot cancel its own run.";
      throw new ToolError("INVALID_INPUT", message, "End the script instead.");
    }
    const first = this.started.get(id);
    if (first !== undefined && this.tools.find(first)?.effect !== "read") return;
    const message = `A script can only end ${things} that it started.`;
    throw new ToolError("INVALID_INPUT", message, `Call ${tool} from outside.`);
  }

  /** The checks of a run that the script started count once, when it is over. */
  private count(tool: string, result: Arguments): void {
    const { execution_id: id, status } = result;
    const first = this.started.get(id) ?? tool;
    if (id !== undefined) this.started.set(id, first);
    if (status === "queued" || status === "running" || this.counted.has(id)) return;
    const count = verifiedIn(first, result);
    if (count === 0) return;
    if (id !== undefined) this.counted.add(id);
    this.verifiedCount += count;
    this.run.verified(count);
  }
}

/** How many checks a result says were made, with whatever outcome. */
function verifiedIn(tool: string, result: Arguments): number {
  switch (tool) {
    case "verify_device_state":
    case "verify_node":
      return Array.isArray(result.verdicts) ? result.verdicts.length : 0;
    case "navigate_to_node":
    case "execute_edge":
      return result.verified === true ? 1 : 0;
    case "execute_testcase":
      return numberOf(result.verified_count);
    case "validate_navigation":
      return numberOf(result.passed) - numberOf(result.unverified);
    default:
      return 0;
  }
}

const numberOf = (value: unknown) => (typeof value === "number" ? value : 0);

/** Why a result is inconclusive: of a check, or of a run that ended so. */
const unsureIn = ({ inconclusive, reason }: Arguments): string | undefined =>
  typeof inconclusive === "string" ? inconclusive : messageOf(failureSchema.safeParse(reason).data);

const messageOf = (failure: Pick<Failure, "code" | "message"> | undefined): string | undefined =>
  failure?.code === unsureCode ? failure.message : undefined;

function endOf(reply: ToolReply): Pick<Step, "status" | "output" | "error"> {
  if (!reply.ok) {
    const { code, message } = reply.error;
    return { status: verdictOf(code), output: null, error: { code, message } };
  }
  return { status: statusOf(reply.structured), output: reply.structured };
}

/** A check that did not hold and a run that did not pass are not failures of the call, but of the step. */
function statusOf({ pass, status, inconclusive }: Arguments): Step["status"] {
  if (typeof inconclusive === "string") return "error";
  if (status === "failed" || status === "error" || status === "timeout" || status === "cancelled")
    return status;
  return pass === false ? "failed" : "passed";
}

const labelOf = (tool: string, args: Arguments) =>
  [tool, ...Object.values(args).filter((value) => typeof value === "string")].join(" ").slice(0, 120);

export function refused({ code, message, hint }: ToolError): ToolReply {
  return { ok: false, error: { code, message, hint, http_status: errors[code].status } };
}
