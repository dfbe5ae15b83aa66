import { join, relative, resolve } from "node:path";
import { countText } from "../../domain/index.ts";
import { ToolError } from "../../errors.ts";
import { ownFolder } from "../folder/journal.ts";
import { changedSince, type Loaded } from "../project/files.ts";
import { type ExitCode, exitCodes, wrapText } from "../terminal.ts";
import { annotationText } from "./annotations.ts";
import type { RunConnection, RunTerminal } from "./connection.ts";
import { type GatedRun, gateCode, gateText, isBrowser, judgeGate, writeGate } from "./gate.ts";
import { type GateRules, readGate } from "./gateFile.ts";
import { type Group, gatedTests, groupText, leftOf, missingText, notRunOf, type Ran } from "./groups.ts";
import { noteRun } from "./lastRun.ts";
import { type Entry, entriesOf } from "./matrix.ts";
import { type ExecuteOptions, runTest } from "./oneTest.ts";
import { type Plan, type Planned, type PlanOptions, planRun } from "./plan.ts";
import { type RecordingOptions, recorded } from "./recordings.ts";
import { tryReports, writeReports } from "./reportFiles.ts";
import { deviceName, type Slot, type SlotOptions, type Slots, takeSlots } from "./slots.ts";
import { progressText, withStatusLine } from "./statusLine.ts";
import { notRunText, notStartedText, type RunReply, verdictText } from "./verdictText.ts";

export type { RunConnection } from "./connection.ts";

export type RunOptions = PlanOptions &
  SlotOptions &
  ExecuteOptions &
  RecordingOptions & {
    /** Folder for `report.html`, `junit.xml` and `ctrf.json`; no files when left out. */
    report?: string | undefined;
    repeat: number;
    /** A YAML file of rules that the run must keep; they decide the exit code in place of the tests. */
    gate?: string | undefined;
    /** A file for the result of the gate as JSON; with `report`, `gate.json` there when left out. */
    gateJson?: string | undefined;
    /** How many tests run at the same time, each on a device of its own. Default 1. */
    workers?: number | undefined;
    /** No further test is started after this many did not pass. */
    maxFailures?: number | undefined;
    /** Runs the tests once for each of these: browsers, and names, models or kinds of devices. */
    matrix?: readonly string[] | undefined;
    /** Names the tests and their files, and runs none. */
    list?: boolean | undefined;
  };

