import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { refOf } from "./dumps.ts";
import type { Measurement } from "./rows.ts";
import { act } from "./settle.ts";
import { openPlainSide, type PlainSide } from "./settlePlain.ts";
import { serveSettleSite } from "./settleSite.ts";
import type { Sides } from "./sides.ts";
import { median, timed } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

const scriptTimes = [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50];
const rounds = 4;
const reachedText = "Only on the reached page";
const keys = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
const keyRounds = 41;

type Click = { ms: number; reached: boolean };

async function ourClick(server: StdioServer, url: string): Promise<Click> {
  await act(server, [{ command: "navigate_to_url", params: { url } }]);
  const ref = refOf((await server.call("dump_ui_elements", {})).text, "Go");
  const click = [{ command: "click_element", params: { ref } }];
  const { ms, result } = await timed(() => act(server, click));
  return { ms, reached: result.includes(reachedText) };
}

/** Theirs waits no time of its own; a click's reply may hold only a link to the snapshot, which is in a file. */
async function theirClick(server: StdioServer, scratch: string, url: string): Promise<Click> {
  await server.call("browser_navigate", { url });
  const target = refOf((await server.call("browser_snapshot", {})).text, "Go");
  const args = { element: "link", target };
  const { ms, result } = await timed(() => server.call("browser_click", args, { mayFail: true }));
  const file = /\[Snapshot\]\(([^)]+)\)/.exec(result.text)?.[1];
  const snapshot = file === undefined ? "" : await readFile(join(scratch, file), "utf8");
  return { ms, reached: `${result.text}${snapshot}`.includes(reachedText) };
}

/** A click that navigates to a page with one script in its head: who shows the page, and how soon. */
export async function measureNav(sides: Sides): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const site = await serveSettleSite([]);
  const ours = sides.ours(dataDir);
  const theirs = sides.theirs("--timeout-settle", "0", "--snapshot-mode", "full");
  const clicks: { ours: Click; theirs: Click }[] = [];
  try {
    for (const server of [ours, theirs]) await server.initialize();
    for (let round = -1; round < rounds; round++) {
      for (const ms of scriptTimes) {
        const url = site.url(`/start/${ms}`);
        const pair = {
          ours: await ourClick(ours, url),
          theirs: await theirClick(theirs, sides.scratch, url),
        };
        if (round >= 0) clicks.push(pair);
      }
    }
  } finally {
    for (const server of [ours, theirs]) await server.end();
    await sides.stopDaemon(dataDir);
    await site.close();
  }
  const share = (of: "ours" | "theirs") => clicks.filter((pair) => pair[of].reached).length / clicks.length;
  const both = clicks.filter((pair) => pair.ours.reached && pair.theirs.reached);
  return [
    { id: "nav.reached", ours: share("ours"), theirs: share("theirs"), runs: clicks.length },
    {
      id: "nav.time",
      ours: median(both.map((pair) => pair.ours.ms)),
      theirs: median(both.map((pair) => pair.theirs.ms)),
      runs: both.length,
    },
  ];
}

async function ourKeys(server: StdioServer, url: string): Promise<number> {
  await act(server, [{ command: "navigate_to_url", params: { url } }]);
  const ref = refOf((await server.call("dump_ui_elements", {})).text, "Go");
  await act(server, [{ command: "click_element", params: { ref } }]);
  const batch = keys.map((key) => ({ command: "press_key", params: { key } }));
  const { ms } = await timed(() => act(server, batch));
  const dump = await server.call("dump_ui_elements", { interactive_only: false });
  refuseLost(dump.text, "Ours");
  return ms;
}

async function plainKeys(plain: PlainSide, url: string): Promise<number> {
  const { ms, log } = await plain.keys(url, keys);
  refuseLost(log, "Plain Playwright");
  return ms;
}

function refuseLost(log: string, who: string): void {
  if (log.includes(keys.join(""))) return;
  throw new Error(
    `${who} pressed ten keys, and the page's log has not all ten in order:\n${log.slice(0, 600)}`,
  );
}

/** Ten keys in one batch. */
export async function measureKeys(sides: Sides): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const site = await serveSettleSite([]);
  const plain = await openPlainSide(sides.browser);
  const server = sides.ours(dataDir);
  const times = { ours: [] as number[], plain: [] as number[] };
  try {
    await server.initialize();
    for (let round = -3; round < keyRounds; round++) {
      const pair = [
        await ourKeys(server, site.url("/keys")),
        await plainKeys(plain, site.url("/keys")),
      ] as const;
      if (round < 0) continue;
      times.ours.push(pair[0]);
      times.plain.push(pair[1]);
    }
  } finally {
    await server.end();
    await plain.close();
    await sides.stopDaemon(dataDir);
    await site.close();
  }
  return [{ id: "keys.batch", ours: median(times.ours), theirs: median(times.plain), runs: keyRounds }];
}
