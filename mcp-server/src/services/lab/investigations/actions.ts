import type { ActionResult, FilledAction, SimpleAction } from "@labwright/skills";
import { ToolError } from "../../../errors.ts";
import type { Clock, Run } from "../../ports.ts";
import { reasonOf } from "../../records/executions/index.ts";
import { projectInUse } from "../../records/inUse.ts";
import type { ToolCalls } from "../../runs/scripts/index.ts";
import type { ReplyCache } from "./cache.ts";
import type { Expressions } from "./expressions.ts";
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

/** The path of every call, and what a tool does to the world. */
export type ToolPort = {
  calls: ToolCalls;
  effectOf(tool: string): "read" | "write" | "destructive" | undefined;
};

export type ActionPorts = {
  sources: OpenSources;
  cache: ReplyCache;
  expressions: Expressions;
  schemas: SchemaPort;
  tools(): ToolPort;
  clock: Clock;
  run: Run;
};

/** What an action took: `asked` requests went out, `cached` replies were there. */
export type Taken = { asked: number; cached: number; sourceMs: number };
export type Done = { result: ActionResult; taken: Taken };

type One = { result: { value: unknown } | { error: { code: string; message: string } }; taken: Taken };

/** Runs an action. An action that fails is a result; only the end of the run is thrown. */
export async function runAction(action: FilledAction, ports: ActionPorts): Promise<Done> {
  if (action.type !== "parallel") return runOne(action, ports);
  const done = await Promise.all(
    Object.entries(action.actions).map(async ([name, one]) => [name, await runOne(one, ports)] as const),
  );
  return {
    result: { parts: Object.fromEntries(done.map(([name, { result }]) => [name, result])) },
    taken: sumOf(done.map(([, { taken }]) => taken)),
  };
}

const sumOf = (all: readonly Taken[]): Taken =>
  all.reduce(
    (sum, one) => ({
      asked: sum.asked + one.asked,
      cached: sum.cached + one.cached,
      sourceMs: sum.sourceMs + one.sourceMs,
    }),
    { asked: 0, cached: 0, sourceMs: 0 },
  );

async function runOne(action: SimpleAction, ports: ActionPorts): Promise<One> {
  const { clock, run } = ports;
  const taken = { asked: 0, cached: 0, sourceMs: 0 };
  try {
    const known = cachedReply(action, ports);
    if (known) return { result: { value: known.reply }, taken: { ...taken, cached: 1 } };
    taken.asked = 1;
    const started = clock.monotonic();
    const raw = await ask(action, ports).finally(() => {
      taken.sourceMs = clock.monotonic() - started;
    });
    run.signal.throwIfAborted();
    const value = await ruled(action, raw, ports);
    if (action.type !== "tool")
      ports.cache.keep(keyOf(action, ports), value, (action.reply.cache_ttl ?? 0) * 1_000);
    return { result: { value }, taken };
  } catch (error) {
    run.signal.throwIfAborted();
    const { code, message } = reasonOf(error);
    // It becomes a part of the question's sentence.
    return { result: { error: { code, message: message.replace(/\.$/, "") } }, taken };
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
  const { calls, effectOf } = tools();
  const effect = effectOf(tool);
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
  action: SimpleAction,
  raw: unknown,
  { expressions, schemas }: ActionPorts,
): Promise<unknown> {
  if (action.type === "tool") return raw;
  const { parser, schema } = action.reply;
  const value = parser === undefined ? raw : await expressions.parse(parser, raw);
  if (schema === undefined) return value;
  const { findings, more } = await schemas.check(schema, { json: value });
  if (findings.length === 0) return value;
  const shown = findings.slice(0, mostFindings);
  const rest = more + findings.length - shown.length;
  const said = shown.map(({ pointer, expected }) => `${pointer || "the reply"} ${expected}`).join("; ");
  throw new ToolError(
    "INVALID_RESPONSE",
    `The reply of ${action.source} breaks its response_schema: ${said}${rest > 0 ? ` (and ${rest} more)` : ""}.`,
    "Correct response_schema in api_mappings.yaml, or ask the source's owner what changed.",
  );
}
