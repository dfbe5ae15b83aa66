import { parentPort } from "node:worker_threads";
import { Ajv, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { jsonText, parseJson, TooDeep } from "../../../values/exactNumbers.ts";
import type { SchemaAnswer, SchemaQuestion } from "./schemaChecker.ts";
import { judgeNumbersExactly, withStandIns } from "./schemaNumbers.ts";

/** So many schemas stay compiled at once. */
const mostKept = 100;
const mostFindings = 5;
const longestExpected = 300;

// Strict in keywords, so that one with a typing error is a problem and not passed over. Nothing is fetched: without a
// `loadSchema` a reference to another document is a problem.
const options: Options = {
  strictSchema: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allErrors: true,
  logger: false,
  messages: true,
  // It takes longer than it saves.
  code: { optimize: false },
};
const compiled = new Map<string, ValidateFunction>();

parentPort?.on("message", (question: SchemaQuestion) => parentPort?.postMessage(answer(question)));

function answer({ schema, value }: SchemaQuestion): SchemaAnswer {
  try {
    const validate = compile(schema);
    if (value === undefined || holds(validate, parseJson(value))) return { findings: [], more: 0 };
    const errors = ownErrors(validate.errors ?? []);
    const more = Math.max(0, errors.length - mostFindings);
    return { findings: errors.slice(0, mostFindings).map(findingOf), more };
  } catch (error) {
    return { problem: problemOf(error), findings: [], more: 0 };
  }
}

/** What is being checked, as it was written. */
let root: unknown;

function holds(validate: ValidateFunction, value: unknown): boolean {
  root = value;
  return validate(withStandIns(value));
}

function compile(text: string): ValidateFunction {
  const known = compiled.get(text);
  if (known) return known;
  if (compiled.size >= mostKept) compiled.clear();
  const validate = compileNew(withStandIns(parseJson(text)));
  compiled.set(text, validate);
  return validate;
}

/** With an instance of its own: two schemas may have one `$id`. */
function compileNew(schema: unknown): ValidateFunction {
  if (!isSchema(schema)) throw new Error("it is neither an object nor true or false");
  const version = typeof schema === "object" ? String(schema.$schema) : "";
  const isDraft7 = /\/draft-0[67]\/schema#?$/.test(version);
  const ajv = isDraft7 ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  judgeNumbersExactly(ajv, () => root);
  return ajv.compile(schema);
}

const isSchema = (value: unknown): value is AnySchemaObject | boolean =>
  typeof value === "boolean" || (typeof value === "object" && value !== null && !Array.isArray(value));

function problemOf(error: unknown): string {
  if (error instanceof RangeError || error instanceof TooDeep)
    return "it refers to itself without end, or is nested too deep";
  const message = error instanceof Error ? error.message : String(error);
  return /^can't resolve reference/.test(message)
    ? `${message.slice(0, 300)}; nothing is fetched, so put what it refers to into $defs`
    : message.slice(0, 300);
}

/** An error that only says that a subschema failed adds nothing to that one's own. */
const ownErrors = (errors: readonly ErrorObject[]) => {
  const own = errors.filter(({ keyword }) => keyword !== "if");
  return own.length > 0 ? own : errors;
};

function findingOf({
  instancePath: pointer,
  message,
  params,
  keyword,
}: ErrorObject): SchemaAnswer["findings"][number] {
  const values = keyword === "enum" || keyword === "const" ? ` (${jsonText(Object.values(params)[0])})` : "";
  const extra = typeof params.additionalProperty === "string" ? ` (${params.additionalProperty})` : "";
  return { pointer, expected: `${message ?? keyword}${values}${extra}`.slice(0, longestExpected) };
}
