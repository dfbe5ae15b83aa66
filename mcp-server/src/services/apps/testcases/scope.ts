import type { Params, TestCaseInput } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { placeholdersIn } from "../../values/placeholders.ts";
import { resolveValue, resolveValues, withExactNumbers } from "../../values/values.ts";
import { withTypes } from "./valueTypes.ts";

/**
 * The data a test case starts with. An input given wins over its default, a variable over the app's of the same name.
 * Variables may be made from inputs, the app's variables and `env`, the variables of the environment. Throws INVALID_INPUT for one that is not of its type.
 */
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

/** What a caller gets back. An output whose block did not run is left out. */
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
