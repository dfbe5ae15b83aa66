import { parentPort } from "node:worker_threads";
import { ToolError } from "../../errors.ts";
import { compileExpression } from "./celExpressions.ts";
import { jsonText, parseJson } from "./exactNumbers.ts";
import type { ExpressionAnswer, ExpressionQuestion } from "./slowExpressions.ts";

parentPort?.on("message", (question: ExpressionQuestion) => parentPort?.postMessage(answer(question)));

function answer({ source, scope }: ExpressionQuestion): ExpressionAnswer {
  try {
    const data = parseJson(scope);
    const value = compileExpression(source).evaluateWhole(Object(data));
    return { value: jsonText(value) ?? "null" };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { code, message, hint, details } = error;
    return { problem: { code, message, hint, details } };
  }
}
