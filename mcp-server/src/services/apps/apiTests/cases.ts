import type { ApiOperation, ApiParameter, Params } from "../../../domain/index.ts";
import { isForm, isJson } from "../apis/requests/media.ts";
import { keyOf } from "../apis/requests/operationRequest.ts";
import { isObject } from "../apis/spec/reader.ts";
import { wholeSchema } from "../apis/spec/wholeSchema.ts";
import { type Trial, trialsOf } from "./badValues.ts";
import type { Good } from "./goodRequest.ts";
import { anyButCrash, notSuccess, type ReplyRules } from "./replyChecks.ts";
import { type Credentials, needsCredentials, noCredentials, requestOf, type Values } from "./requests.ts";
import { flat, isRequired, lenient } from "./schemas.ts";
import type { AskKind, Planned } from "./types.ts";
import type { World } from "./world.ts";

export type CaseInput = {
  operation: ApiOperation;
  world: World;
  /** With the parameters that were made for it. */
  good: Good;
  rules: ReplyRules;
  /** Credentials that must be refused. */
  expired: Credentials | undefined;
  /** The most cases; the most important come first. */
  most: number;
};

/** Addresses are cut by many servers, and by ours. */
const longestUrl = 2_000;
const mostFields = 40;

export const checksFor = (kind: AskKind, { success, failsOnly, checks }: ReplyRules): Planned["checks"] => {
  if (kind === "setup" || kind === "rule") return [];
  const statuses = { good: success, invalid: notSuccess, refused: notSuccess, probe: anyButCrash } as const;
  return [{ status: [statuses[kind], failsOnly ? [500] : []].flat() }, ...checks];
};

/** Everything that is tried of one operation besides the good request, most important first. Pure but for `world.judge`. */
export async function casesOf(input: CaseInput): Promise<{ cases: Planned[]; left: number }> {
  const found = [
    ...accessCases(input),
    ...(await parameterCases(input)),
    ...(await bodyCases(input)),
    ...otherCases(input),
  ].filter(({ request }) => request.url.length <= longestUrl);
  const ranked = distinct(found).map((one, at) => ({ one, rank: rankOf(one), at }));
  ranked.sort((a, b) => a.rank - b.rank || a.at - b.at);
  return {
    cases: ranked.slice(0, input.most).map(({ one }) => one),
    left: Math.max(0, found.length - input.most),
  };
}

/** No request twice, but to measure its time. */
function distinct(cases: readonly Planned[]): Planned[] {
  const seen = new Set<string>();
  return cases.filter(({ request, kind }) => {
    const text = JSON.stringify(request);
    return kind === "good" || (!seen.has(text) && seen.add(text));
  });
}

const ranks: readonly RegExp[] = [
  /credentials/,
  /missing|no body/,
  /wrong type|unknown enum/,
  /least|greatest|too |short|long|null/,
];
function rankOf({ label }: Planned): number {
  const rank = ranks.findIndex((pattern) => pattern.test(label));
  return rank < 0 ? ranks.length : rank;
}

type Sending = { values?: Values; credentials?: Credentials; method?: string };

/** The request to the operation with something else than the good one has. */
export function planned(
  { operation, good, world, rules }: CaseInput,
  { values = good.values, credentials = world.credentialsOf(operation), ...sending }: Sending,
  said: Pick<Planned, "label" | "kind"> & Partial<Planned>,
): Planned {
  const request = requestOf(operation, values, { credentials, ...sending });
  // Of a method that is not there the document says nothing.
  const checks = sending.method === undefined ? checksFor(said.kind, rules) : [{ status: anyButCrash }];
  return { operation: operation.id, request, checks, ...said };
}

export function accessCases(input: CaseInput): Planned[] {
  const { operation, world, expired } = input;
  if (!needsCredentials(operation, world.spec)) return [];
  const refused = (trial: string, credentials: Credentials): Planned => {
    const said = { label: `${trial} credentials`, kind: "refused", field: "credentials", trial } as const;
    return planned(input, { credentials }, { ...said, fault: "F206" });
  };
  return [
    refused("no", noCredentials),
    // Nothing is known of wrong ones where no right ones were given.
    ...(world.roles.length > 0 ? [refused("wrong", wrongOnes(world.credentialsOf(operation)))] : []),
    ...(expired ? [refused("expired", expired)] : []),
  ];
}

