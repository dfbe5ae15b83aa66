import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ToolError } from "../../errors.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { anything, type Host, leaseSchema, runTestcase, withHost } from "./host.ts";
import { readDemoFile } from "./model.ts";
import { type PhoneDemoOptions, untilInterrupted } from "./phone.ts";
import { openText, reportFolder, saveReports } from "./reports.ts";
import { type Judgement, judge, verdictTable } from "./verdicts.ts";

const app = { name: "kodi", breaks: {} };

/** The part of `test/lab/tv/kodi` that the demo uses. */
type KodiBox = {
  startKodi(signal: AbortSignal): Promise<{ display: string; stop(): Promise<void> }>;
};

/** The set-top box that the tests use, which is in a checkout of the repository only. */
async function loadBox(): Promise<KodiBox> {
  const file = join(packageFolder(), "dist", "kodiBox.js");
  if (existsSync(file)) return import(pathToFileURL(file).href);
  throw new ToolError(
    "INVALID_INPUT",
    "The set-top box of the demo is a part of the repository and not of this package.",
    "In a checkout of the repository run: npm run demo -- --device tv. With a box of your own see docs/devices.md.",
  );
}

/**
 * `labwright demo --device tv`: Kodi as a set-top box on a display without a screen, and a daemon of the demo's own, all gone
 * afterwards. The daemon sees pictures and sends keys. Exit code 0 when all test cases passed, else 1.
 */
export async function runTvDemo(options: PhoneDemoOptions, terminal: Terminal): Promise<ExitCode> {
  if (options.all || options.only.length > 0)
    throw new ToolError(
      "INVALID_INPUT",
      "The demo on a TV has no implementations of TodoMVC.",
      "Run: labwright demo --device tv",
    );
  const { startKodi } = await loadBox();
  terminal.out("Starting Kodi as a set-top box: about 10 s\n");
  const box = await startKodi(terminal.signal).catch(notStarted);
  const dataDir = await mkdtemp(join(tmpdir(), "labwright-demo-"));
  try {
    const config = join(dataDir, "labwright.yaml");
    await writeFile(config, configOf(box));
    const reportDir = await reportFolder(options.report, terminal);
    terminal.out(`Kodi shows its picture on ${box.display}\nStarting Labwright on ${dataDir}\n`);
    const hasPassed = await withHost({ dataDir, config }, terminal, async (host) => {
      const passed = await play(host, reportDir, terminal);
      if (options.keep) await untilInterrupted(keepText(dataDir), terminal);
      return passed;
    });
    terminal.out(`\nReports: ${reportDir}\n${openText(reportDir)}`);
    return hasPassed ? exitCodes.passed : exitCodes.failed;
  } catch (error) {
    if (terminal.signal.aborted) return exitCodes.interrupted;
    throw error;
  } finally {
    await box.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

function notStarted(cause: unknown): never {
  const why = cause instanceof Error ? cause.message : String(cause);
  throw new ToolError(
    "INVALID_INPUT",
    `Kodi could not be started: ${why}`,
    "Run: sudo apt-get install -y kodi kodi-pvr-iptvsimple xvfb xdotool ffmpeg fonts-dejavu-core tesseract-ocr",
  );
}

const configOf = ({ display }: { display: string }): string =>
  JSON.stringify({
    devices: [
      {
        name: "tv",
        model: "stb",
        controllers: { av: { x11: display }, x11: { display }, text: { languages: ["eng"] } },
      },
    ],
  });

const keepText = (dataDir: string) =>
  `\nKodi stays until Ctrl-C. In another terminal:\n  labwright look --data-dir ${dataDir}\n  labwright do --data-dir ${dataDir} press HOME\n`;

async function play(host: Host, reportDir: string, terminal: Terminal): Promise<boolean> {
  const { testcases, yaml } = await readDemoFile("kodi.yaml");
  const { device, model, session_id: session } = await host.call("take_control", {}, leaseSchema);
  terminal.out(`Took control of ${device} (${model})\n`);
  await host.call("import_userinterface", { yaml }, anything);
  const table = verdictTable([app.name], testcases);
  terminal.out(`\n${table.head()}\n`);
  const judgements: Judgement[] = [];
  for (const testcase of testcases) {
    const run = { session, userinterface: app.name, implementation: app.name, testcase };
    const judgement = judge(await runTestcase(host, run), app);
    terminal.out(`${table.row(judgement)}\n`);
    judgements.push(judgement);
  }
  const ids = judgements.map(({ verdict }) => verdict.executionId);
  await saveReports(host, reportDir, ids);
  await host.call("release_control", { session_id: session }, anything);
  return judgements.every(({ isExpected }) => isExpected);
}
