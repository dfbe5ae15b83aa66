import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { cannotRead, describeIssue, readSource } from "@labwright/skills";
import { z } from "zod";
import { systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import { callTyped } from "../mcp/calls.ts";
import type { RiskFlag } from "../messages/contents.ts";
import { exitCodeFor } from "../messages/status.ts";
import type { OpenAgent } from "../openAgent.ts";
import { qaPolicySchema } from "../roles/critic.ts";
import { planSchema } from "../roles/plan.ts";
import { type QaReport, runQa } from "../roles/qa.ts";
import { jsonLine, plain, plainLine } from "./plain.ts";
import { type ExitCode, exitCodes, type Terminal } from "./terminal.ts";

export type QaOptions = {
  url?: string[];
  openapi?: string;
  app?: string;
  plan?: string;
  policy?: string;
  matrix?: string[];
  environment?: string;
  release?: string;
  build?: string;
  risk?: string[];
  issue?: string[];
  service?: string[];
  compliance?: string[];
  maxTime?: number;
  maxCost?: number;
  report?: string;
  json?: boolean;
};

/**
 * `labwright qa`: plan, execution, critique, report. 0: passed and no blocker; 1: a case failed, or the critic found a
 * blocker in what passed; 2: not judged; 130: interrupted, with what ran cancelled.
 */
export async function runQaCommand(
  client: OpenAgent,
  terminal: Terminal,
  goal: string,
  options: QaOptions,
): Promise<ExitCode> {
  const plan = await readFileAs(planSchema, "plan", options.plan);
  const qaPolicy = await readFileAs(qaPolicySchema, "policy", options.policy);
  const stopping = new AbortController();
  const stop = () => {
    terminal.err.write("\nCancelling what runs.\n");
    stopping.abort();
  };
  terminal.interrupts.once("interrupt", stop);
  const { url: urls, openapi, app, matrix, environment, release, build, maxTime, maxCost } = options;
  const { risk: known_risks, issue: known_issues, service: dependent_services, compliance } = options;
  const budget = present({ max_execution_time: maxTime, max_cost: maxCost });
  try {
    const report = await runQa(
      {
        ...{ goal: goal || plan?.goal || "", plan, signal: stopping.signal },
        scope: present({ app, known_risks, known_issues, dependent_services, compliance }),
        overrides: present({ urls, openapi, matrix, environment, release, build, budget }),
        progress: (text) => terminal.err.write(`${plainLine(text, 300)}\n`),
      },
      { desk: client.roles({ qaPolicy }), clock: systemClock },
    );
    const file = options.report === undefined ? undefined : await writeReport(client, options.report, report);
    terminal.out.write(options.json ? jsonLine(report) : textOf(report));
    if (file !== undefined) terminal.err.write(`report: ${file}\n`);
    return exitCodeOf(report);
  } finally {
    terminal.interrupts.off("interrupt", stop);
  }
}

/** Only what is given. */
type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };
function present<T extends object>(given: T): Present<T>;
function present(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Pure, as the codes of `labwright run`; a pass that the critic doubts is not one. */
export const exitCodeOf = ({
  status,
  severity_level,
}: Pick<QaReport, "status" | "severity_level">): ExitCode =>
  status === "PASSED" && severity_level === "blocker" ? exitCodes.notDone : exitCodeFor(status);

type FileSchema<T> = z.ZodType<T> & z.ZodObject;

async function readFileAs<T>(schema: FileSchema<T>, what: string, file?: string): Promise<T | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new AgentError("INVALID_INPUT", `${file} ${cannotRead(error)}`, "Name a YAML file.");
  });
  return readYaml(schema, what, text, file);
}

/** Throws INVALID_INPUT with everything that is wrong in the file, each with its line. */
export function readYaml<T>(schema: FileSchema<T>, what: string, text: string, file: string): T {
  const source = readSource(text, file);
  const parsed = Array.isArray(source) ? undefined : schema.safeParse(source.value);
  if (parsed?.success) return parsed.data;
  const problems = Array.isArray(source)
    ? source
    : (parsed?.error.issues ?? []).flatMap((issue) => describeIssue(issue, source, `a ${what}`, schema));
  const lines = problems
    .sort((a, b) => a.line - b.line)
    .map(({ file, line, message }) => `${file}:${line}: ${message}`);
  throw new AgentError(
    "INVALID_INPUT",
    `The ${what} cannot be used:\n${lines.join("\n")}`,
    "docs/qa.md has an example of each.",
  );
}

const reportSchema = z.object({ report: z.string() });
const formats = { html: "report.html", junit: "junit.xml", ctrf: "ctrf.json" } as const;

/** The reports of all runs, and `qa.json` with plan, reviews and rounds. Returns the path of the page. */
async function writeReport(
  { toolbox, artifact }: OpenAgent,
  folder: string,
  report: QaReport,
): Promise<string> {
  const target = resolve(folder);
  await mkdir(target, { recursive: true });
  await writeFile(join(target, "qa.json"), `${JSON.stringify(report, null, 2)}\n`);
  const results = report.parts.flatMap(({ result }) => result.results);
  const execution_id = results.flatMap((one) => one.execution_id ?? []);
  if (execution_id.length === 0) return join(target, "qa.json");
  const input = {
    execution_id,
    not_run: results
      .filter((one) => one.execution_id === undefined)
      .map((one) => ({ name: one.case, error: one.status, group: one.browser })),
    groups: results
      .filter((one) => one.execution_id !== undefined && one.browser !== undefined)
      .map((one) => ({ execution_id: one.execution_id, group: one.browser })),
    notes: textOf(report).trimEnd().split("\n"),
  };
  for (const [format, name] of Object.entries(formats)) {
    const use = { name: "get_execution_report", input: { ...input, format } };
    const made = await callTyped(toolbox, use, reportSchema, AbortSignal.timeout(120_000));
    await writeFile(join(target, name), await artifact(made.report));
  }
  return join(target, formats.html);
}

function textOf(report: QaReport): string {
  const { status, quality_score, severity_level, plan, plan_review, parts, rounds, errors, cost_usd } =
    report;
  const cost = cost_usd > 0 ? `, model $${cost_usd.toFixed(2)}` : "";
  const lines = [
    `${status}: quality score ${quality_score}, ${severity_level}${cost}`,
    ...(plan ? [`plan: ${plan.strategy}`] : []),
    ...(plan_review?.risk_flags ?? []).map(flagLine("plan")),
    ...parts.flatMap(({ layer, result: { metrics, ...result }, review }) => [
      `${layer}: ${result.status}, ${metrics.passed} of ${metrics.cases} passed, ${metrics.checks} checks`,
      ...review.parts.map(({ name, points, of, why }) => `  ${name}: ${points} of ${of} (${why})`),
      ...review.risk_flags.map(flagLine(layer)),
      ...review.gaps.map((gap) => `  gap: ${gap}`),
      ...review.recommendations.map((text) => `  do: ${text}`),
      ...(review.comment === undefined ? [] : [`  ${review.comment}`]),
    ]),
    ...rounds.map(
      ({ round, to, changed }) => `round ${round} to the ${to}: ${changed.join("; ") || "nothing changed"}`,
    ),
    ...errors.map(({ code, message }) => `${code}: ${message}`),
  ];
  return plain(`${lines.join("\n")}\n`);
}

const flagLine =
  (where: string) =>
  ({ flag, severity, message }: RiskFlag): string =>
    `  ${severity} ${where} ${flag}: ${plainLine(message, 300)}`;
