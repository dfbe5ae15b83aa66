import { quoted } from "@labwright/controllers";
import type { Params, TestCaseInput, ValueType } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { isNumber, isNumberText, jsonText, parseJson, readNumber } from "../../values/exactNumbers.ts";
import { placeholdersIn } from "../../values/placeholders.ts";
import { resolveValue, resolveValues, withExactNumbers } from "../../values/values.ts";

/** Given inputs win over defaults, variables over the app's. Throws INVALID_INPUT for a variable of the wrong type. */
export function startScope(
  testcase: TestCaseInput,
  given: Params,
  appVariables: Params,
  env: unknown,
): Params {
  const { types = {} } = testcase;
  const defaults = testcase.inputs.filter(({ name }) => !Object.hasOwn(given, name));
  const base: Params = withExactNumbers({ ...appVariables, env });
  for (const { name, default: value } of defaults) base[name] = withExactNumbers(value ?? null);
  Object.assign(base, withTypes(withExactNumbers(given), types).values);
  const { values, problems } = withTypes(resolveValues(testcase.variables, base), types);
  if (problems.length === 0) return { ...base, ...values };
  const lines = problems.map(([name, problem]) => `the variable "${name}": ${problem}`);
  throw new ToolError(
    "INVALID_INPUT",
    `${testcase.name}: ${lines.join("; ")}.`,
    "Correct the variable, or its type under types.",
  );
}

export function outputsOf({ outputs }: TestCaseInput, scope: Params): Params {
  const found: Params = {};
  for (const [name, source] of Object.entries(outputs)) {
    const value = outputOf(source, scope);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function outputOf(source: string, scope: Params): unknown {
  if (placeholdersIn(source).length === 0) return Object.hasOwn(scope, source) ? scope[source] : undefined;
  try {
    return resolveValue(source, scope);
  } catch (error) {
    if (error instanceof ToolError && error.code === "UNKNOWN_VARIABLE") return undefined;
    throw error;
  }
}

export type Types = Readonly<Record<string, ValueType>>;
type Typed = { value: unknown } | { problem: string };

const number = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;
const longestFound = 200;

/** The value as its declared type. A text that spells a number, true, false or JSON is read as such. */
export function asType(value: unknown, type: ValueType): Typed {
  const taken = typeof value === "string" ? spelled(value, type) : value;
  if (typeOf(taken) === type) return { value: taken };
  if (type === "text" && (isNumber(value) || typeof value === "boolean")) return { value: String(value) };
  return { problem: `it is to be a ${type}; found ${foundText(value)}` };
}

/** Values with their declared types, and what is wrong with those that are something else, by name. */
export function withTypes(values: Params, types: Types): { values: Params; problems: [string, string][] } {
  const problems: [string, string][] = [];
  const typed = Object.entries(values).map(([name, value]) => {
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    const found = type === undefined ? { value } : asType(value, type);
    if ("problem" in found) problems.push([name, found.problem]);
    return [name, "value" in found ? found.value : value];
  });
  return { values: Object.fromEntries(typed), problems };
}

function spelled(text: string, type: ValueType): unknown {
  if (type === "number") return numberIn(text.trim());
  if (type === "boolean") return { true: true, false: false }[text.trim().toLowerCase()] ?? text;
  if (type === "text") return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** As written, where it is written as in JSON. */
const numberIn = (text: string): unknown => {
  if (isNumberText(text)) return readNumber(text);
  return number.test(text) ? Number(text) : text;
};

function typeOf(value: unknown): ValueType | undefined {
  if (Array.isArray(value)) return "list";
  if (typeof value === "string") return "text";
  if (isNumber(value)) return "number";
  if (typeof value === "number") return undefined;
  if (typeof value === "boolean") return "boolean";
  return typeof value === "object" && value !== null ? "object" : undefined;
}

function foundText(value: unknown): string {
  const type = typeOf(value);
  const text = typeof value === "string" ? quoted(value) : (jsonText(value) ?? "nothing");
  const cut =
    text.length > longestFound ? `${text.slice(0, longestFound)}… ${text.length - longestFound} more` : text;
  return type === undefined ? cut : `the ${type} ${cut}`;
}