function wrongOnes({ header, query, cookie }: Credentials): Credentials {
  const wrong = (value: string) => value.replace(/\S+$/, "labwright-wrong");
  const all = (part: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(part).map(([name, value]) => [name, wrong(value)]));
  return { header: all(header), query: all(query), cookie: all(cookie) };
}

async function parameterCases(input: CaseInput): Promise<Planned[]> {
  const cases: Planned[] = [];
  for (const parameter of input.operation.parameters.slice(0, mostFields))
    cases.push(...(await casesOfParameter(parameter, input)));
  return cases;
}

async function casesOfParameter(parameter: ApiParameter, input: CaseInput): Promise<Planned[]> {
  const { good, world } = input;
  const key = keyOf(parameter);
  const root = wholeSchema(parameter.schema, world.spec.definitions, "request");
  const schema = flat(root, root);
  const make = (trial: string, kind: AskKind, value: unknown): Planned => {
    const values = { ...good.values, parameters: { ...good.values.parameters, [key]: value } };
    return planned(input, { values }, { label: `${parameter.name} ${trial}`, kind, field: key, trial });
  };
  const cases: Planned[] = [];
  if (parameter.in !== "path")
    cases.push(
      parameter.required
        ? make("missing", schema.default === undefined ? kindOf(false, good) : "probe", undefined)
        : make("given", "probe", good.all[key]),
    );
  for (const { label, value } of trialsOf(schema, good.all[key], "address")) {
    if (!isSendable(parameter, value)) continue;
    const valid = await world.judge(lenient(root, "request"), value);
    cases.push(make(label, isNothing(value) ? "probe" : kindOf(valid, good), value));
  }
  return cases;
}

/** In an address or a form: `name=` is for many servers as if it was not there, and an empty list leaves nothing. */
const isNothing = (value: unknown): boolean => value === "" || (Array.isArray(value) && value.length === 0);

/** An empty part of a path is another path, and headers hold no other letters. */
function isSendable({ in: place }: ApiParameter, value: unknown): boolean {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length > 1_000 || (place === "path" && (text === "" || text === "[]"))) return false;
  return place === "query" || place === "path" || /^[\x20-\x7e]*$/.test(text);
}

/** What follows from a value that the schema allows, or does not. Undefined: the schema cannot say. */
export const kindOf = (valid: boolean | undefined, { isSound }: Good): AskKind =>
  valid === false && isSound ? "invalid" : "probe";

type Field = { path: readonly (string | number)[]; schema: Params; value: unknown; required: boolean };

/** Fields of JSON are tried with all values, those of forms with texts; other bodies are not varied. */
function placeOf({ body, media = "" }: Values): "body" | "address" | undefined {
  if (body === undefined) return undefined;
  return isJson(media) ? "body" : isForm(media) ? "address" : undefined;
}

async function bodyCases(input: CaseInput): Promise<Planned[]> {
  const { good, operation } = input;
  const place = placeOf(good.values);
  if (!place || !isObject(good.bodySchema)) return [];
  const cases: Planned[] = [];
  for (const field of fieldsOf(good.values.body, good.bodySchema, place === "body" ? 3 : 1)) {
    const missing = field.path.length > 0 ? [undefined] : [];
    for (const trial of [...missing, ...trialsOf(field.schema, field.value, place)])
      cases.push(await fieldCase(field, trial, input));
  }
  if (!operation.body?.required) return cases;
  const none = { label: "no body", kind: kindOf(false, good), field: "body", trial: "missing" };
  return [...cases, planned(input, { values: { ...good.values, body: undefined } }, none)];
}

