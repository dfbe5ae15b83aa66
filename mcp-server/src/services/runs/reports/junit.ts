import { type Execution, noticesOf } from "../../../domain/index.ts";
import { durationOf, failureText, inputsOf, startFacts, summarize } from "../judgement/facts.ts";
import { escapeMarkup as e } from "./markup.ts";
import type { ReportEntry, ReportHead, SkippedTest } from "./types.ts";

const inSeconds = (ms: number) => (ms / 1_000).toFixed(3);

/** JUnit XML as CI servers read it: one suite for each name of a matrix or device, and one for runs without one, one case for each execution. */
export function junitReport(
  entries: readonly ReportEntry[],
  { skipped = [] }: Pick<ReportHead, "skipped"> = {},
): string {
  const suites = new Map<string, ReportEntry[]>();
  for (const entry of entries) {
    const device = entry.group ?? entry.execution.device ?? "no device";
    suites.set(device, [...(suites.get(device) ?? []), entry]);
  }
  const names = [...new Set(skipped.map(({ group }) => group))];
  const left = names.map((name) =>
    skippedSuite(
      skipped.filter(({ group }) => group === name),
      name,
    ),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="labwright" ${totals(entries, skipped)}>`,
    ...[...suites].map(([device, of]) => suite(device, of)),
    ...left,
    "</testsuites>",
    "",
  ].join("\n");
}

function totals(entries: readonly ReportEntry[], left: readonly SkippedTest[] = []): string {
  const { tests, failed, errors, other, skipped, duration_ms } = summarize(entries, left);
  // A run that was stopped has no verdict; JUnit knows no fourth kind, and it must not look passed.
  return `tests="${tests}" failures="${failed}" errors="${errors + other}" skipped="${skipped}" time="${inSeconds(duration_ms)}"`;
}

const skippedSuite = (tests: readonly SkippedTest[], name = "not run"): string =>
  [
    `  <testsuite name="${e(name)}" ${totals([], tests)}>`,
    ...tests.map(
      ({ name, reason, isError }) =>
        `    <testcase name="${e(name)}" classname="testcase" time="0.000"><${isError ? 'error type="NOT_STARTED"' : "skipped"} message="${e(reason)}"/></testcase>`,
    ),
    "  </testsuite>",
  ].join("\n");

function suite(device: string, entries: readonly ReportEntry[]): string {
  const [first] = entries;
  const started = entries.reduce(
    (earliest, { execution }) => (execution.started_at < earliest ? execution.started_at : earliest),
    first?.execution.started_at ?? "",
  );
  // Readers of the format want seconds without a zone.
  const timestamp = started.slice(0, 19);
  return [
    `  <testsuite name="${e(device)}" hostname="${e(first?.execution.host_name ?? "")}" timestamp="${e(timestamp)}" ${totals(entries)}>`,
    ...entries.map(testcase),
    "  </testsuite>",
  ].join("\n");
}

function testcase(entry: ReportEntry): string {
  const { execution, steps, files = [] } = entry;
  const className = execution.userinterface ?? execution.kind;
  const output = [
    ...steps.flatMap((step) => [
      `${step.status} ${step.label} (${Math.round(step.duration_ms)} ms)`,
      ...noticesOf(step).map((notice) => `  notice: ${notice}`),
    ]),
    ...(execution.rerun === undefined ? [] : [execution.rerun]),
    // CI servers link the files of such lines.
    ...files.map((path) => `[[ATTACHMENT|${path}]]`),
  ].join("\n");
  return [
    `    <testcase name="${e(execution.name)}" classname="${e(className)}" time="${inSeconds(durationOf(execution))}">`,
    `      <properties>${properties(execution)}</properties>`,
    ...outcome(entry),
    `      <system-out>${e(output)}</system-out>`,
    "    </testcase>",
  ].join("\n");
}

function properties(execution: Execution): string {
  const { id, device_model, device_version, session_url, environment, release, build } = execution;
  const { correlation_id, triggered_by } = execution;
  const facts = { device_model, device_version, session_url, environment, release, build };
  const all: [string, unknown][] = [
    ...Object.entries({ execution_id: id, ...facts, correlation_id, triggered_by }),
    ...startFacts(execution).map(([name, value]): [string, string] => [`start.${name}`, value]),
    ...Object.entries(inputsOf(execution)).map(([name, value]): [string, unknown] => [
      `input.${name}`,
      value,
    ]),
    ...(execution.flaky ? [["flaky", true] as [string, unknown]] : []),
  ];
  return all
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<property name="${e(name)}" value="${e(textOf(value))}"/>`)
    .join("");
}

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

function outcome(entry: ReportEntry): string[] {
  const { status, reason } = entry.execution;
  if (status === "passed") return retried(entry, "flaky");
  const tag = kindOf(status);
  const type = reason?.code ?? status.toUpperCase();
  const message = reason?.message ?? `The run is ${status}.`;
  return [
    `      <${tag} type="${e(type)}" message="${e(message)}">${e(failureText(entry))}</${tag}>`,
    ...retried(entry, "rerun"),
  ];
}

const kindOf = (status: Execution["status"]) => (status === "failed" ? "failure" : "error");

/** The attempts before the last, as Surefire writes them: `flakyFailure` of a test that passed then, else `rerunFailure`. */
function retried({ execution: { attempts = [] } }: ReportEntry, prefix: "flaky" | "rerun"): string[] {
  return attempts.slice(0, -1).map(({ id, status, reason, duration_ms }) => {
    const kind = kindOf(status);
    const tag = `${prefix}${kind === "failure" ? "Failure" : "Error"}`;
    const message = reason?.message ?? `The attempt is ${status}.`;
    const trace = `${id}: ${reason ? `${reason.code}: ` : ""}${message}`;
    return `      <${tag} type="${e(reason?.code ?? status.toUpperCase())}" message="${e(message)}" time="${inSeconds(duration_ms)}"><stackTrace>${e(trace)}</stackTrace></${tag}>`;
  });
}
