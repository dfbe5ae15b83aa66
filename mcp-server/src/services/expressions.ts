import type { Params } from "../domain/index.ts";
import type { Expression } from "./celExpressions.ts";

export type { Expression } from "./celExpressions.ts";

/** CEL is large, and most calls need none: it is loaded with the first expression. */
const load = () => import("./celExpressions.ts");

/**
 * Compiles a CEL expression (cel.dev). Throws INVALID_INPUT with line and column; see `celExpressions.ts` for numbers
 * and bounds.
 */
export async function compileExpression(source: string): Promise<Expression> {
  return (await load()).compileExpression(source);
}

/** Whether the expression holds. Throws INVALID_INPUT when it gives anything but true or false. */
export async function holds(source: string, scope: Params): Promise<boolean> {
  return (await load()).holds(source, scope);
}
