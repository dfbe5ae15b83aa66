import type { Ajv, FuncKeywordDefinition } from "ajv";
import {
  compareNumbers,
  ExactNumber,
  isMultipleOf,
  isNumber,
  isWhole,
  sameJson,
} from "../../../values/exactNumbers.ts";

/** Ajv compares JavaScript numbers. It gets stand-ins, whole where the number is; the keywords below look up what was written. */
const written = new WeakMap<object, object>();

/** JSON with stand-ins in place of exact numbers; what holds none stays as it is. */
export function withStandIns(value: unknown): unknown {
  if (value instanceof ExactNumber) return standIn(value);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, item, withStandIns(item)] as const);
  if (entries.every(([, item, stand]) => item === stand)) return value;
  const stands = entries.map(([key, , stand]) => [key, stand] as const);
  const copy = Array.isArray(value) ? stands.map(([, stand]) => stand) : Object.fromEntries(stands);
  written.set(copy, value);
  return copy;
}

function standIn(value: ExactNumber): number {
  const number = Number(value.toString());
  if (!isWhole(value)) return Math.trunc(number) === number ? 0.5 : number;
  return Number.isFinite(number) ? number : Math.sign(number) * Number.MAX_VALUE;
}

const asWritten = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? (written.get(value) ?? value) : value;

type Validate = ReturnType<NonNullable<FuncKeywordDefinition["compile"]>>;
type Place = Parameters<Validate>[1];

/** What was written where a stand-in is. `root` is the checked value, which has no parent. */
function dataAt(data: unknown, at: Place, root: unknown): unknown {
  if (typeof data !== "number") return asWritten(data);
  return !at || at.instancePath === ""
    ? root
    : Reflect.get(Object(asWritten(at.parentData)), at.parentDataProperty);
}

type Judge = (wanted: unknown, found: unknown) => string | undefined;

const compared = (name: string, holds: (difference: number) => boolean): Judge => {
  return (limit, found) =>
    isNumber(limit) && isNumber(found) && !holds(compareNumbers(found, limit))
      ? `must be ${name} ${limit}`
      : undefined;
};

const judges: Readonly<Record<string, Judge>> = {
  const: (wanted, found) => (sameJson(wanted, found) ? undefined : "must be equal to constant"),
  enum: (wanted, found) =>
    Array.isArray(wanted) && wanted.some((one) => sameJson(one, found))
      ? undefined
      : "must be equal to one of the allowed values",
  minimum: compared(">=", (difference) => difference >= 0),
  maximum: compared("<=", (difference) => difference <= 0),
  exclusiveMinimum: compared(">", (difference) => difference > 0),
  exclusiveMaximum: compared("<", (difference) => difference < 0),
  multipleOf: (step, found) =>
    isNumber(step) && isNumber(found) && !isMultipleOf(found, step)
      ? `must be multiple of ${step}`
      : undefined,
  uniqueItems: (wanted, found) => (wanted === true && Array.isArray(found) ? repeated(found) : undefined),
};

function repeated(items: readonly unknown[]): string | undefined {
  for (const [at, item] of items.entries()) {
    const before = items.findIndex((other) => sameJson(other, item));
    if (before < at) return `must NOT have duplicate items (items ## ${before} and ${at} are identical)`;
  }
  return undefined;
}

const numeric: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
]);

/** Makes `ajv` judge numbers as they were written. `rootOf` returns the checked value. */
export function judgeNumbersExactly(ajv: Ajv, rootOf: () => unknown): void {
  for (const [keyword, judge] of Object.entries(judges)) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      ...(numeric.has(keyword) && { type: "number" as const, schemaType: "number" as const }),
      ...(keyword === "uniqueItems" && { type: "array" as const, schemaType: "boolean" as const }),
      ...(keyword === "enum" && { schemaType: "array" as const }),
      errors: "full",
      compile: (_standIn, parent) => validating(keyword, judge, asWritten(parent), rootOf),
    });
  }
}

function validating(keyword: string, judge: Judge, schema: unknown, rootOf: () => unknown) {
  const wanted: unknown = Reflect.get(Object(schema), keyword);
  const validate: Validate = (data: unknown, at) => {
    const message = judge(wanted, dataAt(data, at, rootOf()));
    if (message === undefined) return true;
    validate.errors = [{ instancePath: at?.instancePath ?? "", keyword, message, params: { wanted } }];
    return false;
  };
  return validate;
}
