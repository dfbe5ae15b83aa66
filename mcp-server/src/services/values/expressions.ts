import type { Params } from "../../domain/index.ts";
import type { Expression } from "./celExpressions.ts";
import { settled } from "./slowExpressions.ts";

export type { Expression } from "./celExpressions.ts";
export { settled } from "./slowExpressions.ts";

type Room = typeof import("./celExpressions.ts");

let room: Room | undefined;

/** CEL is large, and most calls need none: it is loaded with the first expression. */
export async function loadExpressions(): Promise<Room> {
  room ??= await import("./celExpressions.ts");
  return room;
}

/** An expression whose evaluation may take long without holding this thread. */
type PatientExpression = Pick<Expression, "names"> & { evaluate(scope: Params): Promise<unknown> };

/** Throws INVALID_INPUT with line and column; see `celExpressions.ts` for numbers and bounds. */
export async function compileExpression(source: string): Promise<PatientExpression> {
  const { names, evaluate } = (await loadExpressions()).compileExpression(source);
  return { names, evaluate: (scope) => settled(() => evaluate(scope)) };
}

/** {@link compileExpression} where {@link loadExpressions} was awaited before. */
export function loadedExpression(source: string): Expression {
  if (!room) throw new Error(`The expression "${source}" was asked for before expressions were loaded.`);
  return room.compileExpression(source);
}

/** Whether the expression holds. Throws INVALID_INPUT when it gives anything but true or false. */
export async function holds(source: string, scope: Params): Promise<boolean> {
  const { holds: holdsNow } = await loadExpressions();
  return settled(() => holdsNow(source, scope));
}
