import { CORE_SCHEMA, load, mergeTag, YAMLException } from "js-yaml";

/** What makes a document unusable, said to its author. */
export class SpecProblem extends Error {}

/** Deeper values cannot be sent from a thread, or stored. */
const mostLevels = 200;
/** Aliases of YAML written out. JSON of 10 MB has fewer. */
const mostValues = 5_000_000;

/** The value of a JSON or YAML text. Throws SpecProblem with the place where it is neither, too deep or a bomb of aliases. */
export function parseText(text: string): unknown {
  try {
    const value = /^\s*\{/.test(text) ? fromJson(text) : fromYaml(text);
    measure(value, [], new Map());
    return value;
  } catch (error) {
    if (error instanceof RangeError) throw new SpecProblem("it is nested too deep");
    throw error;
  }
}

type Measure = { levels: number; values: number };
const plain: Measure = { levels: 0, values: 1 };

/** `known` has the measures of what was seen: aliases give one value many places. */
function measure(value: unknown, path: string[], known: Map<object, Measure>): Measure {
  if (typeof value !== "object" || value === null) return plain;
  const seen = known.get(value);
  const place = () => `#/${path.slice(0, 5).join("/")}`;
  if (path.length + (seen?.levels ?? 1) > mostLevels)
    throw new SpecProblem(`${place()} is nested deeper than ${mostLevels} levels`);
  if (seen) return seen;
  const found = { levels: 1, values: 1 };
  for (const [key, inner] of Object.entries(value)) {
    path.push(escaped(key));
    const { levels, values } = measure(inner, path, known);
    path.pop();
    found.levels = Math.max(found.levels, levels + 1);
    found.values += values;
  }
  if (found.values > mostValues)
    throw new SpecProblem(`${place()} has YAML aliases that expand to more than ${mostValues} values`);
  known.set(value, found);
  return found;
}

/** A key as a part of a JSON Pointer. */
export const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // `{a: 1}` is YAML, and the error of YAML has line and column.
    if (error instanceof SyntaxError) return fromYaml(text);
    throw error;
  }
}

/** Makes no tree of nodes, which would take 2 KB a value. */
function fromYaml(text: string): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA.withTags(mergeTag), json: true, maxDepth: mostLevels });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { reason, mark } = error;
    const place = mark ? ` at line ${mark.line + 1}, column ${mark.column + 1}` : "";
    throw new SpecProblem(`it is neither JSON nor YAML: ${reason}${place}`);
  }
}
