import type { ActionResult, FilledAction, SimpleAction, SimpleResult } from "@labwright/skills";
import { ToolError } from "../../../errors.ts";
import type { Clock, Run } from "../../ports.ts";
import { reasonOf } from "../../records/executions/index.ts";
import { projectInUse } from "../../records/inUse.ts";
import type { ScriptTools } from "../../runs/scripts/index.ts";
import { compileExpression } from "../../values/expressions.ts";
import type { ReplyCache } from "./cache.ts";
import type { OpenSources } from "./sources/index.ts";

/** How long a database or an API may work for one action. */
const actionMs = 30_000;
const mostFindings = 3;

/** Judges a reply by JSON Schema; `pointer` is where it breaks it. */
export type SchemaPort = {
  check(
    schema: Record<string, unknown>,
    value: { json: unknown },
  ): Promise<{ findings: readonly { pointer: string; expected: string }[]; more: number }>;
};

/** The path of every call, and what a tool says of itself. */
export type ToolPort = ScriptTools;

/** Sums over an investigation: requests that went out, replies that a cache had, milliseconds in which sources worked. */
export type Tally = { calls: number; cached: number; source_ms: number };

export type ActionPorts = {
  sources: OpenSources;
  cache: ReplyCache;
  schemas: SchemaPort;
  tools(): ToolPort;
  clock: Clock;
  run: Run;
  tally: Tally;
};

/** Runs an action. An action that fails is a result; only the end of the run is thrown. */
export async function runAction(action: FilledAction, ports: ActionPorts): Promise<ActionResult> {
  if (action.type !== "parallel") return runOne(action, ports);
  const parts = await Promise.all(
    Object.entries(action.actions).map(async ([name, one]) => [name, await runOne(one, ports)] as const),
  );
  return { parts: Object.fromEntries(parts) };
}

async function runOne(action: SimpleAction, ports: ActionPorts): Promise<SimpleResult> {
  const { clock, run, tally } = ports;
  try {
    const known = cachedReply(action, ports);
    if (known) {
      tally.cached += 1;
      return { value: known.reply };
    }
    tally.calls += 1;
    const started = clock.monotonic();
    const raw = await ask(action, ports).finally(() => {
      tally.source_ms += clock.monotonic() - started;
    });
    run.signal.throwIfAborted();
    if (action.type === "tool") return { value: raw };
    const value = await ruled(action, raw, ports);
    ports.cache.keep(keyOf(action, ports), value, (action.reply.cache_ttl ?? 0) * 1_000);
    return { value };
  } catch (error) {
    run.signal.throwIfAborted();
    const { code, message } = reasonOf(error);
    // It becomes a part of the question's sentence.
    return { error: { code, message: message.replace(/\.$/, "") } };
  }
}

/** The source as it is set up now is a part of the question. */
const keyOf = (action: SimpleAction, { sources }: ActionPorts) => [sources.id, action];

function cachedReply(action: SimpleAction, ports: ActionPorts): { reply: unknown } | undefined {
  if (action.type === "tool" || !action.reply.cache_ttl) return undefined;
  return ports.cache.find(keyOf(action, ports));
}

function ask(action: SimpleAction, ports: ActionPorts): Promise<unknown> {
  if (action.type === "tool") return callTool(action, ports);
  const limits = { signal: ports.run.signal, timeoutMs: actionMs };
  if (action.type === "http") return ports.sources.request(action.source, action, limits);
  return ports.sources.query(action.source, { parts: action.pieces, values: action.params }, limits);
}

async function callTool(
  { tool, arguments: given }: Extract<SimpleAction, { type: "tool" }>,
  { tools, run }: ActionPorts,
): Promise<unknown> {
  const { calls, find } = tools();
  const effect = find(tool)?.effect;
  if (effect !== undefined && effect !== "read")
    throw new ToolError(
      "CONFIRMATION_REQUIRED",
      `An investigation only reads, and ${tool} changes something.`,
      "Make it a recommended_action, which a person approves and carries out.",
    );
  const { principal, client } = run.context;
  const reply = await calls({
    ...{ name: tool, arguments: given, principal, client, project: projectInUse(), signal: run.signal },
    within: { execution_id: run.id },
  });
  if (reply.ok) return reply.structured;
  throw Object.assign(new Error(`${reply.error.message} ${reply.error.hint}`), { code: reply.error.code });
}

/** The reply reshaped by its parser and judged by its schema. Throws INVALID_RESPONSE. */
async function ruled(
  { source, reply: { parser, schema } }: Exclude<SimpleAction, { type: "tool" }>,
  raw: unknown,
  { schemas }: ActionPorts,
): Promise<unknown> {
  const value = parser === undefined ? raw : await parsed(parser, raw);
  if (schema === undefined) return value;
  const { findings, more } = await schemas.check(schema, { json: value });
  if (findings.length === 0) return value;
  const shown = findings.slice(0, mostFindings);
  const rest = more + findings.length - shown.length;
  const said = shown.map(({ pointer, expected }) => `${pointer || "the reply"} ${expected}`).join("; ");
  throw new ToolError(
    "INVALID_RESPONSE",
    `The reply of ${source} breaks its response_schema: ${said}${rest > 0 ? ` (and ${rest} more)` : ""}.`,
    "Correct response_schema in api_mappings.yaml, or ask the source's owner what changed.",
  );
}

async function parsed(parser: string, result: unknown): Promise<unknown> {
  try {
    return await (await compileExpression(parser)).evaluate({ result });
  } catch (error) {
    throw new ToolError(
      "INVALID_RESPONSE",
      `The reply does not fit its response_parser: ${error instanceof Error ? error.message : String(error)}`,
      "Correct the parser in api_mappings.yaml, or look at what the source answers.",
      {},
      { cause: error },
    );
  }
}
