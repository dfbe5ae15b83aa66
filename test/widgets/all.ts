import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openSides, type Sides } from "../bench/sides.ts";
import type { StdioServer } from "../bench/stdioServer.ts";
import { heldOut } from "./heldOut.ts";
import { type Widget, widgets } from "./list.ts";
import { serveWidgets } from "./site.ts";
import { judgeSettings, type Outcome, playOurs, playTheirs, upload } from "./stage.ts";

export type Result = { widget: Widget; ours: Outcome; theirs: Outcome };

/** Fewer of ours than this is a failed run. */
const wantedWidgets = 38;
const wantedHeldOut = 8;

/** Our server and theirs, each ready for the widgets. */
async function openBoth(
  sides: Sides,
): Promise<{ ours: StdioServer; theirs: StdioServer; close(): Promise<void> }> {
  await writeFile(join(sides.scratch, upload.name), upload.text);
  const dataDir = await sides.newDataDir();
  const ours = sides.ours(dataDir, { config: await sides.newConfig(judgeSettings(sides.scratch)) });
  const theirs = sides.theirs("--caps", "testing", "--snapshot-mode", "none");
  await ours.initialize();
  await theirs.initialize();
  return {
    ours,
    theirs,
    async close() {
      await ours.end();
      await theirs.end();
      await sides.stopDaemon(dataDir);
    },
  };
}

/** Each widget's task with both sides' tools, in the order of the list: the forty, where no list is given. */
export async function runWidgets(
  sides: Sides,
  {
    list = widgets,
    names,
    tell,
  }: { list?: readonly Widget[]; names?: readonly string[]; tell(result: Result): void },
): Promise<Result[]> {
  const site = await serveWidgets(sides.root);
  const both = await openBoth(sides);
  const results: Result[] = [];
  try {
    for (const widget of list.filter(({ name }) => names === undefined || names.includes(name))) {
      const url = site.url(widget.name);
      const theirs = await playTheirs(both.theirs, widget, url);
      const result = { widget, ours: await playOurs(both.ours, widget, url), theirs };
      tell(result);
      results.push(result);
    }
    return results;
  } finally {
    await both.close();
    await site.close();
  }
}

const columns = [14, 30, 5, 7, 6, 7, 6, 8, 8] as const;
const cells = (values: readonly string[]): string =>
  values
    .map((value, column) => value.padEnd(columns[column] ?? 0))
    .join("  ")
    .trimEnd();

export const tableHead = cells([
  "widget",
  "kind",
  "ours",
  "tokens",
  "theirs",
  "tokens",
  "ratio",
  "ours ms",
  "theirs ms",
]);

const yes = ({ done }: Outcome): string => (done ? "yes" : "NO");

/** One line of the table, and below it why a side did not do it. */
export function tableLine({ widget, ours, theirs }: Result): string {
  const ratio = ours.done && theirs.done ? (ours.tokens / theirs.tokens).toFixed(2) : "-";
  const line = cells([
    widget.name,
    widget.kind,
    yes(ours),
    String(ours.tokens),
    yes(theirs),
    String(theirs.tokens),
    ratio,
    ours.ms.toFixed(0),
    theirs.ms.toFixed(0),
  ]);
  const why = (side: string, { problem }: Outcome): string[] =>
    problem === undefined ? [] : [`    ${side}: ${problem.replace(/\s+/g, " ").slice(0, 240)}`];
  return [line, ...why("ours", ours), ...why("theirs", theirs)].join("\n");
}

/**
 * `--only a,b` chooses widgets, `--held-out` the ten of other kinds. Gives 0 when enough are done with our tools, or all of
 * those that were chosen.
 */
export async function main({ root, args }: { root: string; args: readonly string[] }): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: "string" }, "held-out": { type: "boolean", default: false } },
  });
  const isHeldOut = values["held-out"];
  const names = values.only?.split(",");
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const sides = await openSides(root);
  const close = (): void => {
    void sides.close().finally(() => process.exit(130));
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, close);
  try {
    print(tableHead);
    const results = await runWidgets(sides, {
      list: isHeldOut ? heldOut : widgets,
      ...(names && { names }),
      tell: (result) => print(tableLine(result)),
    });
    const count = (side: "ours" | "theirs") => results.filter((result) => result[side].done).length;
    print(
      `${isHeldOut ? "held-out widgets" : "widgets"} done: ${count("ours")} of ${results.length} with ours, ${count("theirs")} with @playwright/mcp`,
    );
    const wanted = isHeldOut ? wantedHeldOut : wantedWidgets;
    return count("ours") >= (names ? results.length : wanted) ? 0 : 1;
  } finally {
    await sides.close();
  }
}
