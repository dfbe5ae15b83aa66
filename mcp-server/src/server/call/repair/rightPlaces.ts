import { portable, similarity } from "@labwright/controllers";
import { z } from "zod";
import { fitTypes, withoutKey, withValue } from "../../../domain/fitTypes.ts";
import { paramsSchema } from "../../../domain/index.ts";
import { branchesAt, valueAt } from "../../../domain/schemaProblems.ts";
import { strictOf } from "../../../domain/strictOf.ts";

type Path = readonly PropertyKey[];
type Schema = z.core.$ZodType;
/** Where an argument stood, and where it belongs. */
export type Move = { from: Path; to: Path };

export type Righted = { args: Readonly<Record<string, unknown>>; moves: readonly Move[] };

/** More would be another call than the one that was sent. */
const mostMoves = 12;
/** How many levels too high an argument may be: next to `actions` in place of inside `actions[0].params`. */
const deepest = 2;
/** As in `testcas` and `testcase`; less alike may be something else. */
const leastAlike = 0.6;
/** Objects that take any key. Others that do, such as variables, are not where an unknown argument belongs. */
const openObjects: ReadonlySet<string> = new Set(["params", "inputs"]);

/**
 * The arguments with each unknown one moved to where the schema knows it: under our name, or deeper. Undefined when nothing was moved, or
 * when the rest is still not valid: then no call can be offered.
 */
export function putRight(schema: z.ZodObject, args: unknown): Righted | undefined {
  const moves: Move[] = [];
  let fitted = fitTypes(strictOf(schema), args);
  for (let round = 0; round <= mostMoves; round++) {
    const { success, error } = strictOf(schema).safeParse(fitted);
    if (success) return moves.length > 0 ? { args: paramsSchema.parse(fitted), moves } : undefined;
    const move = nextMove(schema, fitted, error.issues);
    if (move === undefined) return undefined;
    moves.push(move);
    const given = valueAt(fitted, move.from);
    fitted = fitTypes(strictOf(schema), withValue(withoutKey(fitted, move.from), move.to, given));
  }
  return undefined;
}

/** The surest move first, for all arguments: what is sure takes its place before what is likely. */
function nextMove(schema: Schema, args: unknown, issues: readonly z.core.$ZodIssue[]): Move | undefined {
  const unknown = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [],
  );
  if (unknown.length > mostMoves) return undefined;
  const asked = unknown.map((from): Asked => {
    const places = placesUnder(schema, args, from.slice(0, -1));
    return { from, places, free: freeIn(places, args, valueAt(args, from)) };
  });
  return (
    knownNames.map((rule) => moveBy(rule, asked)).find((move) => move !== undefined) ??
    issues.map((issue) => otherwiseNamed(schema, args, issue)).find((move) => move !== undefined) ??
    moveBy(openObject, asked)
  );
}

type Asked = { from: Path; places: readonly Place[]; free: readonly Free[] };
/** Where an argument of this name belongs. */
type Rule = (key: string, asked: Asked) => Path | undefined;

function moveBy(rule: Rule, all: readonly Asked[]): Move | undefined {
  const moves = all.map((asked) => ({ from: asked.from, to: rule(String(asked.from.at(-1)), asked) }));
  return moves.flatMap(({ from, to }) => (to ? [{ from, to }] : []))[0];
}

/** A missing argument that was given under the name of another one, such as `type` for `command`. */
function otherwiseNamed(schema: Schema, args: unknown, issue: z.core.$ZodIssue): Move | undefined {
  const to = issue.path;
  const name = to.at(-1);
  if (issue.code !== "invalid_type" || typeof name !== "string" || valueAt(args, to) !== undefined)
    return undefined;
  const from = (otherNames[name] ?? [])
    .map((other) => [...to.slice(0, -1), other])
    .find((path) => fits(branchesAt(schema, to), valueAt(args, path)));
  return from && { from, to };
}

/** An object in which an argument may belong, with the names allowed there. */
type Place = { path: Path; parts: Schema[] };

/** The object at `path` first, then those below it, the nearest first. */
function placesUnder(schema: Schema, args: unknown, path: Path): Place[] {
  const found: Place[][] = [[{ path, parts: branchesAt(schema, path) }]];
  for (let depth = 0; depth < deepest; depth++) {
    const above = found[depth] ?? [];
    found.push(above.flatMap((place) => childrenOf(place, args)));
  }
  return found.flat();
}

function childrenOf({ path, parts }: Place, args: unknown): Place[] {
  const objects = parts.filter((part) => part instanceof z.ZodObject);
  return objects.flatMap(({ shape }) =>
    Object.keys(shape).flatMap((name) => {
      const child = [...path, name];
      return branchesAt(shape[name], []).flatMap((part) => placeOf(part, child, args));
    }),
  );
}

