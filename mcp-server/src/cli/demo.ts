import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { reportFiles } from "../domain/index.ts";
import { ToolError } from "../errors.ts";
import { packageFolder } from "../storage/packageFolder.ts";
import { runStop } from "./control.ts";
import { connectDaemon } from "./daemon.ts";
import { attachHost, type Host } from "./demo/host.ts";
import { type DemoModel, readModel } from "./demo/model.ts";
import { type Implementation, implementations, serveTodomvc } from "./demo/todomvc.ts";
import { countLines, type Judgement, judge, verdictTable } from "./demo/verdicts.ts";
import { type ExitCode, exitCodes, type Terminal } from "./terminal.ts";

export type DemoOptions = {
  /** Names of implementations; the first when empty. */
  only: readonly string[];
  /** Takes all of them. */
  all?: boolean | undefined;
  /** Where the reports go; a new temporary folder when left out. */
  report?: string | undefined;
};

type Stage = { host: Host; session: string; model: DemoModel; terminal: Terminal };
type Chosen = Implementation & { userinterface: string; url: string };

const leaseSchema = z.object({ session_id: z.string(), device: z.string(), model: z.string() });
const runSchema = z.looseObject({
  execution_id: z.string(),
  status: z.string(),
  duration_ms: z.number().default(0),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  failed_step: z.looseObject({ label: z.string() }).optional(),
});
const anything = z.looseObject({});

/**
 * `labwright demo`: the main job on an app that is not ours, on a daemon and data of its own that are gone afterwards.
 * Exit code 0 when every verdict is the right one, a failed one for a known fault included; 1 when one is not.
 */
