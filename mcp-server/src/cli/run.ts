import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { isErrorCode, ToolError } from "../errors.ts";
import { type ExitCode, exitCodes, type Terminal } from "./terminal.ts";
import { countText, indent, type RunReply, runReply, verdictText } from "./verdictText.ts";

/** One wait of a call; far below what a proxy in between would cut. */
const waitMs = 20_000;

export type RunOptions = {
  /** Names or ids of saved test cases, or YAML files, which are saved first. */
  testcases: readonly string[];
  device?: string | undefined;
  userinterface?: string | undefined;
  /** Folder for `report.html`, `junit.xml` and `ctrf.json`; no files when left out. */
  report?: string | undefined;
  /** `name=value`; a value that is JSON is taken as such. */
  inputs: readonly string[];
  repeat: number;
  /** Every test case goes on in what the one before left; otherwise each starts as it says itself. */
  keep?: boolean | undefined;
  environment?: string | undefined;
  release?: string | undefined;
  build?: string | undefined;
  /** In place of what the test cases say. */
  retries?: number | undefined;
  retryOn?: string | undefined;
};

type Answer =
  | { ok: true; structured: Record<string, unknown> }
  | { ok: false; error: { code: string; message: string; hint: string } };

/** What the command needs of a daemon. Every call is of the same client, so that one lease serves all. */
export type RunConnection = {
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<Answer>;
  /** The bytes of `artifact://...`. */
  artifact(uri: string): Promise<Uint8Array>;
};

type Planned = { name: string; inputs: Record<string, unknown> };
type Ran = { status: string; flaky: boolean; executionId: string | undefined };

/**
 * `labwright run`: runs test cases one after the other, a line for each verdict, and writes the reports. Exit code 0:
 * all passed, also those that passed when they were tried again; 1: a test failed; 2: something could not be judged; 130: interrupted, with the run that was under way
 * cancelled. Throws INVALID_INPUT and what a tool answered, before anything runs.
 */