/** The lease of these is gone, and nothing more runs there. */
const slotLost: ReadonlySet<string> = new Set([
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
  given: RunTerminal,
): Promise<ExitCode> {
  const terminal = withStatusLine(given);
  refuseContradictions(options, terminal);
  const report = options.report === undefined ? undefined : resolve(terminal.cwd, options.report);
  if (report !== undefined && !options.list) await tryReports(report);
  const gate = gateOf(options, report, terminal.cwd);
  const { tests: planned, files } = await planRun(options, connection, terminal);
  if (options.list) {
    for (const { name, file } of planned) terminal.out(`${file === undefined ? name : `${name}  ${file}`}\n`);
    return exitCodes.passed;
  }
  return runPlanned({ tests: planned, files, report, gate }, { options, connection, terminal, ended: [] });
}

async function runPlanned(
  { tests: planned, files, report, gate }: Plan & { report: string | undefined; gate: Gate | undefined },
  running: Running,
): Promise<ExitCode> {
  const { terminal } = running;
  const started = { at: new Date().toISOString(), from: performance.now() };
  const rounds = Array.from({ length: running.options.repeat }, () => planned).flat();
  const groups = await runGroups(rounds, running);
  const ran = groups.flatMap((group) => group.ran);
  // Before the report, which a full disk may prevent.
  noteRun(
    ran.flatMap(({ at, status }) => rounds.slice(at, at + 1).map((test) => ({ ...test, status }))),
    terminal,
  );
  const isAny = ran.some(({ executionId }) => executionId !== undefined);
  if (report !== undefined && isAny)
    terminal.out(
      `report: ${await writeReports(ran, report, running.connection, groups.flatMap(notRunOf))}\n`,
    );
  const left = groups.flatMap(leftOf);
  if (left.length > 0) terminal.out(wrapText(notRunText(left), terminal.columns));
  warnOfChanges(files, terminal);
  if (running.options.matrix !== undefined) terminal.out(groups.map(groupText).join(""));
  const missing = groups.flatMap(({ missing, rounds: tests }) => (missing ? tests : []));
  const unable = missing.length > 0 ? `, ${missing.length} not run` : "";
  terminal.out(`${countText(ran, left.length)}${unable}\n`);
  const ended = missing.length > 0 ? exitCodes.error : exitCodeOf(ran.map(({ status }) => status));
  const code = terminal.signal.aborted ? exitCodes.interrupted : ended;
  if (gate === undefined) return code;
  const run = { tests: groups.flatMap(gatedTests), startedAt: started.at, ms: msSince(started.from) };
  return applyGate(gate, run, code, running);
}

type Gate = { rules: GateRules; json: string | undefined };

/** Read before anything runs. Throws INVALID_INPUT. */
function gateOf({ gate, gateJson }: RunOptions, report: string | undefined, cwd: string): Gate | undefined {
  if (gate === undefined && gateJson !== undefined)
    throw new ToolError("INVALID_INPUT", "--gate-json needs a gate.", "Name its file with --gate.");
  if (gate === undefined) return undefined;
  const own = report && join(report, "gate.json");
  return { rules: readGate(gate, cwd), json: gateJson === undefined ? own : resolve(cwd, gateJson) };
}

async function applyGate(
  { rules, json }: Gate,
  run: GatedRun,
  code: ExitCode,
  { connection, terminal }: Running,
): Promise<ExitCode> {
  const result = await judgeGate(rules, run, connection);
  terminal.out(wrapText(gateText(result), terminal.columns));
  if (json !== undefined) await writeGate(json, result);
  return gateCode(result, code);
}

const msSince = (from: number): number => Math.round(performance.now() - from);

async function runGroups(rounds: readonly Planned[], running: Running): Promise<Group[]> {
  const { options, connection, terminal } = running;
  if (options.matrix === undefined) {
    const ran = await runOn(rounds, running, await slotsFor(rounds, running));
    return [{ rounds, ran }];
  }
  const entries = await entriesOf(options.matrix, options.device, connection, terminal.signal);
  const groups: Group[] = [];
  for (const entry of entries) groups.push(await runEntry(entry, rounds, running));
  return groups;
}

async function runEntry(entry: Entry, rounds: readonly Planned[], running: Running): Promise<Group> {
  const { name } = entry;
  const { out, err, signal, columns } = running.terminal;
  if (signal.aborted) return { name, rounds, ran: [] };
  const own = "why" in entry ? running : { ...running, options: { ...running.options, ...entry.on } };
  const slots = "why" in entry ? entry.why : await slotsFor(rounds, own).catch(whyMissing);
  if (slots instanceof ToolError) {
    err(wrapText(missingText(name, slots, rounds.length), columns));
    return { name, rounds, ran: [], missing: slots };
  }
  out(`${name}: ${(slots?.all ?? []).map(({ device }) => deviceName(device)).join(", ")}\n`);
  const ran = await runOn(rounds, own, slots);
  return { name, rounds, ran: ran.map((one) => ({ ...one, group: name })) };
}

const whyMissing = (error: unknown): ToolError => {
  if (error instanceof ToolError) return error;
  throw error;
};

/** A device for each worker. A test of requests alone needs none. */
async function slotsFor(
  rounds: readonly Planned[],
  { options, connection, terminal }: Running,
): Promise<Slots | undefined> {
  const isDriven = options.device !== undefined || rounds.some(({ needsDevice }) => needsDevice);
  return isDriven ? takeSlots(workersOf(rounds, options), options, connection, terminal) : undefined;
}

const workersOf = (rounds: readonly Planned[], { workers = 1 }: RunOptions) =>
  Math.min(workers, rounds.length);

function runOn(rounds: readonly Planned[], running: Running, slots: Slots | undefined): Promise<Ran[]> {
  const none = () => Array.from({ length: workersOf(rounds, running.options) }, () => undefined);
  return runAll(rounds, slots?.all ?? none(), running).finally(() => slots?.leave());
}

function warnOfChanges(files: readonly Loaded[], terminal: RunTerminal): void {
  const changed = changedSince(files);
  if (changed.length > 0)
    terminal.err(
      `changed during the run, so the verdicts are of what was there before: ${changed.join(", ")}\n`,
    );
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
  if (debug && !ask)
    refuse("--debug asks at each step, and this is not a terminal.", "Run it in a terminal.");
}

/** `ended` has the status of each test that ended, on all entries of a matrix. */
type Running = {
  options: RunOptions;
  connection: RunConnection;
  terminal: RunTerminal;
  ended: string[];
};

/** In the order of `tests`; those that were not started are left out. */
async function runAll(
  tests: readonly Planned[],
  places: readonly (Slot | undefined)[],
  running: Running,
): Promise<Ran[]> {
  const { options, terminal, ended } = running;
  const most = options.maxFailures ?? Number.POSITIVE_INFINITY;
  const ran: Ran[] = [];
  let next = 0;
  let isOver = false;
  const mayStart = () =>
    !isOver && !terminal.signal.aborted && ended.filter((status) => status !== "passed").length < most;
  const slotFor = ({ needsDevice }: Planned, place: Slot | undefined) =>
    needsDevice || options.device !== undefined ? place : undefined;
  const work = async (place: Slot | undefined) => {
    while (mayStart()) {
      const at = next++;
      const test = tests[at];
      if (!test) return;
      const slot = slotFor(test, place);
      const { end, stopped, isLost, text, fault } = await runOne(test, slot, running);
      ran.push({ at, ...end });
      ended.push(end.status);
      terminal.out(progressText({ done: ran.length, total: tests.length }, text, end, terminal));
      isOver ||= stopped;
      if (isFault(end))
        terminal.out(await annotationText({ name: test.name, file: test.file, ...fault }, terminal));
      if (isLost) return;
    }
  };
  await Promise.all(places.map(work));
  return ran.sort((a, b) => a.at - b.at);
}

const isFault = ({ status }: { status: string }) => status !== "passed" && status !== "cancelled";

/** Runs a test and returns its end and the text of its verdict. */
async function runOne(test: Planned, slot: Slot | undefined, { options, connection, terminal }: Running) {
  const device = slot && deviceName(slot.device);
  const { cwd, err } = terminal;
  const hasConsole = options.gate !== undefined && slot !== undefined && (await isBrowser(slot, connection));
  const run = () => runTest(test, { options, slot }, connection, terminal);
  const folder = options.report === undefined ? ownFolder(cwd) : resolve(cwd, options.report);
  const { ended, files } = await recorded(run, nameOfFiles, { ...options, slot, folder, connection, err });
  if ("error" in ended) {
    const { error } = ended;
    const text = notStartedText({ name: test.name, device }, error);
    const why = `${error.code}: ${error.message}`;
    const none = { executionId: undefined, ms: undefined, hasConsole: false };
    const end = { status: "error", flaky: false, ...none, files, error: why };
    return {
      end,
      stopped: false,
      isLost: slotLost.has(error.code),
      text,
      fault: { path: undefined, message: why },
    };
  }
  const { reply, stopped } = ended;
  const shown = files.map((path) => relative(cwd, path));
  const text = verdictText({ name: test.name, device }, reply, shown);
  const { status, flaky = false, execution_id: executionId, duration_ms: ms } = reply;
  const end = { status, flaky, executionId, ms, hasConsole, files };
  return { end, stopped, isLost: slotLost.has(reply.reason?.code ?? ""), text, fault: faultOf(reply) };
}

/** Undefined for a test that leaves no files: it passed at once, was stopped, or could not be started. */
function nameOfFiles(ended: Awaited<ReturnType<typeof runTest>>): string | undefined {
  if ("error" in ended) return undefined;
  const { status, flaky, execution_id } = ended.reply;
  return isFault({ status }) || flaky ? execution_id : undefined;
}

/** Why a test did not pass, for a line without context. */
const faultOf = ({ failed_step: step, reason, status }: RunReply) => ({
  path: step?.path,
  message: [
    step?.label,
    ...(step?.expected === undefined
      ? [reason?.message ?? status]
      : [`expected ${step.expected}`, `found ${step.found}`]),
  ]
    .filter((line) => line !== undefined)
    .join("\n"),
});
