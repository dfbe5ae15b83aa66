import { resolve } from "node:path";
import { countText } from "../domain/index.ts";
import { ToolError } from "../errors.ts";
import { changedSince } from "./project/files.ts";
import type { RunConnection, RunTerminal } from "./run/connection.ts";
import { type ExecuteOptions, runTest } from "./run/oneTest.ts";
import { type Planned, type PlanOptions, planRun } from "./run/plan.ts";
import { tryReports, writeReports } from "./run/reportFiles.ts";
import { deviceName, type Seat, type SeatOptions, takeSeats } from "./run/seats.ts";
import { type ExitCode, exitCodes, wrapText } from "./terminal.ts";
import { notRunText, notStartedText, verdictText } from "./verdictText.ts";

export type { RunConnection } from "./run/connection.ts";

export type RunOptions = PlanOptions &
  SeatOptions &
  ExecuteOptions & {
    /** Folder for `report.html`, `junit.xml` and `ctrf.json`; no files when left out. */
    report?: string | undefined;
    repeat: number;
    /** So many tests at a time, each on a device of its own; 1 when left out. */
    workers?: number | undefined;
    /** No test is started behind so many that did not pass. */
    maxFailures?: number | undefined;
  };

type Ran = { at: number; status: string; flaky: boolean; executionId: string | undefined };

/** The lease of these is gone, and nothing more runs there. */
const seatLost: ReadonlySet<string> = new Set([
  "LEASE_LOST",
  "LEASE_EXPIRED",
  "LEASE_NOT_FOUND",
  "DEVICE_NOT_FOUND",
]);

/**
 * `labwright run`: runs test cases, a line for each verdict, and writes the reports. Exit code 0: all passed, also those that
 * passed when they were tried again; 1: a test failed; 2: something could not be judged; 130: interrupted, with what was under
 * way cancelled. Throws INVALID_INPUT, DEVICE_HELD and what a tool answered, before anything runs.
 */
export async function runTestcases(
  options: RunOptions,
  connection: RunConnection,
  terminal: RunTerminal,
): Promise<ExitCode> {
  refuseContradictions(options, terminal);
  const report = options.report === undefined ? undefined : resolve(terminal.cwd, options.report);
  if (report !== undefined) await tryReports(report);
  const { tests: planned, files } = await planRun(options, connection, terminal);
  const rounds = Array.from({ length: options.repeat }, () => planned).flat();
  const wanted = Math.min(options.workers ?? 1, rounds.length);
  // A test of requests alone needs no device.
  const isDriven = options.device !== undefined || planned.some(({ needsDevice }) => needsDevice);
  const seats = isDriven ? await takeSeats(wanted, options, connection, terminal) : undefined;
  const places = seats?.all ?? Array.from({ length: wanted }, () => undefined);
  const ran = await runAll(rounds, places, { options, connection, terminal }).finally(() => seats?.leave());
  const ids = ran.flatMap(({ executionId }) => executionId ?? []);
  if (report !== undefined && ids.length > 0)
    terminal.out(`report: ${await writeReports(ids, report, connection)}\n`);
  const left = rounds.filter((_, at) => !ran.some((one) => one.at === at)).map(({ name }) => name);
  if (left.length > 0) terminal.out(wrapText(notRunText(left), terminal.columns));
  const changed = changedSince(files);
  if (changed.length > 0)
    terminal.err(
      `changed during the run, so the verdicts are of what was there before: ${changed.join(", ")}\n`,
    );
  terminal.out(`${countText(ran, left.length)}\n`);
  if (terminal.signal.aborted) return exitCodes.interrupted;
  return exitCodeOf(ran.map(({ status }) => status));
}

/** An error outweighs a failure: a run that could not be judged says nothing of the app. */
export function exitCodeOf(statuses: readonly string[]): ExitCode {
  if (statuses.length === 0 || statuses.some((status) => status !== "passed" && status !== "failed")) {
    return exitCodes.error;
  }
  return statuses.includes("failed") ? exitCodes.failed : exitCodes.passed;
}

function refuseContradictions({ keep, debug, workers = 1 }: RunOptions, { ask }: RunTerminal): void {
  const refuse = (message: string, hint: string) => {
    throw new ToolError("INVALID_INPUT", message, hint);
  };
  if (keep && workers > 1)
    refuse(
      "--keep chains the tests on one device, and --workers gives them several.",
      "Leave one of them out.",
    );
  if (debug && workers > 1)
    refuse("--debug goes through one test at a time, and --workers runs several.", "Leave one of them out.");
  if (debug && !ask) refuse("--debug asks at each step, and this is no terminal.", "Run it in a terminal.");
}

type Running = { options: RunOptions; connection: RunConnection; terminal: RunTerminal };

/** In the order of `tests`; those that were not started are left out. */
async function runAll(
  tests: readonly Planned[],
  places: readonly (Seat | undefined)[],
  running: Running,
): Promise<Ran[]> {
  const { options, terminal } = running;
  const ran: Ran[] = [];
  let next = 0;
  let isOver = false;
  const mayStart = () => {
    const bad = ran.filter(({ status }) => status !== "passed").length;
    return !isOver && !terminal.signal.aborted && bad < (options.maxFailures ?? Number.POSITIVE_INFINITY);
  };
  const work = async (place: Seat | undefined) => {
    while (mayStart()) {
      const at = next++;
      const test = tests[at];
      if (!test) return;
      const seat = test.needsDevice || options.device !== undefined ? place : undefined;
      const { end, stopped, isLost } = await runOne(test, seat, running);
      ran.push({ at, ...end });
      isOver ||= stopped;
      if (isLost) return;
    }
  };
  await Promise.all(places.map(work));
  return ran.sort((a, b) => a.at - b.at);
}

/** Runs a test and tells its verdict. */
async function runOne(test: Planned, seat: Seat | undefined, { options, connection, terminal }: Running) {
  const device = seat && deviceName(seat.device);
  const outcome = await runTest(test, { options, seat }, connection, terminal);
  if ("error" in outcome) {
    const { error } = outcome;
    terminal.out(wrapText(notStartedText({ name: test.name, device }, error), terminal.columns));
    const end = { status: "error", flaky: false, executionId: undefined };
    return { end, stopped: false, isLost: seatLost.has(error.code) };
  }
  const { reply, stopped } = outcome;
  terminal.out(wrapText(verdictText({ name: test.name, device }, reply), terminal.columns));
  const end = { status: reply.status, flaky: reply.flaky === true, executionId: reply.execution_id };
  return { end, stopped, isLost: seatLost.has(reply.reason?.code ?? "") };
}
