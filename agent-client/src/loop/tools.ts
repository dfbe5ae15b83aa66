import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import type { BetaToolResultContentBlockParam } from "@anthropic-ai/sdk/resources/beta";
import { z } from "zod";
import type { AgentEventBody } from "../events.ts";
import type { ResultPart, Toolbox, ToolCall, ToolResult, ToolSpec } from "../ports.ts";

/** Decides on a call that waits for a person. `undefined` lets it through at once; a text says why it was refused. */
export type Gate = (call: ToolCall, spec: ToolSpec, signal: AbortSignal) => Promise<string | undefined>;

export type ToolDeps = {
  specs: readonly ToolSpec[];
  call: Toolbox["call"];
  gate: Gate;
  /** Whether the input of a call came only in part. */
  isBroken?(tool_use_id: string): boolean;
  signal: AbortSignal;
  emit(event: AgentEventBody): void;
  /** Milliseconds, for durations. */
  now(): number;
};

/** What an event shows of a result. */
const shownLetters = 4_000;
const inputSchema = z.record(z.string(), z.unknown());

/** The tools as the SDK's runner takes them. */
export const runnableTools = (
  specs: readonly ToolSpec[],
  call: ReturnType<typeof toolCaller>,
): BetaRunnableTool<Record<string, unknown>>[] =>
  specs.map(({ name, description, input_schema }) => ({
    name,
    description,
    input_schema: { ...input_schema },
    parse: (content) => inputSchema.parse(content),
    async run(input, context) {
      const { parts, isError } = await call({ name, input }, context?.toolUse.id ?? name);
      const content = parts.map(toBlock);
      if (isError) throw new ToolError(content);
      return content;
    },
  }));

/** Calls a tool of `specs`, by any caller: each call is announced, gated, and done in its order. */
export function toolCaller(deps: ToolDeps): (use: ToolCall, id: string) => Promise<ToolResult> {
  const inOrder = createOrder();
  return async (use, id) => {
    const spec = deps.specs.find(({ name }) => name === use.name);
    if (!spec) return failed(`NOT_FOUND: there is no tool ${use.name} here.`);
    return inOrder(spec.readOnly, () => runTool(deps, spec, use, id));
  };
}

async function runTool(deps: ToolDeps, spec: ToolSpec, use: ToolCall, id: string): Promise<ToolResult> {
  const { signal, emit, now } = deps;
  signal.throwIfAborted();
  const named = { tool_use_id: id, tool: spec.name };
  const refusal = deps.isBroken?.(id) ? broken : await deps.gate(use, spec, signal);
  emit({ type: "tool_call", ...named, input: { ...use.input } });
  const start = now();
  const result = refusal === undefined ? await callTool(deps, use, id) : failed(refusal);
  const { parts, isError, structured: { status } = {} } = result;
  emit({
    type: "tool_result",
    ...named,
    is_error: isError,
    // Of what was run now, not of a run that was read.
    ...(!spec.readOnly && typeof status === "string" && { status }),
    text: textOf(parts).slice(0, shownLetters),
    images: parts.filter(({ type }) => type === "image").length,
    duration_ms: Math.round(now() - start),
  });
  return result;
}

/** What breaks a call off is a result too: it is what was known when it ended. */
async function callTool(deps: ToolDeps, use: ToolCall, id: string): Promise<ToolResult> {
  const onProgress = (text: string) => deps.emit({ type: "progress", kind: "tool", text, tool_use_id: id });
  try {
    return await deps.call(use, { signal: deps.signal, onProgress });
  } catch (error) {
    if (deps.signal.aborted)
      return failed("CANCELLED: stopped while it ran; what it had done is not known here.");
    return failed(error instanceof Error ? error.message : String(error));
  }
}

const broken =
  "INVALID_INPUT: the input of this call was not complete JSON, so nothing was done. Send the call again.";

const failed = (text: string): ToolResult => ({ parts: [{ type: "text", text }], isError: true });

const textOf = (parts: readonly ResultPart[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

function toBlock(part: ResultPart): BetaToolResultContentBlockParam {
  // The API refuses a text of nothing.
  if (part.type === "text") return { type: "text", text: part.text || "(nothing)" };
  const media_type = imageTypes.find((type) => type === part.mimeType);
  if (media_type === undefined) return { type: "text", text: `(a picture as ${part.mimeType} is left out)` };
  return { type: "image", source: { type: "base64", media_type, data: part.base64 } };
}

/** Runs works as they may be: reads at the same time, a write alone and in its place. */
export function createOrder() {
  let lastWrite: Promise<unknown> = Promise.resolve();
  let reads: Promise<unknown>[] = [];
  return function inOrder<T>(isRead: boolean, work: () => Promise<T>): Promise<T> {
    if (isRead) {
      const read = lastWrite.then(work);
      reads.push(read.catch(() => {}));
      return read;
    }
    const write = Promise.all([lastWrite, ...reads]).then(work);
    lastWrite = write.catch(() => {});
    reads = [];
    return write;
  };
}
