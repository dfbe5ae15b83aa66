import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { anything, type Host, leaseSchema, runTestcase, runToEnd, withHost } from "./host.ts";
import { readDemoFile } from "./model.ts";
import { openText, reportFolder, saveReports } from "./reports.ts";
import { type Judgement, judge, verdictTable } from "./verdicts.ts";

export type PhoneDemoOptions = {
  only: readonly string[];
  all?: boolean | undefined;
  keep?: boolean | undefined;
  report?: string | undefined;
};

const shop = { name: "shop", breaks: {} };
const treeSchema = z.looseObject({
  status: z.string(),
  execution_id: z.string(),
  passed: z.number().optional(),
  problems: z.array(z.unknown()).default([]),
});

/** The part of `test/lab/android` that the demo uses. */
type SimulatedPhone = {
  phone: unknown;
  startLabAndroid(options: { persona: unknown }): Promise<{ adbd: { port: number }; close(): Promise<void> }>;
  connectToOwnServer(
    devicePort: number,
    signal: AbortSignal,
  ): Promise<{ serial: string; adbPort: number; close(): Promise<void> }>;
};

/** The phone that the tests use, which is in a checkout of the repository only. */
async function loadPhone(): Promise<SimulatedPhone> {
  const file = join(packageFolder(), "dist", "simulatedPhone.js");
  if (existsSync(file)) return import(pathToFileURL(file).href);
  throw new ToolError(
    "INVALID_INPUT",
    "The simulated phone is a part of the repository and not of this package.",
    "In a checkout of the repository run: npm run demo -- --device android. With a phone of your own see docs/android.md.",
  );
}

/**
 * `labwright demo --device android`: a simulated phone, an adb server and a daemon of the demo's own, all gone
 * afterwards. Every edge of the shop's tree is walked, then its test cases run. Exit code 0 when all passed, else 1. Throws
 * ADB_MISSING, ADB_TOO_OLD.
 */
export async function runPhoneDemo(options: PhoneDemoOptions, terminal: Terminal): Promise<ExitCode> {
  if (options.all || options.only.length > 0)
    throw new ToolError(
      "INVALID_INPUT",
      "The demo on a phone has no implementations of TodoMVC.",
      "Run: labwright demo --device android",
    );
  const { connectToOwnServer, phone, startLabAndroid } = await loadPhone();
  const device = await startLabAndroid({ persona: phone });
  const dataDir = await mkdtemp(join(tmpdir(), "labwright-demo-"));
  try {
    const server = await connectToOwnServer(device.adbd.port, terminal.signal);
    try {
      const config = join(dataDir, "labwright.yaml");
      await writeFile(config, configOf(server));
      const reportDir = await reportFolder(options.report, terminal);
      terminal.out(
        `A simulated phone at ${server.serial}, behind a real adb server\nStarting Labwright on ${dataDir}\n`,
      );
      const passed = await withHost({ dataDir, config }, terminal, async (host) => {
        const hasPassed = await play(host, reportDir, terminal);
        if (options.keep) await untilInterrupted(keepText(dataDir), terminal);
        return hasPassed;
      });
      terminal.out(`\n${ownPhone}\nReports: ${reportDir}\n${openText(reportDir)}`);
      return passed ? exitCodes.passed : exitCodes.failed;
    } finally {
      await server.close();
    }
  } catch (error) {
    if (terminal.signal.aborted) return exitCodes.interrupted;
    throw error;
  } finally {
    await device.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

const keepText = (dataDir: string) =>
  `\nThe phone stays until Ctrl-C. In another terminal:\n  labwright look --data-dir ${dataDir}\n  labwright do --data-dir ${dataDir} click "Shop"\n`;

/** Says what can be done now. Ctrl-C then ends the demo with its device, server and data. */
export async function untilInterrupted(text: string, { out, signal }: Terminal): Promise<void> {
  out(text);
  // Node ends a process in which nothing is under way, and a listener is nothing.
  const alive = setInterval(() => undefined, 60_000);
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  clearInterval(alive);
}

const configOf = ({ serial, adbPort }: { serial: string; adbPort: number }): string =>
  JSON.stringify({
    devices: [
      { name: "phone", model: "android_mobile", controllers: { android: { serial, adb_port: adbPort } } },
    ],
  });

const ownPhone = `Your own phone: switch on its USB debugging, plug it in, and put this into labwright.yaml:
devices: [{ name: phone, model: android_mobile, controllers: { android: {} } }]
`;

async function play(host: Host, reportDir: string, terminal: Terminal): Promise<boolean> {
  const { testcases, yaml } = await readDemoFile("phoneShop.yaml");
  const lease = await host.call("take_control", {}, leaseSchema);
  const session = lease.session_id;
  terminal.out(`Took control of ${lease.device} (${lease.model})\n`);
  await host.call("import_userinterface", { yaml }, anything);
  const walk = { userinterface_name: shop.name, session_id: session };
  const tree = await runToEnd(host, ["validate_navigation", walk], treeSchema);
  terminal.out(`The tree of the shop: ${tree.passed ?? 0} edges passed, ${tree.problems.length} did not\n`);
  const table = verdictTable([shop.name], testcases);
  terminal.out(`\n${table.head()}\n`);
  const judgements: Judgement[] = [];
  for (const testcase of testcases) {
    const run = { session, userinterface: shop.name, implementation: shop.name, testcase };
    const judgement = judge(await runTestcase(host, run), shop);
    terminal.out(`${table.row(judgement)}\n`);
    judgements.push(judgement);
  }
  const ids = judgements.map(({ verdict }) => verdict.executionId);
  await saveReports(host, reportDir, [tree.execution_id, ...ids]);
  await host.call("release_control", { session_id: session }, anything);
  return tree.status === "passed" && judgements.every(({ isExpected }) => isExpected);
}
