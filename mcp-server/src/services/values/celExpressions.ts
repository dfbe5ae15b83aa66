import {
  type CelInput,
  CelScalar,
  celEnv,
  celFunc,
  isCelError,
  isCelList,
  isCelMap,
  isCelUint,
  parse,
  plan,
} from "@bufbuild/cel";
import type { Params } from "../../domain/index.ts";
import { ToolError } from "../../errors.ts";
import { Budget, mostKept } from "./budget.ts";
import { boundedStrings } from "./celGrowth.ts";
import { type DataFindings, dataFindings } from "./dataFindings.ts";
import { isNumber, type JsonNumber, readNumber, wholeOf } from "./exactNumbers.ts";
import { unknownVariables } from "./placeholders.ts";
import { quicklyOrElse } from "./slowExpressions.ts";

const maxLength = 2_000;
const maxDepth = 40;
/** Elements that nested macros such as `exists` may visit together. */
const maxVisits = 1_000_000;
const maxCompiled = 200;

/** `loop` is a reserved word of CEL; a stand-in of the same length keeps the positions in messages right. */
const loopName = "loop";
const loopStandIn = "_lw_";

type Expr = ReturnType<typeof parse>["expr"];

/** A compiled CEL expression. `names` are what it reads from a scope, sorted. */
export type Expression = {
  readonly names: readonly string[];
  /**
   * The value as JSON would hold it. Throws INVALID_INPUT with the place or the output that a block has not, UNKNOWN_VARIABLE,
   * and VERIFICATION_FAILED where the data has not what the expression reads.
   */
  evaluate(scope: Params): unknown;
  /** The same, for as long as it takes: for a thread with a deadline. */
  evaluateWhole(scope: Params): unknown;
};

const kept = new Map<string, Expression>();

/**
 * Compiles a CEL expression (cel.dev) with its string functions. It may stand between `{{` and `}}`. Whole JSON numbers are
 * CEL integers, others doubles, and arithmetic may mix the two; `7 / 2` is 3 and `7 / 2.0` is 3.5. Regular expressions are
 * RE2, so none hangs. Throws INVALID_INPUT with line and column; bounded in length, depth, work and time.
 */
export function compileExpression(source: string): Expression {
  const known = kept.get(source);
  if (known) return known;
  const expression = compile(withoutBraces(source));
  const [oldest] = kept.keys();
  if (kept.size >= maxCompiled && oldest !== undefined) kept.delete(oldest);
  kept.set(source, expression);
  return expression;
}

/** As it stands in a text. Blanks in place of the braces keep the positions in messages right. */
const withoutBraces = (source: string) =>
  source.replace(
    /^(\s*)\{\{([^{}]*)\}\}(\s*)$/,
    (_, before, inner, after) => `${before}  ${inner}  ${after}`,
  );

function compile(source: string): Expression {
  refuseDeepText(source);
  const parsed = parsing(source);
  const shape = { names: new Set<string>(), types: new Set<string>(), loops: 0 };
  visit(parsed.expr, { bound: new Set(), depth: 1, loops: 0 }, shape, source);
  const names = [...shape.names].map((name) => (name === loopStandIn ? loopName : name)).sort();
  const run = planning(source, parsed);
  const evaluate = (scope: Params, within: (scope: Params, work: () => unknown) => unknown): unknown => {
    const missing = names.filter((name) => !Object.hasOwn(scope, name));
    if (missing.length > 0) throw unknownVariables(missing, Object.keys(scope));
    // A variable stands above a type of its name.
    const read = [...names, ...[...shape.types].filter((name) => Object.hasOwn(scope, name))];
    const used = read.map((name) => [name === loopName ? loopStandIn : name, scope[name]] as const);
    refuseMuchWork(source, shape.loops, used);
    const needed = Object.fromEntries(
      used.map(([name, value]) => [name === loopStandIn ? loopName : name, value ?? null]),
    );
    return within(needed, () => {
      const result = run(Object.fromEntries(used.map(([name, value]) => [name, toCel(value)])));
      if (isCelError(result)) {
        const types = new Set([...typeNames].filter((name) => !read.includes(name)));
        const data = dataFindings(parsed.expr, types, Object.fromEntries(used));
        throw (
          dataFault(source, result.message, data) ??
          failed(source, result, parsed.sourceInfo?.positions ?? {})
        );
      }
      const budget = new Budget(mostKept, (limit) => invalid(source, `gives more than ${limit}`));
      return fromCel(result, source, budget);
    });
  };
  return {
    names,
    evaluate: (scope) => evaluate(scope, (needed, work) => quicklyOrElse(source, needed, work)),
    evaluateWhole: (scope) => evaluate(scope, (_, work) => work()),
  };
}

