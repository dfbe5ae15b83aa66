import type { Message, Model, ToolResult, ToolSpec, ToolUse } from "../model/model.ts";

/** What the agent may call. A tool's failure is a result, never an exception; an abort is. */
export type Toolbox = {
  specs: readonly ToolSpec[];
  call(use: ToolUse, signal: AbortSignal): Promise<ToolResult>;
};

/** How a run ended: `limit` names which limit. */
export type AgentEnd =
  | { outcome: "done"; text: string }
  | { outcome: "refused" }
  | { outcome: "limit"; limit: "turns" | "output_tokens" }
  | { outcome: "cancelled" }
  | { outcome: "failed"; error: string };

export type AgentEvent =
  | { type: "message"; text: string }
  | { type: "tool_call"; use: ToolUse }
  | { type: "tool_result"; result: ToolResult }
  | ({ type: "session_ended"; turns: number } & AgentEnd);

export type AgentOptions = {
  model: Model;
  toolbox: Toolbox;
  system: string;
  prompt: string;
  maxTurns: number;
  signal: AbortSignal;
};

/** Model turn, tools, model turn ... until the model stops or a limit does. Every step is an event; the last is the end. */
export async function* runAgent(options: AgentOptions): AsyncGenerator<AgentEvent, void> {
  const { signal } = options;
  const messages: Message[] = [{ role: "user", text: options.prompt }];
  let turns = 0;
  let end: AgentEnd | undefined;
  try {
    while (!end) {
      if (turns === options.maxTurns) end = { outcome: "limit", limit: "turns" };
      else {
        turns += 1;
        end = yield* takeTurn(options, messages);
      }
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    end = signal.aborted ? { outcome: "cancelled" } : { outcome: "failed", error: message };
  }
  yield { type: "session_ended", turns, ...end };
}

async function* takeTurn(
  { model, toolbox, system, signal }: AgentOptions,
  messages: Message[],
): AsyncGenerator<AgentEvent, AgentEnd | undefined> {
  const { text, toolUses, stop } = await model.complete({ system, tools: toolbox.specs, messages }, signal);
  messages.push({ role: "assistant", text, toolUses });
  if (text) yield { type: "message", text };
  if (stop === "refusal") return { outcome: "refused" };
  if (stop === "max_tokens") return { outcome: "limit", limit: "output_tokens" };
  if (toolUses.length === 0) return { outcome: "done", text };
  const toolResults: ToolResult[] = [];
  for (const group of groups(toolUses, toolbox.specs)) {
    for (const use of group) yield { type: "tool_call", use };
    const results = await Promise.all(group.map((use) => toolbox.call(use, signal)));
    for (const result of results) yield { type: "tool_result", result };
    toolResults.push(...results);
  }
  messages.push({ role: "user", toolResults });
  return undefined;
}

/** Neighbouring reads go together; a write goes alone, in its place. */
function groups(uses: readonly ToolUse[], specs: readonly ToolSpec[]): ToolUse[][] {
  const reads = new Set(specs.filter(({ readOnly }) => readOnly).map(({ name }) => name));
  const result: ToolUse[][] = [];
  let open = false;
  for (const use of uses) {
    const isRead = reads.has(use.name);
    const last = result.at(-1);
    if (isRead && open && last) last.push(use);
    else result.push([use]);
    open = isRead;
  }
  return result;
}
