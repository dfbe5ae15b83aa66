import { quoted } from "@labwright/controllers";
import type { ApiCheck, JsonType, WantedStatus } from "../../../../domain/index.ts";
import { kindOf } from "../../../values/dataFindings.ts";
import { ExactNumber, isNumber, isWhole, jsonText, sameJson } from "../../../values/exactNumbers.ts";
import { compileExpression } from "../../../values/expressions.ts";
import { type Answer, parsedJson } from "./answer.ts";
import { atPointer, type Found, findAll, type JsonPath, parseJsonPath } from "./jsonPath.ts";
import type { SchemaChecker } from "./schemaChecker.ts";

/** One checked thing. A broken one says what was found, and where in the answer. */
export type Judged = { expected: string; pass: true } | Broken;
export type Broken = { expected: string; pass: false; found: string; path?: string };

const longestValue = 300;

/**
 * What judges JSON by a schema, and hides secrets from patterns and schemas. `passesSecrets`: what a schema says of a value that
 * holds one is not judged.
 */
type Judges = {
  check: SchemaChecker["check"];
  hide?: (<T>(value: T) => T) | undefined;
  passesSecrets?: boolean;
};

/**
 * Judges an answer by all checks, in order. With `hide`, no pattern, length or bound is compared with a value that holds a secret.
 * Throws for an invalid schema or pattern.
 */
export async function judge(checks: readonly ApiCheck[], answer: Answer, schemas: Judges): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const check of checks)
    if (check.if_status === undefined || isStatus(check.if_status, answer))
      judged.push(...(await judgeOne(check, answer, schemas)));
  return judged;
}

async function judgeOne(check: ApiCheck, answer: Answer, schemas: Judges): Promise<Judged[]> {
  if (check.status !== undefined) return [judgeStatus(check.status, answer)];
  if (check.time_below_ms !== undefined) return [judgeTime(check.time_below_ms, answer.duration_ms)];
  if (check.header !== undefined) {
    const name = check.header.toLowerCase();
    const value = answer.headers[name];
    const at = {
      path: `header ${name}`,
      ...(value === undefined ? { missing: headerNames(answer) } : { value }),
    };
    return judgeValues(check, [at], schemas);
  }
  const path = parseJsonPath(check.json_path ?? "$");
  const read = bodyFor(check, path, answer);
  if ("not_json" in read)
    return [{ expected: "a body that is JSON", pass: false, found: read.not_json, path: "$" }];
  return judgeValues(check, findAll(path, read.body), schemas);
}

/** `$` of a text is the text. Any other question reads it as JSON, whatever its content type. */
function bodyFor(check: ApiCheck, path: JsonPath, answer: Answer): { body: unknown } | { not_json: string } {
  const type = answer.headers["content-type"] ?? "none";
  const from = `status ${answer.status}, content type ${type}`;
  if (answer.not_json !== undefined) return { not_json: `${answer.not_json} (${from})` };
  const { body } = answer;
  if (typeof body !== "string" || /[/+]json\b/i.test(type) || !asksForJson(check, path)) return { body };
  const parsed = parsedJson(body);
  if (!("not_json" in parsed)) return parsed;
  return { not_json: `${shown(body)} is not JSON: ${parsed.not_json} (${from})` };
}

const asksForJson = ({ json_schema, equals, type }: ApiCheck, path: JsonPath): boolean =>
  path.length > 0 ||
  json_schema !== undefined ||
  (equals !== undefined && typeof equals !== "string") ||
  (type !== undefined && type !== "string");

const headerNames = ({ headers }: Answer) => `the answer has ${Object.keys(headers).join(", ")}`;

function judgeStatus(wanted: WantedStatus, answer: Pick<Answer, "status">): Judged {
  const expected = `status ${[wanted].flat().join(", ")}`;
  const pass = isStatus(wanted, answer);
  return pass ? { expected, pass } : { expected, pass, found: `status ${answer.status}` };
}

const isStatus = (wanted: WantedStatus, { status }: Pick<Answer, "status">): boolean =>
  [wanted]
    .flat()
    .some((one) => String(one).replace("xx", "") === String(status).slice(0, /xx/.test(String(one)) ? 1 : 3));

export function judgeTime(limitMs: number, durationMs: number): Judged {
  const expected = `an answer in less than ${limitMs} ms`;
  if (durationMs < limitMs) return { expected, pass: true };
  return { expected, pass: false, found: `${durationMs} ms` };
}

async function judgeValues(check: ApiCheck, found: readonly Found[], schemas: Judges): Promise<Judged[]> {
  const judged: Judged[] = [];
  const { hide = (value) => value } = schemas;
  const { present, equals, type, matches, json_schema } = check;
  if (present !== undefined) judged.push(firstBroken(found, (at) => judgePresent(present, at)));
  if (equals !== undefined) {
    const said = `equals ${shown(equals)}`;
    judged.push(firstBroken(found, (at) => judgeValue(at, said, (value) => sameJson(value, equals))));
  }
  if (type !== undefined) {
    const foundIn = (value: unknown) => `${typeOf(value)} ${shown(value)}`;
    const said = `is of type ${type}`;
    judged.push(firstBroken(found, (at) => judgeValue(at, said, (value) => isOfType(value, type), foundIn)));
  }
  if (matches !== undefined) {
    const hits = await matching(matches, found);
    judged.push(firstBroken(found, (at) => judgeMatch(at, matches, () => hits.has(at), hide)));
  }
  if (json_schema !== undefined) judged.push(...(await judgeSchema(json_schema, found, schemas)));
  return judged;
}