/** Throws what `evaluate` throws, INVALID_INPUT for neither true nor false, VERIFICATION_FAILED for null. */
export function holds(source: string, scope: Params): boolean {
  const value = compileExpression(source).evaluate(scope);
  if (typeof value === "boolean") return value;
  if (value === null) throw notHeld(source, [`${source} is null`]);
  throw new ToolError(
    "INVALID_INPUT",
    `The expression "${source}" gave ${JSON.stringify(value)}, neither true nor false.`,
    "Compare it with something, as in count == 2.",
  );
}

const mixed = (name: string, apply: (a: number, b: number) => number) => [
  celFunc(name, [CelScalar.DOUBLE, CelScalar.INT], CelScalar.DOUBLE, (a, b) => apply(a, doubleOf(b))),
  celFunc(name, [CelScalar.INT, CelScalar.DOUBLE], CelScalar.DOUBLE, (a, b) => apply(doubleOf(a), b)),
];

function doubleOf(whole: bigint): number {
  const double = Number(whole);
  if (BigInt(double) === whole) return double;
  throw new Error(`${whole} has more digits than a sum with a decimal keeps`);
}

const environment = celEnv({
  funcs: [
    ...boundedStrings,
    ...mixed("_+_", (a, b) => a + b),
    ...mixed("_-_", (a, b) => a - b),
    ...mixed("_*_", (a, b) => a * b),
    ...mixed("_/_", (a, b) => a / b),
  ],
});

function parsing(source: string) {
  try {
    return parse(withoutReserved(source));
  } catch (error) {
    const text = error instanceof Error ? error.message.replace(/^<input>:/, "at ") : String(error);
    throw invalid(source, `cannot be read ${text}`, { cause: error });
  }
}

/** Planning and running report errors as values; what they throw all the same (a deep stack, a long string) is caught. */
function planning(source: string, parsed: ReturnType<typeof parse>) {
  const guarded = <T>(run: () => T): T => {
    try {
      return run();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      throw invalid(source, `could not be evaluated: ${text}`, { cause: error });
    }
  };
  const run = guarded(() => plan(environment, parsed));
  return (bindings: Record<string, CelInput>) => guarded(() => run(bindings));
}

function refuseDeepText(source: string): void {
  if (source.length > maxLength) throw invalid(source.slice(0, 60), `is longer than ${maxLength} characters`);
  let open = 0;
  for (const character of source) {
    if ("([{".includes(character)) open += 1;
    if (")]}".includes(character)) open -= 1;
    if (open > maxDepth) throw invalid(source.slice(0, 60), `is nested deeper than ${maxDepth} levels`);
  }
}

type Place = { bound: ReadonlySet<string>; depth: number; loops: number };
/** `types` are names of types, which a scope may have for something else. */
type Shape = { names: Set<string>; types: Set<string>; loops: number };

const typeNames = new Set([
  "bool",
  "bytes",
  "double",
  "dyn",
  "int",
  "list",
  "map",
  "null_type",
  "string",
  "type",
  "uint",
]);

function visit(expr: Expr | undefined, place: Place, shape: Shape, source: string): void {
  if (!expr) return;
  if (place.depth > maxDepth) throw invalid(source.slice(0, 60), `is nested deeper than ${maxDepth} levels`);
  const below = { ...place, depth: place.depth + 1 };
  const { exprKind } = expr;
  if (exprKind.case === "identExpr") {
    noteName(exprKind.value.name, place, shape);
  } else if (exprKind.case === "comprehensionExpr") {
    const { iterVar, iterVar2, accuVar, iterRange, accuInit, loopCondition, loopStep, result } =
      exprKind.value;
    visit(iterRange, below, shape, source);
    const bound = new Set([...place.bound, iterVar, iterVar2, accuVar]);
    const inside = { bound, depth: below.depth, loops: place.loops + 1 };
    shape.loops = Math.max(shape.loops, inside.loops);
    for (const part of [accuInit, loopCondition, loopStep, result]) visit(part, inside, shape, source);
  } else {
    for (const part of partsOf(expr)) visit(part, below, shape, source);
  }
}

function noteName(name: string, { bound }: Place, { names, types }: Shape): void {
  if (bound.has(name)) return;
  const kind = typeNames.has(name) ? types : names;
  kind.add(name);
}

