import { ToolError } from "../../errors.ts";
import { compileExpression } from "./celExpressions.ts";
import { canBeSettled } from "./slowExpressions.ts";

/**
 * Evaluates a condition of a decision tree. What is neither true nor false, such as a missing field or name, is `undetermined` with
 * the reason. Throws nothing but what `settled` takes.
 */
export function evaluateCondition(
  condition: string,
  scope: Readonly<Record<string, unknown>>,
): boolean | { undetermined: string } {
  try {
    const expression = compileExpression(condition);
    const missing = expression.names.filter((name) => !Object.hasOwn(scope, name));
    if (missing.length > 0) return { undetermined: `${missing.join(" and ")} is missing` };
    const value = expression.evaluate(scope);
    if (typeof value === "boolean") return value;
    return { undetermined: `${condition} gave ${JSON.stringify(value)}, neither true nor false` };
  } catch (error) {
    // Whoever waits for it has it evaluated elsewhere, and asks again.
    if (canBeSettled(error)) throw error;
    return { undetermined: reasonOf(error) };
  }
}

/** Why an expression does not compile; undefined when it does. */
export function expressionProblem(expression: string): string | undefined {
  try {
    compileExpression(expression);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  const findings = error instanceof ToolError ? error.details?.findings : undefined;
  if (Array.isArray(findings)) return findings.join("; ");
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}
