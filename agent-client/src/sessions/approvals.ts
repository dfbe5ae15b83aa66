import type { Agent } from "../agents/agent.ts";
import type { AgentEventBody } from "../events.ts";
import type { Gate } from "../loop/tools.ts";
import type { Clock, StoredSession, ToolCall, ToolSpec } from "../ports.ts";
import type { Settings } from "../settings.ts";
import { newId } from "./transcript.ts";

type ApprovalRequired = Extract<AgentEventBody, { type: "approval_required" }>;

/** A call that waits for a person. Only the first decision counts; then, or when its time is over, it is not open any more. */
export type OpenApproval = {
  session: Pick<StoredSession, "id" | "agent" | "owner">;
  required: ApprovalRequired;
  decide(approved: boolean): void;
};
/** By `approval_id`. */
export type OpenApprovals = Map<string, OpenApproval>;

/**
 * Calls that wait for a person: those that destroy, and those that the agent names, by `tool` or `tool:command`. While one
 * waits it is in `openApprovals`, which several runs may share.
 */
export function createApprovals(
  { approvals: asked }: Pick<Agent, "approvals">,
  {
    settings,
    clock,
    openApprovals: open = new Map(),
  }: {
    settings: Pick<Settings, "approval_timeout_seconds">;
    clock: Clock;
    openApprovals?: OpenApprovals | undefined;
  },
  { session, emit }: { session: OpenApproval["session"]; emit(event: AgentEventBody): void },
) {
  const timeoutMs = settings.approval_timeout_seconds * 1_000;

  const gate: Gate = async (call, spec, signal) => {
    const reason = reasonFor(call, spec, asked);
    if (reason === undefined) return undefined;
    const approval_id = newId();
    const expires_at = new Date(clock.now() + timeoutMs).toISOString();
    const { name: tool, input } = call;
    const required: ApprovalRequired = {
      ...{ type: "approval_required", approval_id, tool, reason, expires_at },
      input: { ...input },
    };
    const over = new AbortController();
    const decided = new Promise<boolean | undefined>((resolve) => {
      const settle = (approved?: boolean) => {
        open.delete(approval_id);
        resolve(approved);
      };
      open.set(approval_id, { session, required, decide: settle });
      const expire = () => settle();
      clock.sleep(timeoutMs, AbortSignal.any([signal, over.signal])).then(expire, expire);
    });
    emit(required);
    const approved = await decided;
    over.abort();
    signal.throwIfAborted();
    const word = approved === undefined ? "expired" : approved ? "approved" : "refused";
    emit({ type: "progress", kind: "approval", text: `${tool}: ${word}` });
    if (approved) return undefined;
    return `NOT_APPROVED: ${approved === undefined ? `it was not approved by ${expires_at}` : "the user refused it"}. Nothing was done. Do not ask for it again; go on without it or say what is missing.`;
  };

  return {
    gate,
    pending: (): ApprovalRequired[] =>
      [...open.values()].filter((one) => one.session.id === session.id).map(({ required }) => required),
    /** False when it is not waited for. */
    decide(approval_id: string, approved: boolean): boolean {
      const found = open.get(approval_id);
      if (found?.session.id !== session.id) return false;
      found.decide(approved);
      return true;
    },
  };
}

/** A destructive tool of ours does no harm without its `confirm` or `replace`; then it needs no approval. */
export function cannotBeUndone({ input }: ToolCall, spec: ToolSpec): boolean {
  if (!spec.destructive) return false;
  const words = ["confirm", "replace"].filter((word) => takes(spec, word));
  return words.length === 0 || words.some((word) => input[word] === true);
}

function reasonFor(call: ToolCall, spec: ToolSpec, asked: readonly string[]): string | undefined {
  const { name, input } = call;
  if (cannotBeUndone(call, spec)) return "It cannot be undone.";
  const commands = commandsIn(input);
  const named = [name, ...commands.map((command) => `${name}:${command}`)].find((one) => asked.includes(one));
  return named && `This agent asks before ${named}.`;
}

const takes = ({ input_schema: { properties } }: ToolSpec, word: string): boolean =>
  typeof properties === "object" && properties !== null && word in properties;

/** `command` of the call and of every action in it. */
function commandsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(commandsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "command" && typeof inner === "string" ? [inner] : commandsIn(inner),
  );
}
