import { quoted } from "@labwright/controllers";
import type { Params } from "../../../../domain/index.ts";
import { ToolError } from "../../../../errors.ts";
import { Budget, mostKept } from "../../../values/budget.ts";
import { jsonText } from "../../../values/exactNumbers.ts";
import { compileExpression, holds } from "../../../values/expressions.ts";
import { resolveValues } from "../../../values/values.ts";
import { assign, type BlockOf, type Frame, type PreparedBlock } from "./block.ts";

const LONGEST_VALUE = 1_000;

/** Goes on by its edge for success or failure. Without an edge for failure, false fails the test. */
export function conditionBlock(block: BlockOf<"condition">, { scope, session }: Frame): PreparedBlock {
  return {
    input: { expression: block.expression },
    title: block.expression.slice(0, 120),
    async run() {
      const { names } = await compileExpression(block.expression);
      const isAnswer = (name: string) => session.answers.has(outputOf(scope[name]));
      if (names.some(isAnswer)) session.verified();
      const value = await holds(block.expression, scope);
      if (value) return { ok: true, output: { value } };
      const values = names.map((name) => `${name} is ${valueText(scope[name])}`);
      const message = [`${block.expression} is false`, ...values].join("; ");
      return { ok: false, output: { value }, code: "VERIFICATION_FAILED", message, kind: "behaviour" };
    },
  };
}

const none = {};

/** The output of a block's name, or an object that is in no set. */
const outputOf = (value: unknown): object =>
  typeof value === "object" && value !== null && "output" in value && value.output instanceof Object
    ? value.output
    : none;

function valueText(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  const text = jsonText(value) ?? "nothing";
  return text.length > LONGEST_VALUE
    ? `${text.slice(0, LONGEST_VALUE)} … ${text.length - LONGEST_VALUE} more`
    : text;
}

/** Assigns variables, all from what they were before the block. */
export function setBlock(block: BlockOf<"set">, frame: Frame): PreparedBlock {
  const values = resolveValues(block.values, frame.scope);
  // Lists that hold themselves twice would double with each round of a loop.
  new Budget(mostKept, tooLarge).spendAll(values);
  return {
    input: { values },
    title: `set ${Object.keys(values).join(", ")}`,
    async run() {
      return assign(values, frame, values) ?? { ok: true, output: valuesOf(values, frame) };
    },
  };
}

const valuesOf = (values: Params, { scope }: Frame): Params =>
  Object.fromEntries(Object.keys(values).map((name) => [name, scope[name]]));

const tooLarge = (limit: string) =>
  new ToolError("INVALID_INPUT", `The values have more than ${limit}.`, "Keep a part of the data.");

export function sleepBlock(block: BlockOf<"sleep">, { session }: Frame): PreparedBlock {
  return {
    input: { duration_ms: block.duration_ms },
    title: `sleep ${block.duration_ms} ms`,
    async run() {
      await session.ports.clock.sleep(block.duration_ms, session.run.signal);
      return { ok: true, output: {} };
    },
  };
}

/** The time in UTC: `iso`, `date`, `time` and `epoch_ms`. */
export function timeBlock(_block: BlockOf<"get_current_time">, { session }: Frame): PreparedBlock {
  return {
    input: {},
    title: "get current time",
    async run() {
      const now = session.ports.clock.now();
      const iso = new Date(now).toISOString();
      return {
        ok: true,
        output: { iso, date: iso.slice(0, 10), time: iso.slice(11, 19), epoch_ms: Math.round(now) },
      };
    },
  };
}