function partsOf({ exprKind }: Expr): readonly (Expr | undefined)[] {
  switch (exprKind.case) {
    case "selectExpr":
      return [exprKind.value.operand];
    case "callExpr":
      return [exprKind.value.target, ...exprKind.value.args];
    case "listExpr":
      return exprKind.value.elements;
    case "structExpr":
      return exprKind.value.entries.flatMap(({ keyKind, value }) => [
        keyKind.case === "mapKey" ? keyKind.value : undefined,
        value,
      ]);
    default:
      return [];
  }
}

/** Replaces `loop` where it is a name: not in a string, a comment or after a dot. */
function withoutReserved(source: string): string {
  const token =
    /\/\/[^\n]*|[rR]?"""[\s\S]*?"""|[rR]?'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\.?\s*\b[A-Za-z_]\w*/g;
  return source.replace(token, (text) =>
    text.trimStart() === loopName ? text.replace(loopName, loopStandIn) : text,
  );
}

function refuseMuchWork(source: string, loops: number, used: readonly (readonly [string, unknown])[]): void {
  if (loops === 0) return;
  const largest = Math.max(source.length, ...used.map(([, value]) => largestIn(value)));
  if (loops > 1 && largest ** loops > maxVisits) {
    throw invalid(source, `would visit more than ${maxVisits} elements`);
  }
}

function largestIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  const items = Object.values(value);
  return items.reduce<number>((most, item) => Math.max(most, largestIn(item)), items.length);
}

function toCel(value: unknown): CelInput;
function toCel(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (isNumber(value)) return toCelNumber(value);
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(toCel);
  // A Map and not the object itself: CEL must see data, never what a prototype has.
  return new Map(Object.entries(value).map(([key, item]) => [key, toCel(item)]));
}

/** Any whole number is a CEL integer. A decimal that no double holds stays as it is; CEL refuses it where it is read. */
function toCelNumber(value: JsonNumber): unknown {
  const whole = wholeOf(value);
  if (whole !== undefined || typeof value === "number") return whole ?? value;
  const plain = value.toJSON();
  return typeof plain === "number" ? plain : value;
}

/** The value as JSON holds it; a time or a duration as text. */
function fromCel(value: unknown, source: string, budget: Budget): unknown {
  budget.spend(value);
  const inner = (item: unknown) => fromCel(item, source, budget);
  if (isCelList(value)) return Array.from(value, inner);
  if (isCelMap(value))
    return Object.fromEntries(
      Array.from(value.entries(), ([key, item]) => {
        const name = isCelUint(key) ? String(key.value) : String(key);
        budget.spendKey(name);
        return [name, inner(item)];
      }),
    );
  if (isCelUint(value)) return numberOf(value.value, source);
  if (typeof value === "bigint" || typeof value === "number") return numberOf(value, source);
  return typeof value === "object" && value !== null ? String(value) : value;
}

function numberOf(value: bigint | number, source: string): JsonNumber {
  if (typeof value === "bigint" || Number.isFinite(value)) return readNumber(String(value));
  throw invalid(source, `gives ${value}, which no JSON number holds`);
}

/** A failure caused by the data (missing, null, of a wrong type), or by a name that is not an output of its block. */
function dataFault(
  source: string,
  reason: string,
  { broken, unknown, read }: DataFindings,
): ToolError | undefined {
  if (unknown.length > 0) return invalid(source, `reads what no block gives: ${unknown.join("; ")}`);
  if (broken.length > 0) return notHeld(source, broken);
  const isOfTypes = /^found no matching overload|^field not found/.test(reason);
  return isOfTypes && read.length > 0 ? notHeld(source, [reason, ...read]) : undefined;
}

function notHeld(source: string, findings: readonly string[]): ToolError {
  const lines = findings.map((line) => line.replaceAll(loopStandIn, loopName));
  return new ToolError(
    "VERIFICATION_FAILED",
    `${source} cannot hold: ${lines.join("; ")}.`,
    "Where the field may be missing or null, ask has(a.b) or a.b != null first.",
    { expression: source, findings: lines },
  );
}

function failed(
  source: string,
  error: Error & { exprId?: bigint | undefined },
  positions: Record<string, number>,
) {
  const offset = error.exprId === undefined ? undefined : positions[String(error.exprId)];
  const place = offset === undefined ? "" : ` at ${placeOf(source, offset)}`;
  return invalid(source, `failed${place}: ${error.message}`);
}

function placeOf(source: string, offset: number): string {
  const before = source.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1) ?? "").length + 1}`;
}

function invalid(source: string, what: string, options?: ErrorOptions): ToolError {
  return new ToolError(
    "INVALID_INPUT",
    `The expression "${source}" ${what}.`,
    "Expressions are CEL: names, ==, !=, <, &&, ||, !, in, size(list), text.contains('x'), has(a.b).",
    { expression: source },
    options,
  );
}