export async function runTestcases(
  options: RunOptions,
  connection: RunConnection,
  terminal: Pick<Terminal, "out" | "cwd" | "signal">,
): Promise<ExitCode> {
  const planned = await plan(options, connection, terminal);
  const rounds = Array.from({ length: options.repeat }, () => planned).flat();
  const ran: Ran[] = [];
  for (const test of rounds) {
    if (terminal.signal.aborted) break;
    ran.push(await runOne(test, options, connection, terminal));
  }
  if (options.report !== undefined)
    await writeReports(ran, resolve(terminal.cwd, options.report), connection, terminal);
  terminal.out(`${countText(ran)}\n`);
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

const declared = z.looseObject({
  testcase: z.looseObject({
    name: z.string(),
    inputs: z.array(z.looseObject({ name: z.string() })).default([]),
  }),
});

/** Saves files, finds every test case, and gives each the inputs that it declares. */
async function plan(
  options: RunOptions,
  connection: RunConnection,
  { cwd, signal }: Pick<Terminal, "cwd" | "signal">,
): Promise<Planned[]> {
  const names: string[] = [];
  for (const argument of options.testcases) {
    if (!/\.ya?ml$/i.test(argument)) names.push(argument);
    else names.push(...(await saveFile(resolve(cwd, argument), options.device, connection, signal)));
  }
  const inputs = parseInputs(options.inputs);
  const loaded = [];
  for (const name of names) {
    loaded.push(
      declared.parse(await done(connection.call("load_testcase", { testcase: name }, signal))).testcase,
    );
  }
  const known = new Set(loaded.flatMap((testcase) => testcase.inputs.map((input) => input.name)));
  const stray = Object.keys(inputs).filter((name) => !known.has(name));
  if (stray.length > 0) {
    const hint = known.size > 0 ? `Inputs are ${[...known].join(", ")}.` : "They take no inputs.";
    throw new ToolError("INVALID_INPUT", `No test case has the input ${stray.join(", ")}.`, hint);
  }
  return loaded.map((testcase) => {
    const own = testcase.inputs.filter(({ name }) => Object.hasOwn(inputs, name));
    return { name: testcase.name, inputs: Object.fromEntries(own.map(({ name }) => [name, inputs[name]])) };
  });
}

/** A file holds one test case, or several under `testcases`, as in an exported user interface. */
async function saveFile(
  file: string,
  device: string | undefined,
  connection: RunConnection,
  signal: AbortSignal,
): Promise<string[]> {
  const content = await readYaml(file);
  const several = z.looseObject({ testcases: z.array(z.unknown()).min(1) }).safeParse(content);
  const names: string[] = [];
  for (const testcase of several.success ? several.data.testcases : [content]) {
    const args = { testcase, ...(device !== undefined && { device_id: device }) };
    const saved = await done(connection.call("save_testcase", args, signal));
    names.push(z.looseObject({ name: z.string() }).parse(saved).name);
  }
  return names;
}

async function readYaml(file: string): Promise<unknown> {
  try {
    return parse(await readFile(file, "utf8"));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ToolError(
      "INVALID_INPUT",
      `${file} cannot be read: ${message}`,
      "Give a YAML file of a test case.",
    );
  }
}

function parseInputs(given: readonly string[]): Record<string, unknown> {
  const pairs = given.map((text) => {
    const split = text.indexOf("=");
    if (split > 0) return [text.slice(0, split), valueOfInput(text.slice(split + 1))] as const;
    throw new ToolError(
      "INVALID_INPUT",
      `--input ${text} is not name=value.`,
      "For example --input user=anna.",
    );
  });
  return Object.fromEntries(pairs);
}

function valueOfInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const isOpen = ({ status }: RunReply) => status === "running" || status === "queued";

async function runOne(
  test: Planned,
  options: RunOptions,
  connection: RunConnection,
  { out, signal }: Pick<Terminal, "out" | "signal">,
): Promise<Ran> {
  const { device, userinterface, environment, release, build, retries, retryOn } = options;
  const args = {
    testcase: test.name,
    inputs: test.inputs,
    ...(device !== undefined && { device_id: device }),
    ...(userinterface !== undefined && { userinterface_name: userinterface }),
    ...(options.keep === true && { fresh: false }),
    ...(environment !== undefined && { environment }),
    ...(release !== undefined && { release }),
    ...(build !== undefined && { build }),
    ...(retries !== undefined && { retries }),
    ...(retryOn !== undefined && { retry_on: retryOn }),
    // Returns at once with the execution's id, without which an interrupted run could not be cancelled.
    wait_ms: 0,
  };
  try {
    let now = runReply.parse(
      await done(connection.call("execute_testcase", args, new AbortController().signal)),
    );
    while (isOpen(now)) now = await waitOrCancel(now.execution_id, connection, signal);
    out(verdictText(test.name, now));
    return { status: now.status, flaky: now.flaky === true, executionId: now.execution_id };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const why = `${error.code}: ${error.message} ${error.hint}`;
    out(`error      ${test.name}\n${indent}the test could not be run\n${indent}${why}\n`);
    return { status: "error", flaky: false, executionId: undefined };
  }
}

async function waitOrCancel(
  executionId: string,
  connection: RunConnection,
  signal: AbortSignal,
): Promise<RunReply> {
  const unhurried = new AbortController();
  if (!signal.aborted) {
    const interrupted = new Promise<undefined>((settle) => {
      signal.addEventListener("abort", () => settle(undefined), { once: true, signal: unhurried.signal });
    });
    const args = { execution_id: executionId, wait_ms: waitMs };
    const waiting = done(connection.call("execute_testcase", args, signal));
    // The call of an interrupted wait fails by itself; its end is asked for below.
    waiting.catch(() => undefined);
    const answer = await Promise.race([waiting, interrupted]).finally(() => unhurried.abort());
    if (answer !== undefined) return runReply.parse(answer);
  }
  const fresh = new AbortController().signal;
  return runReply.parse(
    await done(connection.call("cancel_execution", { execution_id: executionId }, fresh)),
  );
}

const files = { html: "report.html", junit: "junit.xml", ctrf: "ctrf.json" } as const;

async function writeReports(
  ran: readonly Ran[],
  folder: string,
  connection: RunConnection,
  { out }: Pick<Terminal, "out">,
): Promise<void> {
  const ids = ran.flatMap(({ executionId }) => executionId ?? []);
  if (ids.length === 0) return;
  await mkdir(folder, { recursive: true });
  // Reports are written for an interrupted run too.
  const { signal } = new AbortController();
  for (const [format, file] of Object.entries(files)) {
    const made = await done(connection.call("get_execution_report", { execution_id: ids, format }, signal));
    const { report } = z.looseObject({ report: z.string() }).parse(made);
    await writeFile(join(folder, file), await connection.artifact(report));
  }
  out(`report: ${join(folder, files.html)}\n`);
}

/** The result, or the tool's own error thrown. */
async function done(answer: Promise<Answer>): Promise<Record<string, unknown>> {
  const given = await answer;
  if (given.ok) return given.structured;
  const { code, message, hint } = given.error;
  throw new ToolError(isErrorCode(code) ? code : "TOOL_FAILED", message, hint);
}
