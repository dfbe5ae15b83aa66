import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "../../errors.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { anything, type Host, leaseSchema, runSchema, runTestcase, withHost } from "./host.ts";
import { type DemoModel, readModel } from "./model.ts";
import { runPhoneDemo } from "./phone.ts";
import { attachText, openText, reportFolder, saveReports } from "./reports.ts";
import { type Implementation, implementations, serveTodomvc } from "./todomvc.ts";
import { countLines, type Judgement, judge, verdictTable } from "./verdicts.ts";

export type DemoOptions = {
  /** `web`, or the phone or set-top box of the laboratory. */
  device: "web" | "android" | "tv";
  /** Names of implementations; the first when empty. */
  only: readonly string[];
  /** Takes all of them. */
  all?: boolean | undefined;
  /** Keeps the phone or box until Ctrl-C. */
  keep?: boolean | undefined;
  /** Where the reports go; a new temporary folder when left out. */
  report?: string | undefined;
};

type Stage = { host: Host; session: string; model: DemoModel; terminal: Terminal };
type Chosen = Implementation & { userinterface: string; url: string };

/**
 * `labwright demo`: the main job on an app that is not ours, on a daemon and data of its own that are gone afterwards.
 * Exit code 0 when every verdict is the right one, a failed one for a known fault included; 1 when one is not.
 */
export async function runDemo(options: DemoOptions, terminal: Terminal): Promise<ExitCode> {
  if (options.device === "android") return runPhoneDemo(options, terminal);
  if (options.device === "tv") return (await import("./tv.ts")).runTvDemo(options, terminal);
  if (options.keep)
    throw new ToolError(
      "INVALID_INPUT",
      "--keep keeps the demo's phone or box, and the demo on the web has none.",
      "Run: labwright demo --device android --keep",
    );
  const chosen = choose(options);
  const dataDir = await mkdtemp(join(tmpdir(), "labwright-demo-"));
  const reportDir = await reportFolder(options.report, terminal);
  const app = await serveTodomvc();
  try {
    const served = chosen.map((one) => ({
      ...one,
      userinterface: `todomvc-${one.name}`,
      url: app.url(one.path),
    }));
    terminal.out(`Starting Labwright on ${dataDir}\n`);
    const judgements = await withHost({ dataDir }, terminal, (host) =>
      play(host, served, reportDir, terminal),
    );
    terminal.out(
      `\n${countLines(judgements).join("\n")}\n\nReports: ${reportDir}\n${attachText()}${openText(join(reportDir, chosen[0]?.name ?? ""))}`,
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
      const { name: implementation, userinterface } = one;
      const run = { session: stage.session, userinterface, implementation, testcase };
      const judgement = judge(await runTestcase(host, run), one);
      terminal.out(`${table.row(judgement)}\n`);
      own.push(judgement);
    }
    const ids = own.map(({ verdict }) => verdict.executionId);
    await saveReports(host, join(reportDir, one.name), ids);
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
