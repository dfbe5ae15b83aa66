import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { apiTestResultSchema, faults } from "../../domain/index.ts";
import type { DaemonOptions } from "../options.ts";
import { counted, type ExitCode, exitCodes, type Terminal, wrapText } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { annotationText } from "./annotations.ts";
import { done, type RunConnection, type RunTerminal } from "./connection.ts";
import { runToEnd } from "./oneTest.ts";
import { tryReports, writeReports } from "./reportFiles.ts";
import { exitCodeOf } from "./run.ts";
import { withStatusLine } from "./statusLine.ts";
import { verdictText } from "./verdictText.ts";
import { withWebServer } from "./webServer.ts";

/** Arguments of `run_api_tests`; `document` is an address or a file, `tests` a file of own values and rules. */
export type ApiTestOptions = {
  document: string;
  url?: string | undefined;
  tests?: string | undefined;
  operation?: string[] | undefined;
  tag?: string[] | undefined;
  seed?: number | undefined;
  environment?: string | undefined;
  allowProduction?: boolean | undefined;
  report?: string | undefined;
};

const importedSchema = z.looseObject({ api: z.string(), warnings: z.array(z.string()).default([]) });
const { findings, not_reached, operations, tried, requests } = apiTestResultSchema.shape;
const endSchema = z.looseObject({
  ...{ findings: findings.default([]), not_reached: not_reached.default([]) },
  ...z.object({ operations, tried, requests }).partial().shape,
  cut: z.looseObject({ findings: z.int().default(0) }).default({ findings: 0 }),
});

/**
 * `labwright api-test`: imports an API's document, tests its operations, prints each finding and writes the reports. Exit codes as
 * `labwright run`: 1 for a finding, 2 when no operation could be judged. Throws what a tool replied before anything ran.
 */
export async function testApi(
  { document, report, ...options }: ApiTestOptions,
  connection: RunConnection,
  given: RunTerminal,
): Promise<ExitCode> {
  const terminal = withStatusLine(given);
  const { cwd, columns, signal, out, err } = terminal;
  const folder = report === undefined ? undefined : resolve(cwd, report);
  if (folder !== undefined) await tryReports(folder);
  const source = placeOf(cwd, document);
  const { api, warnings } = importedSchema.parse(
    await done(connection.call("import_api_spec", { source }, signal)),
  );
  for (const warning of warnings) err(wrapText(`warning: ${warning}\n`, columns));
  const name = `API tests of ${api}`;
  const args = argumentsOf(api, options, cwd);
  const ended = await runToEnd({ tool: "run_api_tests", args, name }, connection, terminal);
  if ("error" in ended) throw ended.error;
  const { reply } = ended;
  const end = endSchema.parse(reply);
  out(wrapText(verdictText({ name, device: undefined }, reply), columns));
  for (const one of end.findings) {
    const message = `${one.fault} (${faults[one.fault]}) at ${one.at}: expected ${one.expected}, found ${one.found}`;
    out(wrapText(`${one.operation}: ${message}\n  repeat   ${one.curl}\n`, columns));
    out(await annotationText({ name: one.operation, file: undefined, path: undefined, message }, terminal));
  }
  for (const { operation, reason } of end.not_reached)
    out(wrapText(`${operation}: not reached: ${reason}\n`, columns));
  const ran = { executionId: reply.execution_id, traces: [] };
  if (folder !== undefined) out(`report: ${await writeReports([ran], folder, connection, [])}\n`);
  const found = counted(end.findings.length + end.cut.findings, "finding");
  const { tried = 0, operations = 0, requests = 0 } = end;
  out(`${tried} of ${counted(operations, "operation")} tried, ${counted(requests, "request")}, ${found}\n`);
  return signal.aborted ? exitCodes.interrupted : exitCodeOf([reply.status]);
}

/** A file of the working directory by its whole path; anything else as it is. */
const placeOf = (cwd: string, text: string) => (existsSync(resolve(cwd, text)) ? resolve(cwd, text) : text);

function argumentsOf(
  api: string,
  { url, tests, operation, tag, seed, environment, allowProduction }: Omit<ApiTestOptions, "document">,
  cwd: string,
): Record<string, unknown> {
  const file = tests === undefined ? undefined : placeOf(cwd, tests);
  const named = { base_url: url, file, operations: operation, tags: tag, seed, environment };
  const all = { api, ...named, allow_production: allowProduction };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** The same on the daemon of the data directory, while the app of `web_server` runs. */
export const testApiOnDaemon = (options: DaemonOptions & ApiTestOptions, terminal: Terminal) =>
  withDaemon(options, terminal, { command: "run" }, (connection) =>
    withWebServer(options, terminal, () => testApi(options, connection, terminal)),
  );
