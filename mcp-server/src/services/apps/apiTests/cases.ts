import fc from "fast-check";
import type { ApiOperation, ApiParameter, ApiSpec, Params } from "../../../domain/index.ts";
import { keyOf } from "../apis/requests/operationRequest.ts";
import { isObject } from "../apis/spec/reader.ts";
import { wholeSchema } from "../apis/spec/wholeSchema.ts";
import { type Trial, trialsOf } from "./badValues.ts";
import type { Good, Judge } from "./goodRequest.ts";
import { anyButCrash, notSuccess, type ReplyRules } from "./replyChecks.ts";
import {
  type Credentials,
  isJson,
  needsCredentials,
  noCredentials,
  type RequestFields,
  requestOf,
  type Values,
} from "./requests.ts";
import { flat, isRequired, lenient, listOf } from "./schemas.ts";
import type { AskKind, Planned } from "./types.ts";

export type CaseInput = {
  operation: ApiOperation;
  spec: ApiSpec;
  good: Good;
  rules: ReplyRules;
  base: string;
  credentials: Credentials;
  /** Whether the credentials were given: only then is anything known of wrong ones. */
  isKnown: boolean;
  expired: Credentials | undefined;
  judge: Judge;
  seed: number;
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

/** Everything that is tried of one operation besides the good request, most important first. Pure but for `judge`. */
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

/** The request to the operation with something else than the good values. */
export function planned(
  { operation, good, base, credentials, rules }: CaseInput,
  sending: Sending,
  said: Pick<Planned, "label" | "kind"> & Partial<Planned>,
): Planned {
  const values = sending.values ?? good.values;
  const request = requestOf(operation, values, { base, credentials, ...sending });
  // Of a method that is not there the document says nothing.
  const checks = sending.method === undefined ? checksFor(said.kind, rules) : [{ status: anyButCrash }];
  return { operation: operation.id, request, checks, ...said };
}

export function accessCases(input: CaseInput): Planned[] {
  const { operation, isKnown, expired } = input;
  if (!needsCredentials(operation, input.spec)) return [];
  const refused = (trial: string, credentials: Credentials): Planned =>
    planned(
      input,
      { credentials },
      {
        ...{ label: `${trial} credentials`, kind: "refused", field: "credentials", trial, fault: "F206" },
      },
    );
  return [
    refused("no", noCredentials),
    ...(isKnown ? [refused("wrong", wrongOnes(input.credentials))] : []),
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
  const { good, spec, judge } = input;
  const key = keyOf(parameter);
  const root = wholeSchema(parameter.schema, spec.definitions, "request");
  const make = (trial: string, kind: AskKind, value: unknown): Planned => {
    const parameters = { ...good.values.parameters, [key]: value };
    return planned(
      input,
      { values: { ...good.values, parameters } },
      {
        ...{ label: `${parameter.name} ${trial}`, kind, field: key, trial },
      },
    );
  };
  const cases: Planned[] = [];
  const hasDefault = flat(root, root).default !== undefined;
  if (parameter.in !== "path")
    cases.push(
      parameter.required
        ? make("missing", hasDefault ? "probe" : kindOf(false, good), undefined)
        : make("given", "probe", good.all[key]),
    );
  for (const { label, value } of trialsOf(flat(root, root), good.all[key], "address")) {
    if (!isSendable(parameter, value)) continue;
    const valid = await judge(lenient(root, "request"), value);
    // `name=` is for many servers as if it was not there.
    cases.push(make(label, value === "" ? "probe" : kindOf(valid, good), value));
  }
  return cases;
}

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

async function bodyCases(input: CaseInput): Promise<Planned[]> {
  const { good, judge, operation } = input;
  const { body, media = "" } = good.values;
  if (body === undefined || !isObject(good.bodySchema) || !isJson(media)) return [];
  const loose = lenient(good.bodySchema, "request");
  const make = async (label: string, field: Field, trial: Trial | undefined): Promise<Planned> => {
    const changed = withValue(body, field.path, trial);
    const valid = await judge(loose, changed);
    const kind = isAbsent(field, trial) ? "probe" : kindOf(valid, good);
    const at = ["body", ...field.path].join(".");
    return planned(
      input,
      { values: { ...good.values, body: changed } },
      {
        ...{ label: `${field.path.join(".") || "body"} ${label}`, kind, field: at, trial: label },
      },
    );
  };
  const fields = fieldsOf(body, good.bodySchema);
  const cases: Planned[] = [];
  for (const field of fields) {
    if (field.path.length > 0) cases.push(await make("missing", field, undefined));
    for (const trial of trialsOf(field.schema, field.value, "body"))
      cases.push(await make(trial.label, field, trial));
  }
  if (operation.body?.required)
    cases.push(
      planned(input, { values: { ...good.values, body: undefined } }, withoutBody(kindOf(false, good))),
    );
  return [...cases, ...(await randomCases(fields, loose, input))];
}

/** Many servers take null for what is left out, and fill in a default. */
function isAbsent({ path, required, schema }: Field, trial: Trial | undefined): boolean {
  const isMissing = trial === undefined || trial.value === null;
  return isMissing && (path.length === 0 || !required || schema.default !== undefined);
}

const withoutBody = (kind: AskKind) => ({ label: "no body", kind, field: "body", trial: "missing" });

/** Several fields at once, by the seed. */
async function randomCases(fields: readonly Field[], loose: unknown, input: CaseInput): Promise<Planned[]> {
  const { good, seed, judge } = input;
  const inner = fields.filter(({ path }) => path.length === 1);
  if (inner.length < 2) return [];
  const choices = inner.map(({ schema, value }) =>
    fc.option(fc.constantFrom(...trialsOf(schema, value, "body")), { freq: 2, nil: undefined }),
  );
  const bodies = fc
    .sample(fc.tuple(...choices), { seed, numRuns: 3 })
    .map((picked) =>
      picked.reduce<unknown>(
        (body, trial, at) => (trial ? withValue(body, inner[at]?.path ?? [], trial) : body),
        good.values.body,
      ),
    );
  return Promise.all(
    bodies.map(async (body, at) => {
      const kind = kindOf(await judge(loose, body), good);
      return planned(
        input,
        { values: { ...good.values, body } },
        {
          ...{ label: `random ${at + 1}`, kind, field: "body", trial: "random" },
        },
      );
    }),
  );
}

/** The body itself and its fields, two levels deep; of a list its first item. */
function fieldsOf(body: unknown, root: Params): Field[] {
  const fields: Field[] = [];
  const visit = (field: Omit<Field, "schema">, part: unknown): void => {
    if (fields.length >= mostFields) return;
    const { path, value } = field;
    const schema = flat(part, root);
    fields.push({ ...field, schema });
    if (path.length < 3)
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
  const { operation, spec, good } = input;
  const { media = "", body } = good.values;
  const cases: Planned[] = [];
  if (body !== undefined && isJson(media)) {
    const raw = planned(
      input,
      {},
      { label: "not JSON", kind: kindOf(false, good), field: "body", trial: "not JSON" },
    );
    const typed = planned(
      input,
      {},
      { label: "content type text/plain", kind: "probe", field: "content-type" },
    );
    cases.push(
      { ...raw, request: { ...raw.request, body: '{"labwright": ' } },
      {
        ...typed,
        request: {
          ...typed.request,
          headers: { ...typed.request.headers, "content-type": "text/plain" } as RequestFields["headers"],
          body: JSON.stringify(body).replaceAll("{{", "\\{{"),
        },
      },
    );
  }
  const same = spec.operations.filter(({ path }) => path === operation.path);
  const method = usualMethods.find((one) => same.every((other) => other.method !== one));
  if (same[0] === operation && method) {
    const { parameters } = good.values;
    const values = { parameters };
    cases.push(
      planned(
        input,
        { values, method },
        { label: `method ${method}, which is not there`, kind: "probe", field: "method" },
      ),
    );
  }
  if (operation.method === "GET")
    cases.push(...[2, 3, 4].map((at) => planned(input, {}, { label: `again, ${at}`, kind: "good" })));
  return cases.filter(({ checks }) => listOf(checks).length > 0);
}