async function fieldCase(field: Field, trial: Trial | undefined, input: CaseInput): Promise<Planned> {
  const { good, world } = input;
  const values = { ...good.values, body: withValue(good.values.body, field.path, trial) };
  const isOpen = isAbsent(field, trial) || (placeOf(values) === "address" && isNothing(trial?.value));
  const valid = isOpen ? undefined : await world.judge(lenient(good.bodySchema, "request"), values.body);
  const name = trial?.label ?? "missing";
  const said = { label: `${field.path.join(".") || "body"} ${name}`, kind: kindOf(valid, good), trial: name };
  return planned(input, { values }, { ...said, field: ["body", ...field.path].join(".") });
}

/** Many servers take null for what is left out, and fill in a default. */
function isAbsent({ path, required, schema }: Field, trial: Trial | undefined): boolean {
  const isMissing = trial === undefined || trial.value === null;
  return isMissing && (path.length === 0 || !required || schema.default !== undefined);
}

/** The body itself and its fields down to a level; of a list its first item. */
function fieldsOf(body: unknown, root: Params, deepest: number): Field[] {
  const fields: Field[] = [];
  const visit = (field: Omit<Field, "schema">, part: unknown): void => {
    if (fields.length >= mostFields) return;
    const { path, value } = field;
    const schema = flat(part, root);
    fields.push({ ...field, schema });
    if (path.length < deepest)
      for (const [inner, own] of innerOf(value, schema))
        visit({ ...inner, path: [...path, ...inner.path] }, own);
  };
  visit({ path: [], value: body, required: true }, root);
  return fields;
}

/** Named fields of an object that its schema knows, or the first item of a list, each with its schema. */
function innerOf(value: unknown, schema: Params): [Omit<Field, "schema">, unknown][] {
  if (Array.isArray(value))
    return value.length > 0 ? [[{ path: [0], value: value[0], required: true }, schema.items]] : [];
  const known = isObject(schema.properties) ? schema.properties : {};
  return Object.entries(isObject(value) ? value : {}).flatMap(
    ([name, own]): [Omit<Field, "schema">, unknown][] =>
      known[name] === undefined
        ? []
        : [[{ path: [name], value: own, required: isRequired(schema, name) }, known[name]]],
  );
}

/** A copy with another value at the place, or without it. */
export function withValue(
  whole: unknown,
  path: Field["path"],
  trial: { value: unknown } | undefined,
): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return trial?.value;
  if (Array.isArray(whole))
    return whole.flatMap((item, at) => {
      if (at !== first) return [item];
      return rest.length === 0 && !trial ? [] : [withValue(item, rest, trial)];
    });
  if (!isObject(whole)) return whole;
  const { [String(first)]: old, ...others } = whole;
  if (rest.length === 0 && !trial) return others;
  return { ...whole, [String(first)]: withValue(old, rest, trial) };
}

const usualMethods = ["PUT", "PATCH", "DELETE", "POST", "GET"] as const;

/** Other content types, text that is not JSON, a method that is not there: once for a path. */
function otherCases(input: CaseInput): Planned[] {
  const { operation, world, good } = input;
  const { media = "", body, parameters } = good.values;
  const cases: Planned[] = [];
  if (body !== undefined && isJson(media)) {
    const kind = kindOf(false, good);
    const raw = planned(input, {}, { label: "not JSON", kind, field: "body", trial: "not JSON" });
    const said = { label: "content type text/plain", kind: "probe", field: "content-type" } as const;
    const typed = planned(input, {}, said);
    const headers = { ...typed.request.headers, "content-type": "text/plain" };
    const text = JSON.stringify(body).replaceAll("{{", "\\{{");
    cases.push(
      { ...raw, request: { ...raw.request, body: '{"labwright": ' } },
      { ...typed, request: { ...typed.request, headers, body: text } },
    );
  }
  const same = world.spec.operations.filter(({ path }) => path === operation.path);
  const method = usualMethods.find((one) => same.every((other) => other.method !== one));
  if (same[0] === operation && method) {
    const said = { label: `method ${method}, which is not there`, kind: "probe", field: "method" } as const;
    cases.push(planned(input, { values: { parameters }, method }, said));
  }
  if (operation.method === "GET")
    cases.push(...[2, 3, 4].map((at) => planned(input, {}, { label: `again, ${at}`, kind: "good" })));
  return cases;
}
