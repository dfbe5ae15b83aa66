import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { measureAgentChoice } from "./agentChoice.ts";
import { measureAgentCost } from "./agentCost.ts";
import { measureLongConversation } from "./agentLong.ts";
import { measureAgentTime } from "./agentTime.ts";
import { measureAndroid } from "./android.ts";
import { measureApiChecks } from "./apiChecks.ts";
import { measureBeside, measureIdle, measureReader } from "./beside.ts";
import { measureChecks } from "./checksProperty.ts";
import { measureCli } from "./cli.ts";
import { measureFirstCommand } from "./firstCommand.ts";
import { measureFirstVerdict, measureInstalled } from "./firstVerdict.ts";
import { measureFlows } from "./flows.ts";
import { measureFocus } from "./focus.ts";
import { measureFrames } from "./frames.ts";
import { measureInteraction } from "./interaction.ts";
import { measureKeeper } from "./keeper.ts";
import { measureLateText } from "./lateText.ts";
import { measureLoad } from "./load.ts";
import { measureLoginTokens } from "./loginTokens.ts";
import { measureMemory } from "./memory.ts";
import { measureMobile } from "./mobile.ts";
import { servePages } from "./pages.ts";
import { measureReading } from "./reading.ts";
import { measureReport } from "./report500.ts";
import { countMet, type Measurement, readGoals, renderTable, toRow } from "./rows.ts";
import { measureSeeing } from "./seeing.ts";
import { measureSettle } from "./settle.ts";
import { measureKeys, measureNav } from "./settleNav.ts";
import { openSides, type Sides } from "./sides.ts";
import { measureStartup } from "./startup.ts";
import { measureSurface } from "./surface.ts";
import { measureTexts } from "./texts.ts";
import { measureShop, measureVerdicts } from "./verdict.ts";
import { measureWidgets } from "./widgets.ts";
import { measureWorkers } from "./workers.ts";

type Bench = { sides: Sides; url(path: string): string; note(line: string): void };

/** What measures the goals whose id starts with the key, in the order they run. */
const suites: Readonly<Record<string, (bench: Bench) => Promise<Measurement[]>>> = {
  start: ({ sides, url }) => measureStartup(sides, url),
  act: ({ sides, url }) => measureInteraction(sides, url),
  tokens: ({ sides, url, note }) => measureLoginTokens(sides, url, note),
  see: ({ sides, note }) => measureSeeing(sides, note),
  check: ({ sides, url }) => measureLateText(sides, url),
  checks: ({ note }) => measureChecks(note),
  memory: ({ sides }) => measureMemory(sides),
  surface: ({ sides, note }) => measureSurface(sides, note),
  load: ({ sides, note }) => measureLoad(sides, note),
  keeper: ({ sides }) => measureKeeper(sides),
  verdict: ({ sides, note }) => measureVerdicts(sides, note),
  settle: ({ sides, note }) => measureSettle(sides, note),
  texts: ({ sides, note }) => measureTexts(sides, note),
  nav: ({ sides }) => measureNav(sides),
  keys: ({ sides }) => measureKeys(sides),
  widgets: ({ sides, note }) => measureWidgets(sides, note),
  api: ({ sides }) => measureApiChecks(sides),
  android: ({ sides, note }) => measureAndroid(sides, note),
  mobile: ({ sides, note }) => measureMobile(sides, note),
  focus: ({ note }) => measureFocus(note),
  frames: ({ note }) => measureFrames(note),
  before: ({ sides, url, note }) => measureBeside(sides, url, note),
  idle: ({ sides, note }) => measureIdle(sides, note),
  workers: ({ sides, url, note }) => measureWorkers(sides, url, note),
  controllers: ({ sides, note }) => measureFirstCommand(sides, note),
  reader: ({ sides, url, note }) => measureReader(sides, url, note),
  reading: ({ note }) => measureReading(note),
  report500: ({ sides }) => measureReport(sides),
  shop: ({ sides, note }) => measureShop(sides, note),
  first: ({ sides, note }) => measureFirstVerdict(sides, note),
  installed: ({ sides }) => measureInstalled(sides),
  cli: ({ sides, note }) => measureCli(sides, note),
  flows: ({ sides, note }) => measureFlows(sides, note),
  agent: async ({ sides, url, note }) => [
    ...(await measureAgentCost({ sides, url, note })),
    ...(await measureLongConversation(sides, note)),
    ...(await measureAgentTime(sides, note)),
    ...measureAgentChoice(sides),
  ],
};

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Daemons outlive the bridge that started them, so they are ended before this program is. Returns what undoes it. */
function onInterrupt(sides: Sides): () => void {
  const end = (): void => {
    void sides.close().finally(() => process.exit(130));
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);
  return () => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, end);
  };
}

async function measureAll(root: string, wanted: readonly string[]): Promise<Measurement[]> {
  const sides = await openSides(root);
  const site = await servePages();
  const leave = onInterrupt(sides);
  const measurements: Measurement[] = [];
  const notes: string[] = [];
  try {
    for (const suite of wanted) {
      process.stderr.write(`measuring ${suite} ...\n`);
      try {
        const bench: Bench = { sides, url: site.url, note: (line) => notes.push(line) };
        measurements.push(...((await suites[suite]?.(bench)) ?? []));
      } catch (error) {
        notes.push(
          `${suite} could not be measured: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  } finally {
    leave();
    await site.close();
    await sides.close();
  }
  for (const note of notes) print(note);
  return measurements;
}

/** `--step N` and `--only start,act` choose goals, `--json FILE` writes the rows. Gives 0 when goals were chosen and each is met, else 1. */
export async function main({ root, args }: { root: string; args: readonly string[] }): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { step: { type: "string" }, only: { type: "string" }, json: { type: "string" } },
  });
  const goals = await readGoals(join(root, "test", "bench", "goals.json"));
  const only = values.only?.split(",");
  const suiteOf = (id: string): string => id.split(".")[0] ?? "";
  const chosen = goals.filter(
    (goal) =>
      (values.step === undefined || [goal.step, ...(goal.again ?? [])].includes(Number(values.step))) &&
      (only === undefined || only.includes(suiteOf(goal.id))),
  );
  const wanted = Object.keys(suites).filter((suite) => chosen.some((goal) => suiteOf(goal.id) === suite));
  const measurements = await measureAll(root, wanted);
  const rows = chosen.map((goal) =>
    toRow(
      goal,
      measurements.find((m) => m.id === goal.id),
    ),
  );
  print(renderTable(rows, goals));
  const { met, of } = countMet(rows, goals);
  print(`${met} of ${of} goals met`);
  if (values.json !== undefined) await writeFile(resolve(values.json), `${JSON.stringify(rows, null, 2)}\n`);
  return rows.length > 0 && met === of ? 0 : 1;
}
