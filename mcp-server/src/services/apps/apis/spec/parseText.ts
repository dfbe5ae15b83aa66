import { parseDocument as parseYaml } from "yaml";

/** What makes a document unusable, said to its author. */
export class SpecProblem extends Error {}

/** An anchor that is used more often, nested uses multiplied, is a bomb. */
const maxAliasCount = 1_000;

/** The value of a JSON or YAML text. Throws SpecProblem with line and column where it is neither. */
export function parseText(text: string): unknown {
  try {
    return /^\s*\{/.test(text) ? fromJson(text) : fromYaml(text);
  } catch (error) {
    if (error instanceof RangeError) throw new SpecProblem("it is nested too deep");
    throw error;
  }
}

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
