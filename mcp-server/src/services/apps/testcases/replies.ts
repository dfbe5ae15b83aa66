import type { TestCase } from "../../../domain/index.ts";
import type { RunReply } from "../../ports.ts";
import {
  type RowRun,
  type TestcaseEnd,
  type TestcaseReply,
  type TestcaseSummary,
  testcaseResultSchema,
} from "./types.ts";

/** Of rows that did not pass, in a reply; the reports have all. */
const mostRowsShown = 20;

export const replyOf = ({ output, ...reply }: RunReply<object>): TestcaseReply => ({
  ...reply,
  ...testcaseEnd(output),
});

/** What the result of a run says of a test case; nothing where it is another's or not there yet. */
export function testcaseEnd(output: unknown): TestcaseEnd {
  const result = testcaseResultSchema.safeParse(output);
  if (!result.success) return {};
  const { testcase: _testcase, verified_count, outputs, failed_step, rows, ...rest } = result.data;
  const { code: _code, message: _message, ...step } = failed_step ?? { code: "", message: "" };
  return {
    ...rest,
    verified_count,
    ...(rows && { rows: rowsShown(rows) }),
    ...(Object.keys(outputs).length > 0 && { outputs }),
    ...("path" in step && { failed_step: step }),
  };
}

function rowsShown(rows: readonly RowRun[]) {
  const bad = rows.filter(({ status }) => status !== "passed");
  const more = bad.length - mostRowsShown;
  return {
    total: rows.length,
    passed: rows.length - bad.length,
    not_passed: bad.slice(0, mostRowsShown),
    ...(more > 0 && { more }),
  };
}

export function summaryOf(
  { id, name, source, userinterface_name, tags, inputs, for_each }: TestCase,
  needsDevice: boolean,
): TestcaseSummary {
  // With `for_each` the rows give the inputs.
  const isAsked = ({ required }: TestCase["inputs"][number]) => required && for_each === undefined;
  const names = inputs.map((input) => (isAsked(input) ? `${input.name} (required)` : input.name));
  return {
    id,
    name,
    ...(source.project !== "" && { project: source.project }),
    ...(userinterface_name !== undefined && { userinterface_name }),
    ...(tags.length > 0 && { tags }),
    ...(names.length > 0 && { inputs: names }),
    ...(!needsDevice && { needs_device: false as const }),
  };
}
