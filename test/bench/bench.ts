import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { measureAgentChoice } from "./agentChoice.ts";
import { measureTenTurns } from "./agentCost.ts";
import { measureAndroid } from "./android.ts";
import { measureCli } from "./cli.ts";
import { measureFirstVerdict, measureInstalled } from "./firstVerdict.ts";
import { measureFocus } from "./focus.ts";
import { measureInteraction } from "./interaction.ts";
import { measureLoginTokens } from "./loginTokens.ts";
import { measureMemory } from "./memory.ts";
import { servePages } from "./pages.ts";
import { measureChecks, measureReading } from "./reading.ts";
import { type Measurement, readGoals, renderTable, toRow } from "./rows.ts";
import { measureSeeing } from "./seeing.ts";
import { measureSettle } from "./settle.ts";
import { type Bench, openSides, type Sides, type Suites } from "./sides.ts";
import { measureStartup } from "./startup.ts";
import { step12 } from "./step12/suites.ts";
import { step13 } from "./step13/suites.ts";
import { step14 } from "./step14/suites.ts";
import { step15 } from "./step15/suites.ts";
import { step16 } from "./step16/suites.ts";
import { measureSurface } from "./surface.ts";
import { measureTexts } from "./texts.ts";
import { measureToolsets } from "./toolsets.ts";
import { measureShop, measureVerdicts } from "./verdict.ts";
import { measureWidgets } from "./widgets.ts";
import { measureWorkers } from "./workers.ts";

const usual: Suites = {
  start: ({ sides, url }) => measureStartup(sides, url),
  act: ({ sides, url }) => measureInteraction(sides, url),
  tokens: ({ sides, url, note }) => measureLoginTokens(sides, url, note),
  see: ({ sides, note }) => measureSeeing(sides, note),
  settle: ({ sides, note }) => measureSettle(sides, note),
  verdict: ({ sides, note }) => measureVerdicts(sides, note),
  shop: ({ sides, note }) => measureShop(sides, note),
  checks: ({ note }) => measureChecks(note),
  texts: ({ sides, note }) => measureTexts(sides, note),
  reading: ({ note }) => measureReading(note),
  widgets: ({ sides, note }) => measureWidgets(sides, note),
  memory: ({ sides }) => measureMemory(sides),
  surface: async ({ sides, note }) => [
    ...(await measureSurface(sides, note)),
    await measureToolsets(sides, note),
  ],
  agent: async ({ sides, url, note }) => [
    await measureTenTurns({ sides, url, note }),
    ...measureAgentChoice(sides),
  ],
  first: ({ sides, note }) => measureFirstVerdict(sides, note),
  installed: ({ sides }) => measureInstalled(sides),
  workers: ({ sides, url, note }) => measureWorkers(sides, url, note),
  cli: ({ sides, note }) => measureCli(sides, note),
  android: ({ sides }) => measureAndroid(sides),
  focus: ({ note }) => measureFocus(note),
};

/** What is measured once a step of the product is done, with goals of its own in `goals.step<N>.json`. */
const steps: Readonly<Record<string, Suites>> = {
  12: step12,
  13: step13,
  14: step14,
  15: step15,
  16: step16,
};

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Ends the daemons too, which outlive the bridge that started them. Returns a function that removes the handlers. */
function onInterrupt(sides: Sides): () => void {
  const end = (): void => {
    void sides.close().finally(() => process.exit(130));
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);
  return () => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, end);
  };
}

async function measureAll(root: string, suites: Suites, wanted: readonly string[]): Promise<Measurement[]> {
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

/** `--step 12` measures the goals of that step, `--only start,act` chooses goals, `--json FILE` writes the rows. Returns 0 when goals were chosen and each is met, else 1. */
export async function main({ root, args }: { root: string; args: readonly string[] }): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: "string" }, json: { type: "string" }, step: { type: "string" } },
  });
  const { step } = values;
  const suites = step === undefined ? usual : steps[step];
  if (!suites)
    throw new Error(`There are goals of the steps ${Object.keys(steps).join(", ")}, not of ${step}.`);
  const file = step === undefined ? "goals.json" : `goals.step${step}.json`;
  const goals = await readGoals(join(root, "test", "bench", file));
  const only = values.only?.split(",");
  const suiteOf = (id: string): string => id.split(".")[0] ?? "";
  const chosen = goals.filter(({ id }) => only === undefined || only.includes(suiteOf(id)));
  const wanted = Object.keys(suites).filter((suite) => chosen.some(({ id }) => suiteOf(id) === suite));
  const measurements = await measureAll(root, suites, wanted);
  const rows = chosen.map((goal) =>
    toRow(
      goal,
      measurements.find((m) => m.id === goal.id),
    ),
  );
  print(renderTable(rows, goals));
  const met = rows.filter((row) => row.met).length;
  print(`${met} of ${rows.length} goals met`);
  if (values.json !== undefined) await writeFile(resolve(values.json), `${JSON.stringify(rows, null, 2)}\n`);
  return rows.length > 0 && met === rows.length ? 0 : 1;
}
