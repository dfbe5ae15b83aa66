import { parseDocument as parseYaml } from "yaml";

/** What makes a document unusable, said to its author. */
export class SpecProblem extends Error {}

/** An anchor that is used more often, nested uses multiplied, is a bomb. */
const maxAliasCount = 1_000;

/** Deeper values cannot be sent from a thread, or stored. */
const mostLevels = 200;

/** The value of a JSON or YAML text. Throws SpecProblem with the place where it is neither, or too deep. */
export function parseText(text: string): unknown {
  try {
    const value = /^\s*\{/.test(text) ? fromJson(text) : fromYaml(text);
    checkDepth(value, [], new Map());
    return value;
  } catch (error) {
    if (error instanceof RangeError) throw new SpecProblem("it is nested too deep");
    throw error;
  }
}

/** The levels of a value. `known` has those of what was seen: aliases of YAML give one value many places. */
function checkDepth(value: unknown, path: string[], known: Map<object, number>): number {
  if (typeof value !== "object" || value === null) return 0;
  let levels = known.get(value) ?? 1;
  if (path.length + levels > mostLevels)
    throw new SpecProblem(`#/${path.slice(0, 5).join("/")} is nested deeper than ${mostLevels} levels`);
  if (known.has(value)) return levels;
  for (const [key, inner] of Object.entries(value)) {
    path.push(escaped(key));
    levels = Math.max(levels, checkDepth(inner, path, known) + 1);
    path.pop();
  }
  known.set(value, levels);
  return levels;
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

function fromYaml(text: string): unknown {
  const document = parseYaml(text, { merge: true, uniqueKeys: false, logLevel: "silent" });
  const [problem] = document.errors;
  if (problem) throw new SpecProblem(`it is neither JSON nor YAML: ${problem.message.split("\n", 1)[0]}`);
  try {
    const value: unknown = document.toJS({ maxAliasCount });
    return value;
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new SpecProblem(
      `its YAML aliases cannot be resolved, or expand more than ${maxAliasCount} times (${error.message})`,
    );
  }
}
