import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { parseSource } from "../../config/source.ts";
import { schemaProblems } from "../../domain/schemaProblems.ts";
import { ToolError } from "../../errors.ts";
import { fileFailure } from "../../fileFailure.ts";

const percent = z.number().min(0).max(100);
const most = z.int().min(0);

/** The rules that a run must keep. A rule that is left out is not judged, except for `pass_rate`. */
export const gateSchema = z.strictObject({
  pass_rate: percent
    .default(100)
    .describe("Percent of all tests of the run that must pass, at least. Flaky tests pass."),
  new_flaky: most
    .optional()
    .describe("At most so many tests may be flaky that were never flaky in the 30 days before the run."),
  coverage: percent
    .optional()
    .describe("Percent of all requirements that a test case is linked to, at least."),
  requirements_passed: percent
    .optional()
    .describe("Percent of all requirements whose tests passed when they last ran, at least."),
  console_errors: most
    .optional()
    .describe(
      "At most so many errors in the console of the browser, uncaught ones included, each counted once a test.",
    ),
  run_ms: most.optional().describe("The whole run may take so long, in milliseconds."),
  test_ms: most.optional().describe("Each test may take so long, in milliseconds."),
});
/** Percents are 0 to 100, times are in milliseconds. */
export type GateRules = z.output<typeof gateSchema>;

/** Reads the rules of a gate. Throws INVALID_INPUT that names every problem with its line, or why the file cannot be read. */
export function readGate(file: string, cwd: string): GateRules {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const why = fileFailure(error, path)?.message ?? String(error);
    throw wrong(`The gate cannot be read: ${why}`);
  }
  const source = parseSource(file, text);
  const parsed = gateSchema.safeParse(source.value ?? {});
  const found =
    source.problems.length > 0 || parsed.success ? [] : schemaProblems(parsed.error.issues, gateSchema);
  const problems = [
    ...source.problems,
    ...found.map(({ path: at, message, key }) => source.problem(at, message, key)),
  ];
  if (problems.length === 0 && parsed.success) return parsed.data;
  const lines = problems.map(({ line, column, path: at, message }) =>
    [line === undefined ? file : `${file}:${line}:${column}`, at, message]
      .filter((part) => part !== "")
      .join(": "),
  );
  throw wrong(`The gate has wrong rules:\n${lines.join("\n")}`);
}

const wrong = (message: string) =>
  new ToolError(
    "INVALID_INPUT",
    message,
    "A gate is YAML such as `pass_rate: 95`; labwright run --help lists the rules.",
  );
