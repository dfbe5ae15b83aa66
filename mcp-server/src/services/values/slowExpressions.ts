import { quickly } from "@labwright/controllers";
import type { Params } from "../../domain/index.ts";
import { ToolError } from "../../errors.ts";
import { createWorkerThread } from "../threads/workerThread.ts";
import { jsonText, parseJson } from "./exactNumbers.ts";

/** `scope` and `value` are JSON text, in which numbers keep their digits. */
export type ExpressionQuestion = { source: string; scope: string };
export type ExpressionAnswer =
  | { value: string }
  | { problem: Pick<ToolError, "code" | "message" | "hint" | "details"> };

const thread = createWorkerThread<ExpressionQuestion, ExpressionAnswer>({
  name: "expressionWorker",
  timeoutMs: 2_000,
  resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4, stackSizeMb: 4 },
  // Measured: a filter of a list of 1.2 MB runs in 32 MB.
  neededMb: ({ scope }) => 20 + (24 * scope.length) / 1_000_000,
  work: "The expression",
  hint: "Work on a part of the data, with fewer of map, filter and exists inside one another.",
});

/** Thrown where there is no time to evaluate an expression here. {@link settled} has it done elsewhere. */
class Unfinished extends ToolError {
  constructor(
    private readonly source: string,
    private readonly scope: string,
  ) {
    super(
      "INVALID_INPUT",
      `The expression "${source}" takes too long.`,
      "Work on a part of the data, with fewer of map, filter and exists inside one another.",
      { expression: source },
    );
  }

  get key(): string {
    return keyOf(this.source, this.scope);
  }

  async finish(): Promise<ExpressionAnswer> {
    return thread.ask({ source: this.source, scope: this.scope });
  }
}

const keyOf = (source: string, scope: string) => `${source}\0${scope}`;

/** What was evaluated elsewhere for the work that runs now. */
let answers: ReadonlyMap<string, ExpressionAnswer> | undefined;
/** A busy machine ends quick work early too: outside `settled`, it is tried again. */
const mostTries = 3;

/** Does the work of an expression here, or gives what {@link settled} had done elsewhere. */
export function quicklyOrElse<T>(source: string, scope: Params, work: () => T): unknown {
  const known = answers?.size ? answers.get(keyOf(source, jsonText(scope) ?? "")) : undefined;
  if (known) return givenValue(known);
  for (let tries = answers ? 1 : mostTries; tries > 0; tries--) {
    const quick = quickly(work);
    if (quick) return quick.value;
  }
  throw new Unfinished(source, jsonText(scope) ?? "");
}

function givenValue(answer: ExpressionAnswer): unknown {
  if ("value" in answer) return parseJson(answer.value);
  const { code, message, hint, details } = answer.problem;
  throw new ToolError(code, message, hint, details);
}

/** Thrown within {@link settled}, which takes it. */
export const canBeSettled = (error: unknown): boolean => answers !== undefined && error instanceof Unfinished;

const mostSlow = 20;

/**
 * Does synchronous work that evaluates expressions; those that take long are evaluated in a thread of their own, and the work
 * begins anew with their values. Throws what the work throws, EXECUTION_TIMEOUT and OUT_OF_MEMORY.
 */
export async function settled<T>(work: () => T): Promise<T> {
  const own = new Map<string, ExpressionAnswer>();
  for (;;) {
    try {
      answers = own;
      return work();
    } catch (error) {
      if (!(error instanceof Unfinished) || own.size >= mostSlow) throw error;
      answers = undefined;
      own.set(error.key, await error.finish());
    } finally {
      answers = undefined;
    }
  }
}
