import { describeIssue, readSource, type SkillProblem } from "@labwright/skills";
import { z } from "zod";
import type { ExecutionResult } from "../messages/contents.ts";

/** A policy file: what results must show before they count. */
const qaPolicySchema = z.strictObject({
  min_quality_score: z.int().min(0).max(100).optional(),
  /** Most flaky cases, in percent of those that ran. */
  max_flaky_percent: z.number().min(0).max(100).optional(),
  required_browsers: z.array(z.string().min(1).max(60)).max(10).default([]),
  /** Cases that must have passed. */
  required_cases: z.array(z.string().min(1).max(100)).max(500).default([]),
});

export type QaPolicy = {
  /** What the results lack, a sentence each. */
  gapsIn(result: ExecutionResult, quality_score: number): string[];
};

export const noPolicy: QaPolicy = { gapsIn: () => [] };

/** Reads a policy file. What is wrong with it is named with its line. */
export function readPolicy(yaml: string, file: string): { policy: QaPolicy } | { problems: SkillProblem[] } {
  const source = readSource(yaml, file);
  if (Array.isArray(source)) return { problems: source };
  const { data, error } = qaPolicySchema.safeParse(source.value);
  if (data) return { policy: { gapsIn: (result, score) => gapsIn(data, result, score) } };
  return {
    problems: error.issues.flatMap((issue) => describeIssue(issue, source, "a policy", qaPolicySchema)),
  };
}

function gapsIn(
  policy: z.output<typeof qaPolicySchema>,
  { results }: ExecutionResult,
  score: number,
): string[] {
  const { min_quality_score: least = 0, max_flaky_percent: most = 100 } = policy;
  const ran = results.filter(({ execution_id }) => execution_id !== undefined);
  const flaky = ran.length === 0 ? 0 : (100 * ran.filter((one) => one.flaky).length) / ran.length;
  const browsers = new Set(ran.map(({ browser }) => browser));
  const passed = new Set(results.filter(({ status }) => status === "PASSED").map((one) => one.case));
  const missing = policy.required_cases.filter((one) => !passed.has(one));
  const unseen = policy.required_browsers.filter((one) => !browsers.has(one));
  return [
    ...(score < least ? [`The quality score is ${score}; the policy asks for ${least}.`] : []),
    ...(flaky > most ? [`${Math.round(flaky)} % of the cases are flaky; the policy allows ${most} %.`] : []),
    ...(unseen.length > 0 ? [`No case ran on ${unseen.join(", ")}, which the policy asks for.`] : []),
    ...(missing.length > 0 ? [`Not passed, though the policy asks for it: ${missing.join(", ")}.`] : []),
  ];
}
