import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { type ApiFinding, apiTestResultSchema, faults } from "../../domain/index.ts";
import type { DaemonOptions } from "../options.ts";
import { counted, type ExitCode, exitCodes, type Terminal, wrapText } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { annotationText } from "./annotations.ts";
import { done, type RunConnection } from "./connection.ts";
import { runToEnd } from "./oneTest.ts";
import { tryReports, writeReports } from "./reportFiles.ts";
import { exitCodeOf } from "./run.ts";
import { withStatusLine } from "./statusLine.ts";
import { verdictText } from "./verdictText.ts";
import { withWebServer } from "./webServer.ts";

/** `document` is an address or a file, `tests` a file of own values and rules. */
export type ApiTestOptions = { document: string; url?: string; tests?: string; report?: string } & {
  operation?: string[];
  tag?: string[];
  seed?: number;
  environment?: string;
  allowProduction?: boolean;
};

const importedSchema = z.object({ api: z.string(), warnings: z.array(z.string()).default([]) });
const endSchema = apiTestResultSchema.partial().extend({ cut: z.record(z.string(), z.int()).default({}) });

/**
 * `labwright api-test`: imports an API's document, tests its operations while the app of `web_server` runs, prints each finding
 * and writes the reports. Exit codes as `labwright run`: 1 for a finding, 2 when no operation could be judged.
 */
export const runApiTests = (options: DaemonOptions & ApiTestOptions, terminal: Terminal): Promise<ExitCode> =>
  withDaemon(options, terminal, { command: "run" }, (connection) =>
    withWebServer(options, terminal, () => testApi(options, connection, terminal)),
  );

async function testApi(given: ApiTestOptions, connection: RunConnection, own: Terminal): Promise<ExitCode> {
  const terminal = withStatusLine(own);
  const { cwd, columns, signal, out, err } = terminal;
  const folder = given.report === undefined ? undefined : resolve(cwd, given.report);
  if (folder !== undefined) await tryReports(folder);
  const place = (text: string) => (existsSync(resolve(cwd, text)) ? resolve(cwd, text) : text);
  const source = place(given.document);
  const imported = await done(connection.call("import_api_spec", { source, replace: true }, signal));
  const { api, warnings } = importedSchema.parse(imported);
  err(warnings.map((warning) => `warning: ${warning}\n`).join(""));
  const { url: base_url, operation: operations, tag: tags, seed, environment } = given;
  const args = {
    ...{ api, base_url, operations, tags, seed, environment, allow_production: given.allowProduction },
    ...(given.tests !== undefined && { file: place(given.tests) }),
  };
  const name = `API tests of ${api}`;
  const ended = await runToEnd({ tool: "run_api_tests", args, name }, connection, terminal);
  if ("error" in ended) throw ended.error;
  const { reply } = ended;
  const end = endSchema.parse(reply);
  const { findings = [], not_reached = [] } = end;
  out(wrapText(verdictText({ name, device: undefined }, reply), columns));
  for (const finding of findings) {
    out(wrapText(`${finding.operation}: ${wordsOf(finding)}\n  repeat   ${finding.curl}\n`, columns));
    const fault = { name: finding.operation, file: undefined, path: undefined, message: wordsOf(finding) };
    out(await annotationText(fault, terminal));
  }
  for (const one of not_reached) out(`${one.operation}: not reached: ${one.reason}\n`);
  const ran = { executionId: reply.execution_id, files: [] };
  if (folder !== undefined) out(`report: ${await writeReports([ran], folder, connection, [])}\n`);
  const count = counted(findings.length + (end.cut.findings ?? 0), "finding");
  out(`${end.tried ?? 0} of ${counted(end.operations ?? 0, "operation")} tried, ${count}\n`);
  return signal.aborted ? exitCodes.interrupted : exitCodeOf([reply.status]);
}

const wordsOf = ({ fault, at, expected, found }: ApiFinding): string =>
  `${fault} (${faults[fault]}) at ${at}: expected ${expected}, found ${found}`;
