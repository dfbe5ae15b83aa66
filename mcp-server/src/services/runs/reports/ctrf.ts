import { type Execution, noticesOf, recordedFile, type Step } from "../../../domain/index.ts";
import {
  durationOf,
  endOf,
  failureText,
  flakyReason,
  inputsOf,
  startFacts,
  startOf,
  summarize,
} from "../judgement/facts.ts";
import type { ReportEntry, ReportHead, SkippedTest } from "./types.ts";

type CtrfStatus = "passed" | "failed" | "skipped" | "pending" | "other";

const statuses: Readonly<Record<Execution["status"], CtrfStatus>> = {
  passed: "passed",
  failed: "failed",
  error: "failed",
  timeout: "failed",
  cancelled: "other",
  queued: "pending",
  running: "pending",
};
const stepStatuses: Readonly<Record<Step["status"], CtrfStatus>> = {
  passed: "passed",
  failed: "failed",
  error: "failed",
  timeout: "failed",
  cancelled: "other",
  skipped: "skipped",
};

/** A CTRF document (ctrf.io, specification 0.0.0) as JSON. Our own status stands in `rawStatus`. */
export function ctrfReport(entries: readonly ReportEntry[], head: ReportHead): string {
  const { skipped = [] } = head;
  const tests = [...entries.map(testOf), ...skipped.map(skippedOf)];
  const { flaky, errors, duration_ms } = summarize(entries, skipped);
  const starts = entries.map(({ execution }) => startOf(execution));
  const stops = entries.map(({ execution }) => endOf(execution));
  const summary = {
    flaky,
    start: entries.length === 0 ? Date.parse(head.generatedAt) : Math.min(...starts),
    stop: entries.length === 0 ? Date.parse(head.generatedAt) : Math.max(...stops),
    duration: duration_ms,
    // CTRF counts them among the failed.
    extra: { errors },
  };
  return ctrfDocument({ ...head, tool: "labwright", tests, summary, rest: environmentOf(entries) });
}

/** A CTRF document of tests that any tool ran. `start` and `stop` are ms since the epoch. */
export function ctrfDocument(given: {
  id: string;
  generatedAt: string;
  tool: string;
  tests: readonly { name: string; status: CtrfStatus; duration: number }[];
  summary: { start: number; stop: number } & Record<string, unknown>;
  rest?: object;
}): string {
  const { id, generatedAt, tool, tests, summary, rest } = given;
  const count = (status: CtrfStatus) => tests.filter((test) => test.status === status).length;
  const document = {
    reportFormat: "CTRF",
    specVersion: "0.0.0",
    reportId: id,
    timestamp: generatedAt,
    generatedBy: "labwright",
    results: {
      tool: { name: tool },
      summary: {
        tests: tests.length,
        passed: count("passed"),
        failed: count("failed"),
        skipped: count("skipped"),
        pending: count("pending"),
        other: count("other"),
        ...summary,
      },
      tests,
      ...rest,
    },
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function skippedOf({ name, reason, isError, group }: SkippedTest) {
  const status: CtrfStatus = isError ? "failed" : "skipped";
  const suite = group === undefined ? {} : { suite: [group] };
  return { name, status, rawStatus: isError ? "error" : "skipped", duration: 0, message: reason, ...suite };
}

/** CTRF knows one environment for a run: only what all executions share is one. */
function environmentOf(entries: readonly ReportEntry[]) {
  const shared = (read: (execution: Execution) => string | undefined) => {
    const values = new Set(entries.map(({ execution }) => read(execution)));
    const [only] = values;
    return values.size === 1 ? only : undefined;
  };
  const environment = {
    appName: shared(({ userinterface }) => userinterface),
    appVersion: shared(({ release }) => release),
    buildName: shared(({ build }) => build),
    testEnvironment: shared((execution) => execution.environment),
  };
  return Object.values(environment).some((value) => value !== undefined) ? { environment } : {};
}

function testOf(entry: ReportEntry) {
  const { execution, steps, files = [], group } = entry;
  const passed = execution.status === "passed";
  return {
    name: execution.name,
    executionId: execution.id,
    status: statuses[execution.status],
    rawStatus: execution.status,
    duration: durationOf(execution),
    start: startOf(execution),
    stop: endOf(execution),
    suite: [...(group === undefined ? [] : [group]), execution.userinterface ?? execution.kind],
    type: "e2e",
    ...(execution.device !== undefined && { device: execution.device }),
    ...browserOf(execution),
    ...(Object.keys(inputsOf(execution)).length > 0 && { parameters: inputsOf(execution) }),
    ...retriesOf(execution),
    ...(!passed && { message: messageOf(execution), trace: failureText(entry) }),
    ...(passed && execution.flaky && { message: flakyReason(execution) }),
    steps: steps.map((step) => ({
      name: step.label,
      status: stepStatuses[step.status],
      extra: {
        path: step.path,
        kind: step.kind,
        duration_ms: step.duration_ms,
        ...(noticesOf(step).length > 0 && { notices: noticesOf(step) }),
      },
    })),
    attachments: [
      ...files.map((path) => {
        const { kind = "file", mime_type = "application/octet-stream" } = recordedFile(path) ?? {};
        return { name: kind, contentType: mime_type, path };
      }),
      ...steps.flatMap((step) =>
        step.artifacts.map(({ kind, uri, mime_type }) => ({
          name: `${step.path || step.label} ${kind}`,
          contentType: mime_type,
          path: uri,
        })),
      ),
    ],
    extra: {
      device_model: execution.device_model,
      device_version: execution.device_version,
      session_url: execution.session_url,
      correlation_id: execution.correlation_id,
      triggered_by: execution.triggered_by,
      verified_count: execution.verified_count,
      start: Object.fromEntries(startFacts(execution)),
      ...(execution.rerun !== undefined && { rerun: execution.rerun }),
    },
  };
}

const browserName = /^(chrom|msedge|(moz-)?firefox|webkit|safari)/i;

/** A device's version lists what its controllers drive: a browser, an operating system, or both. */
function browserOf({ device_version = "" }: Execution) {
  const browser = device_version.split(", ").find((part) => browserName.test(part));
  return browser === undefined ? {} : { browser };
}

function retriesOf({ attempts = [], flaky }: Execution) {
  if (attempts.length < 2) return {};
  return {
    retries: attempts.length - 1,
    flaky: flaky === true,
    retryAttempts: attempts.slice(0, -1).map(({ id, status, reason, duration_ms }, index) => ({
      attempt: index + 1,
      attemptId: id,
      status: statuses[status],
      duration: duration_ms,
      ...(reason && { message: `${reason.code}: ${reason.message}` }),
    })),
  };
}

const messageOf = ({ reason, status }: Execution) =>
  reason ? `${reason.code}: ${reason.message}` : `The run is ${status}.`;
