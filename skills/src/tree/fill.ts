import { fillValue, joinText, NoValue, refuseLarge, textAt } from "./placeholders.ts";
import type { DecisionTree, Mapping, Mappings, SimpleTreeAction, TreeAction } from "./schema.ts";
import { bindSql } from "./sql.ts";
import type { FilledAction, ReplyRules, Scope, SimpleAction } from "./types.ts";

type Of<Type extends SimpleTreeAction["type"]> = Extract<SimpleTreeAction, { type: Type }>;

/**
 * Fills all placeholders of an action. `at`: what time ranges end at. Throws {@link NoValue} for a value that is missing, and for an
 * action that becomes too large.
 */
export function fillAction(
  action: TreeAction,
  tree: Pick<DecisionTree, "mappings">,
  scope: Scope,
  at: number,
): FilledAction {
  const filled = fillAll(action, tree, scope, at);
  refuseLarge(filled);
  return filled;
}

function fillAll(
  action: TreeAction,
  { mappings }: Pick<DecisionTree, "mappings">,
  scope: Scope,
  at: number,
): FilledAction {
  if (action.type !== "parallel") return fillSimple(action, mappings, scope, at);
  const actions = Object.entries(action.actions).map(
    ([name, one]) => [name, fillSimple(one, mappings, scope, at)] as const,
  );
  return { type: "parallel", actions: Object.fromEntries(actions) };
}

function fillSimple(action: SimpleTreeAction, mappings: Mappings, scope: Scope, at: number): SimpleAction {
  if (action.type === "tool")
    return { type: "tool", tool: action.tool, arguments: record(fillValue(action.arguments ?? {}, scope)) };
  const mapping = action.mapping === undefined ? undefined : mappings.mappings[action.mapping];
  const params = paramsOf(action, mapping, scope);
  // Times in whole spans of the cache, so that the same action comes again within one.
  const spanMs = (mapping?.cache_ttl ?? 0) * 1_000 || 1;
  const until = at - (at % spanMs);
  const ranged = Object.entries(params).map(([name, value]) => [name, withTimeRange(value, until)] as const);
  const inner = { ...scope, ...Object.fromEntries(ranged) };
  const source = action.source ?? mapping?.api ?? "";
  const reply: ReplyRules = {
    cache_ttl: mapping?.cache_ttl,
    parser: mappings.parsers[mapping?.response_parser ?? ""],
    schema: mapping?.response_schema && schemaOf(action.type, mapping.response_schema, mappings),
  };
  if (action.type === "http") return fillRequest(action, mapping, mappings, inner, source, reply);
  return { type: "query", source, ...bindSql(queryOf(action, mapping, mappings, inner), inner), reply };
}

const unitMs: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/** `last_30_days` (or minutes, hours, weeks) as ISO 8601 times up to `at`, which is in milliseconds since 1970. */
function withTimeRange(value: unknown, at: number): unknown {
  const found = typeof value === "string" && /^last_(\d{1,5})_(minute|hour|day|week)s?$/.exec(value);
  if (!found) return value;
  const [, count, unit = ""] = found;
  const from = at - Number(count) * (unitMs[unit] ?? 0);
  return { from: new Date(from).toISOString(), to: new Date(at).toISOString() };
}

/** Those of the mapping, over them those of the action, with their placeholders filled. */
function paramsOf(
  { params = {} }: Of<"query"> | Of<"http">,
  mapping: Mapping | undefined,
  scope: Scope,
): Record<string, unknown> {
  const { required = [], ...ofMapping } = mapping?.params ?? {};
  const filled = record(fillValue({ ...ofMapping, ...params }, scope));
  const missing = required.find((name) => (filled[name] ?? scope[name] ?? null) === null);
  if (missing !== undefined) throw new NoValue(`the parameter ${missing} is missing`);
  return filled;
}

function queryOf(
  action: Of<"query">,
  mapping: Mapping | undefined,
  { queries, builders }: Mappings,
  scope: Scope,
): string {
  if (action.query_template !== undefined) return action.query_template;
  if (mapping?.query !== undefined) return queries[mapping.query] ?? "";
  return joinPieces(builders[mapping?.query_builder ?? ""] ?? [], (name) => (scope[name] ?? null) !== null);
}

/** The SQL of a builder with the pieces whose parameter has a value. */
export const joinPieces = (
  pieces: Mappings["builders"][string],
  hasValue: (name: string) => boolean,
): string =>
  pieces
    .filter((piece) => piece.if === undefined || hasValue(piece.if))
    .map(({ sql }) => sql.trim())
    .join("\n");

function fillRequest(
  action: Of<"http">,
  mapping: Mapping | undefined,
  { requests }: Mappings,
  scope: Scope,
  source: string,
  reply: ReplyRules,
): SimpleAction {
  const named = mapping?.request === undefined ? undefined : requests[mapping.request];
  const request =
    action.path === undefined ? { ...named, path: named?.path ?? "/" } : { ...action, path: action.path };
  return {
    type: "http",
    source,
    method: request.method ?? "GET",
    path: fillPath(request.path, scope),
    query: texts(request.query, scope),
    headers: texts(request.headers, scope),
    body: fillValue(request.body, scope),
    reply,
  };
}

/** Values are percent-encoded. One that would make the path lead elsewhere is refused. */
function fillPath(template: string, scope: Scope): string {
  const path = joinText(template, (name) => {
    const text = textAt(name, scope);
    if (text === "") throw new NoValue(`${name} is empty, and a path needs it`);
    return encodeURIComponent(text);
  });
  // An address takes %2e for a dot too.
  if (path.split("/").some((part) => part === "." || part === ".."))
    throw new NoValue(`the path ${path} leads out of its folder`);
  return path;
}

const texts = (values: Readonly<Record<string, unknown>> | undefined, scope: Scope): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values ?? {}).map(([name, value]) => [
      name,
      joinText(String(value), (path) => textAt(path, scope)),
    ]),
  );

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** JSON Schema of the reply. The `object` of a query is each of its rows. */
function schemaOf(
  type: "query" | "http",
  wanted: NonNullable<Mapping["response_schema"]>,
  { item_types }: Mappings,
): Record<string, unknown> {
  if (wanted.type === "array")
    return { type: "array", items: objectSchema(item_types[wanted.item_type ?? ""]?.fields ?? []) };
  const object = objectSchema(wanted.fields);
  return type === "query" ? { type: "array", items: object } : object;
}

type Field = Mappings["item_types"][string]["fields"][number];

const objectSchema = (fields: readonly Field[]): Record<string, unknown> => ({
  type: "object",
  properties: Object.fromEntries(fields.map((field) => [field.name, typeSchema(field)])),
  required: fields.map(({ name }) => name),
});

function typeSchema({ type, nullable }: Field): Record<string, unknown> {
  if (type === "any") return {};
  return { type: nullable ? [type, "null"] : type };
}
