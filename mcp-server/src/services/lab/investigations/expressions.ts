import type { Evaluate } from "@labwright/skills";
import { ToolError } from "../../../errors.ts";
import { compileExpression } from "../../values/expressions.ts";

/** What trees ask: whether a condition holds, and what an expression makes of a reply. */
export type Expressions = {
  holds: Evaluate;
  /** Throws INVALID_RESPONSE where the reply has not what the expression reads. */
  parse(expression: string, reply: unknown): Promise<unknown>;
};

/** CEL, which is loaded with the first investigation. */
export async function loadConditions(): Promise<Expressions> {
  const { evaluateCondition } = await import("../../values/conditions.ts");
  return {
    holds: evaluateCondition,
    async parse(expression, result) {
      try {
        return (await compileExpression(expression)).evaluate({ result });
      } catch (error) {
        throw new ToolError(
          "INVALID_RESPONSE",
          `The reply does not fit its response_parser: ${error instanceof Error ? error.message : String(error)}`,
          "Correct the parser in api_mappings.yaml, or look at what the source answers.",
          {},
          { cause: error },
        );
      }
    },
  };
}
