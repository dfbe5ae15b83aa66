import { testcaseSchema } from "../../../domain/index.ts";
import { readTest, type Verbs, writeTest } from "../steps/index.ts";

type Test = { name: string; app?: string; steps: readonly Record<string, unknown>[] };

/** A test of these steps, in words where there are words for it. Steps that make no test stay as they are. */
export function shortForm(test: Test, verbs: Verbs): Record<string, unknown> {
  const places = test.steps
    .filter((step) => "go" in step)
    .map(({ go }) => ({ ...{ label: String(go), verifications: [], pass_condition: "all" as const } }));
  const language = { vocabulary: { places, testcases: [], commands: undefined, checks: undefined }, verbs };
  const read = testcaseSchema.safeParse(readTest(test, language).value);
  return read.success ? writeTest(read.data, language) : test;
}
