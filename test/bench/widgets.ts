import { z } from "zod";
import { openBoth, type Result, runWidgets, tableHead, tableLine } from "../widgets/all.ts";
import { widgets } from "../widgets/list.ts";
import { serveWidgets, type WidgetSite } from "../widgets/site.ts";
import { buildBefore } from "./before.ts";
import { parseEntries } from "./dumps.ts";
import { tokensOf } from "./loginTokens.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratiosOf, timed } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

/** The product as it was before the step that these rows belong to. */
const before = "183721d";
const dumpRounds = { rounds: 5, warmUps: 1 };
const largeRounds = { rounds: 9, warmUps: 2 };

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Others' widgets: what is done, what it costs, what their pages and a very large one take to look at. */
export async function measureWidgets(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const results: Result[] = [];
  await runWidgets(sides, { tell: (result) => results.push(result) });
  note(tableHead);
  for (const result of results) note(tableLine(result));
  const both = results.filter(({ ours, theirs }) => ours.done && theirs.done);
  const count = (side: "ours" | "theirs") => results.filter((result) => result[side].done).length;
  const site = await serveWidgets(sides.root);
  try {
    return [
      { id: "widgets.done", ours: count("ours"), theirs: count("theirs"), runs: 1 },
      {
        id: "widgets.tokens",
        ours: sum(both.map(({ ours }) => ours.tokens)),
        theirs: sum(both.map(({ theirs }) => theirs.tokens)),
        ratios: both.map(({ ours, theirs }) => ours.tokens / theirs.tokens),
        runs: both.length,
      },
      await measureLargest(sides, site, note),
      await measureDumpTime(sides, site, note),
      await measureLargePage(sides, site),
    ];
  } finally {
    await site.close();
  }
}

const open = (server: StdioServer, url: string) =>
  server.call("execute_device_action", { actions: [{ command: "navigate_to_url", params: { url } }] });

const dumpSchema = z.looseObject({ more: z.int() });

/** Pages that load more while they are looked at are looked at again. */
const mostLooks = 5;

/** Tokens of the largest dump of a widget's page. A dump whose rest is not what it says makes the row unmeasured. */
async function measureLargest(
  sides: Sides,
  site: WidgetSite,
  note: (line: string) => void,
): Promise<Measurement> {
  const { ours, close } = await openBoth(sides);
  const all: { name: string; tokens: number }[] = [];
  try {
    for (const { name } of widgets) {
      await open(ours, site.url(name));
      all.push({ name, tokens: await tokensOfHonestDump(ours, name) });
    }
  } finally {
    await close();
  }
  const largest = all.toSorted((a, b) => b.tokens - a.tokens);
  note(
    `widgets: largest dumps: ${largest
      .slice(0, 5)
      .map(({ name, tokens }) => `${name} ${tokens}`)
      .join(", ")}`,
  );
  return { id: "widgets.largest", ours: largest[0]?.tokens ?? Number.NaN, runs: all.length };
}

async function tokensOfHonestDump(server: StdioServer, name: string): Promise<number> {
  for (let look = 1; ; look++) {
    const dump = await server.call("dump_ui_elements", {});
    const whole = await server.call("dump_ui_elements", { max_tokens: 50_000 });
    const shown = parseEntries(dump.text).length;
    const { more } = dumpSchema.parse(dump.structured);
    const there = parseEntries(whole.text).length + dumpSchema.parse(whole.structured).more;
    if (shown + more === there) return tokensOf(dump);
    if (look === mostLooks)
      throw new Error(`the dump of ${name} shows ${shown} and says ${more} more, but there are ${there}`);
  }
}

const timeOfDump = async (server: StdioServer): Promise<number> =>
  (await timed(() => server.call("dump_ui_elements", {}))).ms;

/** The same pages in the same round: the sum of the medians of all pages. */
async function measureDumpTime(
  sides: Sides,
  site: WidgetSite,
  note: (line: string) => void,
): Promise<Measurement> {
  const product = await buildBefore(sides, before);
  const dataDirs = [await sides.newDataDir(), await sides.newDataDir()] as const;
  const servers = [sides.ours(dataDirs[0]), sides.ours(dataDirs[1], { product })] as const;
  const medians: [number[], number[]] = [[], []];
  try {
    for (const server of servers) await server.initialize();
    for (const { name } of widgets) {
      for (const server of servers) await open(server, site.url(name));
      const times = await alternate(
        servers.map((server) => () => timeOfDump(server)),
        dumpRounds,
      );
      for (const side of [0, 1] as const) medians[side].push(median(times[side] ?? []));
    }
  } finally {
    for (const server of servers) await server.end();
    for (const dataDir of dataDirs) await sides.stopDaemon(dataDir);
  }
  note(
    `widgets: a dump takes ${median(medians[0]).toFixed(1)} ms, before ${median(medians[1]).toFixed(1)} ms`,
  );
  return {
    id: "widgets.dump_time",
    ours: sum(medians[0]),
    theirs: sum(medians[1]),
    ratios: ratiosOf(...medians),
    runs: dumpRounds.rounds * widgets.length,
  };
}

async function measureLargePage(sides: Sides, site: WidgetSite): Promise<Measurement> {
  const { ours, theirs, close } = await openBoth(sides);
  try {
    await open(ours, site.url("large"));
    await theirs.call("browser_navigate", { url: site.url("large") });
    const times = await alternate(
      [() => timeOfDump(ours), async () => (await timed(() => theirs.call("browser_snapshot", {}))).ms],
      largeRounds,
    );
    const [own = [], other = []] = times;
    return {
      id: "widgets.page_10000",
      ours: median(own),
      theirs: median(other),
      ratios: ratiosOf(own, other),
      runs: largeRounds.rounds,
    };
  } finally {
    await close();
  }
}
