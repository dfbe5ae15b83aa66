import { nearest } from "@labwright/controllers";
import { z } from "zod";

type Issue = z.core.$ZodIssue;
type UnionIssue = Extract<Issue, { code: "invalid_union" }>;
type Path = readonly PropertyKey[];

/** `path` of an unknown key leads to the object that has it. */
export type SchemaProblem = { path: PropertyKey[]; message: string; key?: string };

/** The issues of the branch that fits best, or a message; undefined to take the schema's own. */
export type Branch = (issue: UnionIssue, path: Path) => readonly Issue[] | string | undefined;

/** A caller may send a million unknown keys; the nearest known one takes some 20 µs to find. */
const mostOffers = 100;

/** Every problem of a failed parse. The first 100 unknown keys are named with the nearest known one. */
export function schemaProblems(
  issues: readonly Issue[],
  schema: z.core.$ZodType,
  branch: Branch = closestBranch,
): SchemaProblem[] {
  let offers = 0;
  const describe = (issue: Issue, above: Path): SchemaProblem[] => {
    const path = [...above, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      const known = offers < mostOffers ? [...new Set(keysAt(schema, path))] : [];
      return issue.keys.map((key) => {
        offers += 1;
        return { path, message: `unknown key "${key}"${offers <= mostOffers ? offer(key, known) : ""}`, key };
      });
    }
    const fitting = issue.code === "invalid_union" ? branch(issue, path) : undefined;
    if (fitting === undefined || typeof fitting === "string")
      return [{ path, message: fitting ?? issueText(issue) }];
    return fitting.flatMap((inner) => describe(inner, path));
  };
  return issues.flatMap((issue) => describe(issue, []));
}

/** `; did you mean "name"?` for the nearest known name; empty if none is near. */
export function didYouMean(wanted: string, known: Iterable<string>): string {
  const [best] = nearest(wanted, [...known], 1);
  return best === undefined ? "" : `; did you mean "${best}"?`;
}

const offer = (key: string, known: readonly string[]): string =>
  didYouMean(key, known) || (known.length > 0 ? `; known are ${known.join(", ")}` : "");

const closestBranch: Branch = ({ errors }) => errors.toSorted((a, b) => weight(a) - weight(b))[0];

const weight = (issues: readonly Issue[]): number =>
  issues.reduce((sum, issue) => sum + (issue.code === "invalid_type" && issue.path.length === 0 ? 10 : 1), 0);

/** `devices[0].controllers.web` */
export const pathText = (path: Path): string =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");

/** The value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

function keysAt(schema: z.core.$ZodType, path: Path): string[] {
  return branchesAt(schema, path).flatMap((branch) =>
    branch instanceof z.ZodObject ? Object.keys(branch.shape) : [],
  );
}

/** The schemas that apply at `path`: without wrappers, each branch of a union by itself. */
export function branchesAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType[] {
  const inside = unwrapped(schema);
  if (inside.length > 0) return inside.flatMap((inner) => branchesAt(inner, path));
  const [step, ...rest] = path;
  if (step === undefined) return [schema];
  const inner = childAt(schema, step);
  return inner === undefined ? [] : branchesAt(inner, rest);
}

function unwrapped(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options;
  if (schema instanceof z.ZodPipe) return [schema.in];
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodLazy;
  return isWrapper ? [schema.unwrap()] : [];
}

function childAt(schema: z.core.$ZodType, step: PropertyKey): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element;
  if (schema instanceof z.ZodRecord) return schema.valueType;
  return schema instanceof z.ZodObject ? schema.shape[String(step)] : undefined;
}

const nouns: Readonly<Record<string, string>> = {
  ...{ string: "text", number: "a number", int: "a whole number", boolean: "true or false" },
  ...{ array: "a list", object: "a map", record: "a map", null: "empty", undefined: "missing" },
};
const nounOf = (type: string) => nouns[type] ?? type;
const units: Readonly<Record<string, string>> = { string: " characters", array: " items" };

/** An issue as a text for a person. A schema's own message stays. */
function issueText(issue: Issue): string {
  const { message } = issue;
  if (!/^(?:Invalid input|Invalid option|Too small|Too big): expected /.test(message)) return message;
  switch (issue.code) {
    case "invalid_type":
      return typeText(issue.expected, message);
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return boundText(issue.origin, issue.minimum, issue.inclusive === false ? "more than" : "at least");
    case "too_big":
      return boundText(issue.origin, issue.maximum, issue.inclusive === false ? "less than" : "at most");
    default:
      return message;
  }
}

/** Zod's issue has the received type only in its message. */
function typeText(expected: string, message: string): string {
  const received = /, received (\w+)$/.exec(message)?.[1] ?? "something else";
  const wanted = `must be ${nounOf(expected)}`;
  return received === "undefined" ? `is missing; it ${wanted}` : `${wanted}, not ${nounOf(received)}`;
}

function boundText(origin: string, bound: number | bigint, relation: string): string {
  const unit = units[origin];
  if (unit === undefined) return `must be ${relation} ${bound}`;
  return `must have ${relation} ${bound}${bound === 1 ? unit.slice(0, -1) : unit}`;
}
