import { z } from "zod";
import { paramsSchema } from "../../../domain/index.ts";
import { problemsError } from "./parse.ts";
import type { TestcaseDependencies } from "./types.ts";

const asGherkin = z.looseObject({
  name: z.string(),
  gherkin: z.string(),
  app: z.string().optional(),
  variables: paramsSchema.optional(),
});
const hasFeature = /^\s*(?:[#@].*\n\s*)*Feature:/;

/** A test whose `gherkin` is one scenario, in steps; any other as it is. Throws TESTCASE_INVALID with each line that is wrong. */
export async function withoutGherkin(
  given: unknown,
  readFeature: TestcaseDependencies["readFeature"],
): Promise<unknown> {
  const { data } = asGherkin.safeParse(given);
  if (!data || !readFeature) return given;
  const { gherkin, ...test } = data;
  const text = hasFeature.test(gherkin) ? gherkin : `Feature: ${test.name}\n${gherkin}`;
  const { tests, findings } = await readFeature(text, test.app);
  const wrong = findings.filter(({ weak }) => !weak);
  const shift = text === gherkin ? 0 : 1;
  const problems = wrong.map(({ line, message }) => `line ${Math.max(1, line - shift)}: ${message}`);
  if (wrong.length === 0 && tests.length !== 1)
    problems.push(`its gherkin has ${tests.length} scenarios; one test is one scenario`);
  if (problems.length > 0)
    throw problemsError(
      test.name,
      problems.map((message) => ({ path: "", code: "TESTCASE_INVALID", message })),
    );
  const { variables, ...scenario } = paramsSchema.parse(tests[0]);
  return {
    ...scenario,
    ...test,
    variables: { ...paramsSchema.optional().parse(variables), ...test.variables },
  };
}