export async function runDemo(options: DemoOptions, terminal: Terminal): Promise<ExitCode> {
  const chosen = choose(options);
  const dataDir = await mkdtemp(join(tmpdir(), "labwright-demo-"));
  const reportDir = resolve(
    terminal.cwd,
    options.report ?? (await mkdtemp(join(tmpdir(), "labwright-report-"))),
  );
  // The daemon inherits the environment, and the demo's data must not go where this machine's real data is.
  for (const name of ["DATABASE_URL", "LABWRIGHT_PORT", "LABWRIGHT_DATA_DIR"]) delete process.env[name];
  const app = await serveTodomvc();
  try {
    const served = chosen.map((one) => ({
      ...one,
      userinterface: `todomvc-${one.name}`,
      url: app.url(one.path),
    }));
    terminal.out(`Starting Labwright on ${dataDir}\n`);
    const judgements = await withHost(dataDir, terminal, (host) => play(host, served, reportDir, terminal));
    terminal.out(
      `\n${countLines(judgements).join("\n")}\n\nReports: ${reportDir}\n${attachText()}${openText(reportDir, chosen)}`,
    );
    return judgements.every(({ isExpected }) => isExpected) ? exitCodes.passed : exitCodes.failed;
  } catch (error) {
    if (terminal.signal.aborted) return exitCodes.interrupted;
    throw error;
  } finally {
    await app.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

function choose({ only, all }: DemoOptions): readonly Implementation[] {
  const unknown = only.find((name) => !implementations.some((one) => one.name === name));
  if (unknown === undefined && (all || only.length > 0))
    return implementations.filter(({ name }) => all || only.includes(name));
  if (unknown === undefined) return implementations.slice(0, 1);
  const names = implementations.map(({ name }) => name).join(", ");
  throw new ToolError(
    "INVALID_INPUT",
    `The demo has no implementation "${unknown}".`,
    `Choose from ${names}.`,
  );
}

async function withHost<Result>(
  dataDir: string,
  terminal: Terminal,
  run: (host: Host) => Promise<Result>,
): Promise<Result> {
  const options = { dataDir, config: undefined, logLevel: undefined };
  const quiet: Terminal = { ...terminal, out: () => undefined, signal: new AbortController().signal };
  try {
    const attached = await connectDaemon(options, terminal, { command: "demo", client: "demo" });
    const host = await attachHost(attached.file, terminal.signal);
    try {
      return await run(host);
    } finally {
      await host.close();
      attached.close();
    }
  } finally {
    await runStop(options, quiet);
  }
}

async function play(
  host: Host,
  chosen: readonly Chosen[],
  reportDir: string,
  terminal: Terminal,
): Promise<Judgement[]> {
  const model = await readModel();
  const lease = await host.call("take_control", {}, leaseSchema);
  terminal.out(`Took control of ${lease.device} (${lease.model})\n`);
  const stage: Stage = { host, session: lease.session_id, model, terminal };
  for (const [index, one] of chosen.entries()) await importModel(stage, one, index === 0);
  const table = verdictTable(
    chosen.map(({ name }) => name),
    model.testcases,
  );
  terminal.out(`\n${table.head()}\n`);
  const judgements: Judgement[] = [];
  await mkdir(reportDir, { recursive: true });
  for (const one of chosen) {
    const own: Judgement[] = [];
    for (const testcase of model.testcases) {
      const judgement = await runTestcase(stage, one, testcase);
      terminal.out(`${table.row(judgement)}\n`);
      own.push(judgement);
    }
    await saveReports(stage, join(reportDir, one.name), own);
    judgements.push(...own);
  }
  await host.call("release_control", { session_id: stage.session }, anything);
  return judgements;
}

/** The app's model first, then a walk to its first screen, so that a wrong address shows before any verdict. */
async function importModel(stage: Stage, chosen: Chosen, isFirst: boolean): Promise<void> {
  const { host, session, model, terminal } = stage;
  const { userinterface, url } = chosen;
  const yaml = model.yamlFor({ userinterface, url, withTestcases: isFirst });
  await host.call("import_userinterface", { yaml }, anything);
  const where = { userinterface_name: userinterface, node: "All" };
  const walk = await host.call("navigate_to_node", { ...where, session_id: session }, runSchema);
  terminal.out(`Imported ${userinterface} (${url}); going to "All": ${walk.status}\n`);
}

async function runTestcase(stage: Stage, chosen: Chosen, testcase: string): Promise<Judgement> {
  const { host, session } = stage;
  const request = { testcase, userinterface_name: chosen.userinterface, session_id: session };
  let run = await host.call("execute_testcase", request, runSchema);
  while (run.status === "running" || run.status === "queued") {
    run = await host.call("execute_testcase", { testcase, execution_id: run.execution_id }, runSchema);
  }
  const verdict = {
    implementation: chosen.name,
    testcase,
    executionId: run.execution_id,
    status: run.status,
    durationMs: run.duration_ms,
    found: [run.failed_step?.label, run.reason?.message].filter(Boolean).join(": "),
  };
  return judge(verdict, chosen);
}

const reportSchema = z.looseObject({ report: z.string() });

/** One report of an implementation's test cases, for a person and for two kinds of program. */
async function saveReports(stage: Stage, dir: string, judgements: readonly Judgement[]): Promise<void> {
  await mkdir(dir, { recursive: true });
  const execution_id = judgements.map(({ verdict }) => verdict.executionId);
  for (const [format, file] of Object.entries(reportFiles)) {
    const { report } = await stage.host.call("get_execution_report", { execution_id, format }, reportSchema);
    await writeFile(join(dir, file), await stage.host.read(report));
  }
}

/** The command that shows the first report in this system's browser. */
function openText(reportDir: string, [first]: readonly Implementation[]): string {
  const programs: Readonly<Record<string, string>> = { darwin: "open", win32: "start" };
  const program = programs[process.platform] ?? "xdg-open";
  return `Open the report: ${program} ${join(reportDir, first?.name ?? "", reportFiles.html)}\n`;
}

/** What to paste where. The program is named by its whole path, since a host starts it anywhere. */
function attachText(): string {
  const program = join(packageFolder(), "bin", "labwright.js");
  const config = { mcpServers: { labwright: { command: process.execPath, args: [program, "mcp"] } } };
  return [
    "",
    "To attach Claude Desktop: Settings > Developer > Edit Config, put this into claude_desktop_config.json and restart it:",
    JSON.stringify(config, null, 2),
    "",
    "Then ask it, for example: take control of the browser, open https://example.com and check its heading.",
    "",
  ].join("\n");
}
