import { z } from "zod";
import { repeatWords } from "../../domain/index.ts";
import type { ToolError } from "../../errors.ts";
import { forTerminal } from "../hints.ts";

const reason = z.looseObject({ code: z.string(), message: z.string() });

/** The part of the replies of `execute_testcase`, `get_execution_status` and `cancel_execution` that is shown. */
export const runReply = z.looseObject({
  execution_id: z.string(),
  status: z.string(),
  duration_ms: z.number().optional(),
  next_step: z.looseObject({ number: z.number(), step: z.string() }).optional(),
  doing: z.string().optional(),
  reason: reason.optional(),
  failed_step: z
    .looseObject({
      path: z.string().optional(),
      label: z.string(),
      expected: z.string().optional(),
      found: z.string().optional(),
      nearest: z.array(z.string()).optional(),
    })
    .optional(),
  rows: z
    .looseObject({
      total: z.number(),
      passed: z.number(),
      not_passed: z.array(z.looseObject({ row: z.string(), status: z.string(), reason: reason.optional() })),
      more: z.number().optional(),
    })
    .optional(),
  flaky: z.boolean().optional(),
  attempts: z.array(z.looseObject({ status: z.string(), reason: reason.optional() })).optional(),
  rerun: z.string().optional(),
  notices: z.array(z.string()).optional(),
});
export type RunReply = z.output<typeof runReply>;

const indent = "           ";

/** What a status means for the app and the test. */
const meanings: Readonly<Record<string, string>> = {
  failed: "the app did not do what the test asks for",
  error: "the test could not be judged",
  timeout: "the test did not end in its time",
  cancelled: "the test was stopped",
};

/** A test as it ran; `device` is undefined for one that needs none. */
type Shown = { name: string; device: string | undefined };

/** A line for a test: its verdict, name, time, device and execution. */
const headLine = (word: string, { name, device }: Shown, time: string | undefined, id: string | undefined) =>
  [word.padEnd(9), name, ...[time, device, id].flatMap((part) => part ?? [])].join("  ");

/** A test that could not be started, and why. */
export function notStartedText(test: Shown, { code, message, hint }: ToolError): string {
  const lines = [
    headLine("error", test, undefined, undefined),
    "the test could not be run",
    `${code}: ${message} ${hint}`,
  ];
  return `${lines.join(`\n${indent}`)}\n`;
}

/** The verdict of one test in a line, and below it why, and where its video and trace are. */
export function verdictText(test: Shown, run: RunReply, files: readonly string[] = []): string {
  const time = run.duration_ms === undefined ? undefined : `${(run.duration_ms / 1_000).toFixed(1)} s`;
  const word = run.flaky ? "flaky" : run.status;
  const lines = [
    headLine(word, test, time, run.execution_id),
    ...[...rowLines(run), ...whyLines(run), ...files.map(fileLine)].map(
      (line) => `${indent}${forTerminal(line)}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function fileLine(path: string): string {
  const shown = /^[\w./\\:-]+$/.test(path) ? path : JSON.stringify(path);
  return path.endsWith(".zip") ? `trace    labwright trace ${shown}` : `video    ${shown}`;
}

/** How many rows passed, and those that did not. */
function rowLines({ rows }: RunReply): string[] {
  if (!rows) return [];
  const bad = rows.not_passed.map(({ row, ...end }) => `row ${row} ${attemptText(end)}`);
  const more = rows.more === undefined ? [] : [`… ${rows.more} more`];
  return [`${rows.passed} of ${rows.total} rows passed`, ...bad, ...more];
}

function whyLines({
  status,
  reason: why,
  failed_step: step,
  attempts = [],
  flaky,
  rerun,
  notices = [],
}: RunReply): string[] {
  const tried = attempts.map((one, index) => `attempt ${index + 1} ${attemptText(one)}`);
  const again = [...(rerun === undefined ? [] : [rerun]), ...notices];
  if (status === "passed")
    return [...(flaky ? ["it passed only when it was tried again", ...tried] : []), ...again];
  const decided =
    step?.expected === undefined
      ? why && [`${why.code}: ${why.message}`]
      : [`expected ${step.expected}`, `found    ${step.found}`, ...repeatLine(why?.message)];
  const meaning = meanings[status];
  return [
    ...(meaning === undefined ? [] : [meaning]),
    ...(step ? [`step ${step.label}`] : []),
    ...(decided ?? []),
    ...(step?.nearest ?? []).map((text, at) => `${at === 0 ? "nearest " : "        "} ${text}`),
    ...tried,
    ...again,
  ];
}

/** How a request that failed is made again. */
function repeatLine(message = ""): string[] {
  const [, line] = message.split(repeatWords);
  return line === undefined ? [] : [`repeat   ${line}`];
}

const attemptText = ({ status, reason: why }: NonNullable<RunReply["attempts"]>[number]) =>
  why ? `${status}: ${why.code}: ${why.message}` : status;

const mostNamed = 20;

/** The tests that were not started, in their order. */
export function notRunText(names: readonly string[]): string {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
  return `skipped:   ${names.slice(0, mostNamed).join(", ")}${more}\n`;
}