/** A list with several items does not say which of them it belongs to. */
function placeOf(part: Schema, path: Path, args: unknown): Place[] {
  if (part instanceof z.ZodObject) return [{ path, parts: [part] }];
  if (part instanceof z.ZodRecord) return [{ path, parts: commandInput(path, args) ?? [part] }];
  if (!(part instanceof z.ZodArray)) return [];
  const items = valueAt(args, path);
  if (Array.isArray(items) && items.length > 1) return [];
  const objects = branchesAt(part.element, []).filter((item) => item instanceof z.ZodObject);
  return objects.length > 0 ? [{ path: [...path, 0], parts: objects }] : [];
}

/** The parameters of a command that every driver offers alike; a driver may take more. */
function commandInput(path: Path, args: unknown): Schema[] | undefined {
  if (path.at(-1) !== "params") return undefined;
  const name = valueAt(args, [...path.slice(0, -1), "command"]);
  const entry = Object.entries(portable).find(([command]) => command === name);
  return entry && [entry[1].input];
}

/** A name that is still free, in an object that allows it. `isHere`: in the object that the argument was in. */
type Free = { path: Path; name: string; isHere: boolean };

function freeIn(places: readonly Place[], args: unknown, given: unknown): Free[] {
  return places.flatMap((place, index) =>
    namesOf(place)
      .filter(([name]) => valueAt(args, [...place.path, name]) === undefined)
      .filter(([, schema]) => fits(branchesAt(schema, []), given))
      .map(([name]) => ({ path: place.path, name, isHere: index === 0 })),
  );
}

const pathOf = (found: Free | undefined): Path | undefined => found && [...found.path, found.name];

/** Our spelling of it; the same name deeper; another name for it; nearly the same name. */
const knownNames: readonly Rule[] = [
  (key, { free }) => pathOf(free.find(({ name, isHere }) => isHere && name === snakeCase(key))),
  (key, { free }) => pathOf(free.find(({ name }) => name === snakeCase(key))),
  (key, { free }) => pathOf(free.find(({ name }) => otherNames[name]?.includes(key))),
  (key, { free }) => pathOf(free.find(({ name, isHere }) => isHere && similarity(name, key) >= leastAlike)),
];

/** Not for a second name of an argument that is given already: either could be right. */
const openObject: Rule = (key, { places: [here, ...below] }) => {
  const open = below.find(({ path }) => openObjects.has(String(path.at(-1))));
  const isGiven = here && namesOf(here).some(([name]) => otherNames[name]?.includes(key));
  return open && !isGiven ? [...open.path, key] : undefined;
};

const namesOf = ({ parts }: Place): [string, Schema][] =>
  parts.flatMap((part) => (part instanceof z.ZodObject ? Object.entries(part.shape) : []));

/** Whether the schema allows this kind of value: a list or object, or neither. Text may hold either. */
function fits(branches: readonly Schema[], value: unknown): boolean {
  if (value === undefined || value === null) return false;
  const isText = typeof value === "string";
  const isJson = isText && /^\s*[[{]/.test(value);
  return branches.some((branch) => {
    const isNested =
      branch instanceof z.ZodArray || branch instanceof z.ZodObject || branch instanceof z.ZodRecord;
    return isNested ? typeof value === "object" || isJson : typeof value !== "object";
  });
}

const snakeCase = (name: string): string =>
  name.replace(/[-\s]+/g, "_").replace(/(?<=[a-z\d])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Names that models use for our arguments, by our name. Checked after the schemas, which know most misplaced names. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  actions: ["action", "commands", "steps", "batch"],
  args: ["arguments", "argv", "params"],
  checks: ["verifications", "verification", "assertions", "assertion", "check", "expect"],
  command: ["action", "check", "type", "name", "method", "tool", "verification"],
  device_id: ["device", "deviceName", "udid", "serial"],
  execution_id: ["id", "run_id"],
  find: ["query", "search", "text", "filter", "name"],
  inputs: ["params", "parameters", "arguments", "variables"],
  intent: ["query", "description", "text", "goal"],
  key: ["button", "keys", "name"],
  label: ["name", "title"],
  node: ["target", "node_id", "node_name", "label", "name", "screen", "to", "destination"],
  params: ["parameters", "arguments", "args", "arg", "options", "input"],
  recording_id: ["id", "recording"],
  ref: ["uid", "element_ref", "elementUUID", "element_id"],
  requirement: ["code", "id", "name", "requirement_id"],
  script: ["name", "file", "path", "code", "script_name"],
  selector: ["element", "target", "locator", "label", "name", "css", "xpath"],
  session_id: ["session", "lease"],
  testcase: ["name", "test", "test_case", "test_name", "testcase_name", "testcase_id", "id"],
  text: ["value", "content", "query", "expected"],
  text_gone: ["gone"],
  timeout_ms: ["timeout"],
  userinterface_name: ["userinterface", "user_interface", "app", "app_name", "interface", "ui", "name"],
  value: ["text", "expected"],
  wait_ms: ["wait"],
  yaml: ["content", "text", "file"],
};
