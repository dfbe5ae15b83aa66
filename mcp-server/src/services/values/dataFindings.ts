import type { parse } from "@bufbuild/cel";
import type { Params } from "../../domain/index.ts";
import { ExactNumber, jsonText } from "./exactNumbers.ts";

type Expr = NonNullable<ReturnType<typeof parse>["expr"]>;
type Key = string | number;
/** A name of the scope with what is selected below it. */
type DataPath = { text: string; keys: readonly Key[] };

const longestValue = 200;

/** `broken`: missing or null paths, and why. `unknown`: outputs that a block does not have. `read`: outputs with values. */
export type DataFindings = { broken: string[]; unknown: string[]; read: string[] };

/** The paths of data that an expression reads, judged against a scope. `bound` has names that are not data. */
export function dataFindings(
  expr: Expr | undefined,
  bound: ReadonlySet<string>,
  scope: Params,
): DataFindings {
  const paths = unique(pathsIn(expr, bound));
  const broken = (ofAuthor: boolean) => [
    ...new Set(
      paths
        .filter((path) => namesNoOutput(path, scope) === ofAuthor)
        .flatMap((path) => brokenAt(path, scope) ?? []),
    ),
  ];
  return {
    broken: broken(false),
    unknown: broken(true),
    read: paths
      .filter(({ keys }) => keys[1] === "output")
      .map((path) => `${path.text} is ${shown(valueBelow(path, scope))}`),
  };
}

const unique = (paths: readonly DataPath[]) => [...new Map(paths.map((path) => [path.text, path])).values()];

function pathsIn(expr: Expr | undefined, bound: ReadonlySet<string>): DataPath[] {
  if (!expr) return [];
  const path = pathOf(expr, bound);
  if (path) return [path];
  const { exprKind: kind } = expr;
  const all = (parts: readonly (Expr | undefined)[], names = bound) =>
    parts.flatMap((part) => pathsIn(part, names));
  switch (kind.case) {
    case "selectExpr":
      return all([kind.value.operand]);
    case "callExpr":
      return all([kind.value.target, ...kind.value.args]);
    case "listExpr":
      return all(kind.value.elements);
    case "structExpr":
      return all(kind.value.entries.map(({ value }) => value));
    case "comprehensionExpr": {
      const { iterVar, iterVar2, accuVar, iterRange, loopCondition, loopStep, result } = kind.value;
      const inside = new Set([...bound, iterVar, iterVar2, accuVar]);
      return [...all([iterRange]), ...all([loopCondition, loopStep, result], inside)];
    }
    default:
      return [];
  }
}

function pathOf(expr: Expr, bound: ReadonlySet<string>): DataPath | undefined {
  const { exprKind: kind } = expr;
  if (kind.case === "identExpr") {
    const { name } = kind.value;
    return bound.has(name) ? undefined : { text: name, keys: [name] };
  }
  if (kind.case === "selectExpr") {
    // `has(a.b)` asks whether it is there; only what is above must be.
    if (kind.value.testOnly) return undefined;
    return below(kind.value.operand && pathOf(kind.value.operand, bound), kind.value.field);
  }
  if (kind.case !== "callExpr" || kind.value.function !== "_[_]") return undefined;
  const [operand, index] = kind.value.args;
  const key = index && constantOf(index);
  return key === undefined ? undefined : below(operand && pathOf(operand, bound), key);
}

function constantOf({ exprKind: kind }: Expr): Key | undefined {
  if (kind.case !== "constExpr") return undefined;
  const { constantKind } = kind.value;
  if (constantKind.case === "stringValue") return constantKind.value;
  return constantKind.case === "int64Value" ? Number(constantKind.value) : undefined;
}

function below(path: DataPath | undefined, key: Key): DataPath | undefined {
  if (!path) return undefined;
  const isName = typeof key === "string" && /^[A-Za-z_]\w*$/.test(key);
  const text = isName ? `${path.text}.${key}` : `${path.text}[${JSON.stringify(key)}]`;
  return { text, keys: [...path.keys, key] };
}

function valueBelow({ keys }: DataPath, scope: Params): unknown {
  return keys.reduce<unknown>(childOf, scope);
}

function childOf(value: unknown, key: Key): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}

/** Whether a path names an output of a block that has no output of that name. */
const namesNoOutput = ({ keys }: DataPath, scope: Params): boolean =>
  keys[1] === "output" &&
  keys.length > 2 &&
  valueBelow({ text: "", keys: keys.slice(0, 2) }, scope) instanceof Object &&
  valueBelow({ text: "", keys: keys.slice(0, 3) }, scope) === undefined;

/** Says where a path breaks off and what is there; undefined for one that leads to a value. */
export function brokenAt({ text, keys }: DataPath, scope: Params): string | undefined {
  let value: unknown = scope;
  for (const [index, key] of keys.entries()) {
    const next = childOf(value, key);
    if (next === undefined) return `${text} is missing: ${nameOf(keys.slice(0, index))} is ${shown(value)}`;
    value = next;
  }
  return value === null ? `${text} is null` : undefined;
}

const nameOf = ([first, ...rest]: readonly Key[]) =>
  rest.reduce<DataPath>((path, key) => below(path, key) ?? path, { text: String(first), keys: [] }).text;

const mostNames = 12;

/** Says what a value is where something was looked for in it: the names that it has, or how many items. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value instanceof ExactNumber) return "a number";
  if (typeof value !== "object") return `a ${typeof value}`;
  const names = Object.keys(value);
  if (names.length === 0) return "an empty object";
  const more = names.length > mostNames ? ` … ${names.length - mostNames} more` : "";
  return `an object with ${names.slice(0, mostNames).join(", ")}${more}`;
}

function shown(value: unknown): string {
  if (typeof value === "object" && value !== null && !(value instanceof ExactNumber)) return kindOf(value);
  const text = jsonText(value) ?? "nothing";
  return text.length > longestValue ? `${text.slice(0, longestValue)} …` : text;
}
