import type { Graph, Params, TestCaseInput } from "../../../../domain/index.ts";
import { inApp } from "../../../records/inUse.ts";
import { settled } from "../../../values/expressions.ts";
import { resolveValues } from "../../../values/values.ts";
import { outputsOf, startScope } from "../scope.ts";
import { inputProblemsOf, maxCallDepth } from "../validate.ts";
import {
  type BlockEnd,
  type BlockOf,
  broken,
  type Frame,
  type GraphEnd,
  type PreparedBlock,
} from "./block.ts";

/** Runs another test case inside this run, with inputs of its own. What it checks counts for the run. */
export function callBlock(
  block: BlockOf<"call_testcase">,
  frame: Frame,
  runGraph: (graph: Graph, frame: Frame) => Promise<GraphEnd>,
): PreparedBlock {
  const { session } = frame;
  const inputs = resolveValues(block.inputs, frame.scope);
  return {
    input: { testcase: block.testcase, inputs },
    title: `test case ${block.testcase}`,
    async run(): Promise<BlockEnd> {
      const called = session.called.get(block.testcase);
      const refusal = refusalOf(called, block.testcase, inputs, frame.depth);
      if (!called || refusal) return refusal ?? broken("TESTCASE_NOT_FOUND", block.testcase);
      const inner = await frameOf(called, inputs, `${frame.prefix}${block.id}/`, frame);
      const app = inner.userinterface === undefined ? undefined : await session.app(inner.userinterface);
      const end = await inApp(app, () => runGraph(called, inner));
      const outputs = await settled(() => outputsOf(called, inner.scope));
      if (end.ok) return { ok: true, output: { status: "passed", outputs } };
      const { code, kind } = end;
      const status = kind === "behaviour" ? "failed" : "error";
      return {
        ok: false,
        output: { status, outputs },
        code,
        message: `${called.name}: ${end.message}`,
        kind,
      };
    },
  };
}

function refusalOf(
  called: TestCaseInput | undefined,
  name: string,
  inputs: Params,
  depth: number,
): BlockEnd | undefined {
  if (!called) return broken("TESTCASE_NOT_FOUND", `There is no test case "${name}".`);
  if (depth >= maxCallDepth) {
    return broken("TESTCASE_INVALID", `Test cases call each other more than ${maxCallDepth} deep.`);
  }
  const problems = inputProblemsOf(called, inputs);
  return problems.length > 0 ? broken("INVALID_INPUT", problems.join("; ")) : undefined;
}

/** Where another test case runs inside a run: on the app given at execution, else on its own, else on its caller's. */
export async function frameOf(
  called: TestCaseInput,
  inputs: Params,
  prefix: string,
  { session, depth, scope: { env }, ...outer }: Frame,
): Promise<Frame> {
  const userinterface = session.userinterfaceOverride ?? called.userinterface_name ?? outer.userinterface;
  const app = userinterface === undefined ? undefined : await session.app(userinterface);
  const scope = await settled(() => startScope(called, inputs, app?.variables ?? {}, env));
  return { session, userinterface, scope, types: called.types ?? {}, prefix, depth: depth + 1 };
}
