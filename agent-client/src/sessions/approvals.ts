import type { Agent } from "../agents/agent.ts";
import type { AgentEventBody } from "../events.ts";
import type { Gate } from "../loop/tools.ts";
import type { Clock, ToolCall, ToolSpec } from "../ports.ts";
import type { Settings } from "../settings.ts";
import { newId } from "./transcript.ts";

type ApprovalRequired = Extract<AgentEventBody, { type: "approval_required" }>;

/** Calls that wait for a person: those that destroy, and those that the agent names, by `tool` or `tool:command`. */
export function createApprovals(
  { approvals: asked }: Pick<Agent, "approvals">,
  { settings, clock }: { settings: Pick<Settings, "approval_timeout_seconds">; clock: Clock },
  emit: (event: AgentEventBody) => void,
) {
  const timeoutMs = settings.approval_timeout_seconds * 1_000;
  const open = new Map<string, { required: ApprovalRequired; decide(approved: boolean): void }>();

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
      open.set(approval_id, { required, decide: resolve });
      const expire = () => resolve(undefined);
      clock.sleep(timeoutMs, AbortSignal.any([signal, over.signal])).then(expire, expire);
    });
    emit(required);
    const approved = await decided;
    open.delete(approval_id);
    over.abort();
    signal.throwIfAborted();
    const word = approved === undefined ? "expired" : approved ? "approved" : "refused";
    emit({ type: "progress", kind: "approval", text: `${tool}: ${word}` });
    if (approved) return undefined;
    return `NOT_APPROVED: ${approved === undefined ? `it was not approved by ${expires_at}` : "the user refused it"}. Nothing was done. Do not ask for it again; go on without it or say what is missing.`;
  };

  return {
    gate,
    pending: (): ApprovalRequired[] => [...open.values()].map(({ required }) => required),
    /** False when it is not waited for. */
    decide(approval_id: string, approved: boolean): boolean {
      const found = open.get(approval_id);
      found?.decide(approved);
      return found !== undefined;
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