/** One verdict for all values of a path: the first that breaks it. */
function firstBroken(found: readonly Found[], judgeAt: (at: Found) => Judged): Judged {
  const all = found.map(judgeAt);
  const broken = all.filter((one) => !one.pass);
  const [first] = broken;
  if (!first) return all[0] ?? { expected: "", pass: true };
  if (broken.length === 1 || first.pass) return first;
  return { ...first, found: `${first.found} (and ${broken.length - 1} of ${all.length} more)` };
}

const missingAt = (expected: string, { path, missing }: { path: string; missing: string }): Broken => ({
  expected,
  pass: false,
  found: `nothing: ${missing}`,
  path,
});

function judgePresent(wanted: boolean, at: Found): Judged {
  const isThere = "value" in at;
  const expected = `${at.path} is ${wanted ? "present" : "absent"}`;
  if (isThere === wanted) return { expected, pass: true };
  return isThere ? { expected, pass: false, found: shown(at.value), path: at.path } : missingAt(expected, at);
}

/** `said` is what must hold of the value, such as `equals 3`. */
function judgeValue(
  at: Found,
  said: string,
  holds: (value: unknown) => boolean,
  foundIn: (value: unknown) => string = shown,
): Judged {
  const expected = `${at.path} ${said}`;
  if ("missing" in at) return missingAt(expected, at);
  if (holds(at.value)) return { expected, pass: true };
  return { expected, pass: false, found: foundIn(at.value), path: at.path };
}

function judgeMatch(
  at: Found,
  pattern: string,
  holds: (value: unknown) => boolean,
  hide: <T>(value: T) => T,
): Judged {
  const isSecret = "value" in at && hide(String(at.value)) !== String(at.value);
  if (!isSecret) return judgeValue(at, `matches ${quoted(pattern)}`, holds);
  return {
    expected: `${at.path} matches ${quoted(pattern)}`,
    pass: false,
    found: "a secret, which no pattern is compared with: use equals with {{secret.NAME}}",
    path: at.path,
  };
}

const isOfType = (value: unknown, type: JsonType): boolean =>
  type === typeOf(value) || (type === "integer" && isNumber(value) && isWhole(value));

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (value instanceof ExactNumber) return "number";
  return Array.isArray(value) ? "array" : typeof value;
}

/** RE2, as in conditions: linear in the text, whatever the pattern. */
async function matching(pattern: string, found: readonly Found[]): Promise<ReadonlySet<Found>> {
  const expression = await compileExpression("text.matches(pattern)");
  const hits = new Set<Found>();
  for (const at of found) {
    const value = "value" in at ? at.value : undefined;
    if (typeof value !== "string" && typeof value !== "boolean" && !isNumber(value)) continue;
    if ((await expression.evaluate({ text: String(value), pattern })) === true) hits.add(at);
  }
  return hits;
}

async function judgeSchema(
  schema: NonNullable<ApiCheck["json_schema"]>,
  found: readonly Found[],
  { check, hide = (value) => value, passesSecrets }: Judges,
): Promise<Judged[]> {
  const judged: Judged[] = [];
  const readsParts = partKeywords.test(JSON.stringify(schema));
  for (const at of found) {
    const expected = `${at.path} is as its JSON Schema says`;
    if ("missing" in at) return [missingAt(expected, at)];
    // A text is an unresolved placeholder; the checker reports it as an invalid schema.
    const { findings, more } = await check(asSchema(schema), {
      json: readsParts ? hide(at.value) : at.value,
    });
    judged.push(
      ...findings.flatMap((finding, index): Judged[] => {
        const rest = more > 0 && index === findings.length - 1 ? ` (and ${more} more)` : "";
        const { path, value } = atPointer(finding.pointer, at);
        if (passesSecrets && readsParts && !sameJson(hide(value), value)) return [];
        return [{ expected: `${path} ${finding.expected}`, found: shown(value) + rest, path, pass: false }];
      }),
    );
    if (judged.length > 0) return judged;
  }
  return [{ expected: `${found[0]?.path ?? "$"} is as its JSON Schema says`, pass: true }];
}

/** By these, the answer to one question after the other would find a value out. */
const partKeywords =
  /"(pattern|patternProperties|minLength|maxLength|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)"/;

const asSchema = (schema: NonNullable<ApiCheck["json_schema"]>) =>
  typeof schema === "string" ? { type: schema } : schema;

function shown(value: unknown): string {
  const text = typeof value === "string" ? quoted(value) : (jsonText(value) ?? "nothing");
  if (text.length <= longestValue) return text;
  return typeof value === "object" && !isNumber(value)
    ? kindOf(value)
    : `${text.slice(0, longestValue)} … ${text.length - longestValue} more`;
}
