import { once } from "node:events";
import { createServer } from "node:http";
import { closeServer, listenOnLoopback } from "../../fixtures/loopback.ts";
import { clicks, ourDriver, shortOptions } from "../interaction.ts";
import type { Measurement } from "../rows.ts";
import { ourReply, patterns } from "../settle.ts";
import { serveSettleSite } from "../settleSite.ts";
import type { Bench, Sides } from "../sides.ts";
import { alternate, median, ratiosOf, timed } from "../statistics.ts";
import type { StdioServer } from "../stdioServer.ts";
import { beforeBuild } from "./beforeBuild.ts";
import { daemonMegabytes } from "./megabytes.ts";

/** The last commit without the walls. */
const lastWithout = "5eef6965";
/** A process keeps the speed that its start gave it, some percent off another's: the rounds are those of several. */
const sessions = 3;
const requests = 20;
/** Every so many patterns of the settle suite is enough to see a cost that all have. */
const everyPattern = 6;
const settleRounds = 2;

/** Milliseconds of each round of a side, and megabytes of each session. */
type Figures = { page: number[]; click: number[]; look: number[]; settle: number[]; memory: number[] };
const kinds = ["page", "click", "look", "settle", "memory"] as const;
const noFigures = (): Figures => ({ page: [], click: [], look: [], settle: [], memory: [] });

/** A page with so many requests, its own counted, which reports when its load event came. */
async function serveTwenty() {
  const picture = Buffer.from("R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==", "base64");
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    response.setHeader("cache-control", "no-store");
    if (pathname === "/done") server.emit("loaded", Number(searchParams.get("ms")));
    if (pathname !== "/") {
      response.writeHead(200, { "content-type": "image/gif" }).end(picture);
      return;
    }
    const pictures = Array.from({ length: requests - 1 }, (_, index) => `<img src="/${index}.gif" alt="">`);
    const report = `onload = () => { new Image().src = "/done?ms=" + performance.now(); }`;
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<!doctype html><title>Twenty</title>${pictures.join("")}<script>${report}</script>`);
  });
  const port = await listenOnLoopback(server);
  return {
    /** Opens it, and returns the milliseconds that the page counted. */
    async load(open: (url: string) => Promise<unknown>): Promise<number> {
      const loaded = once(server, "loaded");
      await open(`http://127.0.0.1:${port}/`);
      return Number((await loaded)[0]);
    },
    close: () => closeServer(server),
  };
}
type Sites = {
  url(path: string): string;
  twenty: Awaited<ReturnType<typeof serveTwenty>>;
  settle: Awaited<ReturnType<typeof serveSettleSite>>;
};

async function measureTimes(servers: readonly StdioServer[], sites: Sites, figures: readonly Figures[]) {
  const drivers = servers.map(ourDriver);
  const take = async (kind: keyof Figures, sides: (() => Promise<number>)[], options = shortOptions) => {
    for (const [side, times] of (await alternate(sides, options)).entries())
      figures[side]?.[kind].push(...times);
  };
  await take(
    "page",
    drivers.map(
      ({ open }) =>
        () =>
          sites.twenty.load(open),
    ),
  );
  await take(
    "click",
    drivers.map((driver) => clicks(driver, sites.url)),
  );
  await take(
    "look",
    drivers.map(
      ({ look }) =>
        async () =>
          (await timed(look)).ms,
    ),
  );
  for (const pattern of patterns.filter(({ rests }, index) => rests && index % everyPattern === 0)) {
    const url = sites.settle.url(`/pattern/${encodeURIComponent(pattern.name)}`);
    const reply = (server: StdioServer) => async () => (await ourReply(server, pattern, url)).ms;
    await take("settle", servers.map(reply), { rounds: settleRounds, warmUps: 0 });
  }
}

async function measureSession(sides: Sides, before: string, sites: Sites, figures: readonly Figures[]) {
  const dirs = [await sides.newDataDir(), await sides.newDataDir()];
  const servers = dirs.map((dir, side) => sides.ours(dir, side === 0 ? {} : { build: before }));
  try {
    for (const server of servers) await server.initialize();
    await measureTimes(servers, sites, figures);
    for (const [side, dir] of dirs.entries()) figures[side]?.memory.push(await daemonMegabytes(sides, dir));
  } finally {
    for (const server of servers) await server.end();
    for (const dir of dirs) await sides.stopDaemon(dir);
  }
}

/** This build next to that of the commit before the walls: the same calls on the same pages, in turn. */
export async function measureWalls({ sides, url }: Bench): Promise<Measurement[]> {
  const before = await beforeBuild(sides.root, sides.scratch, lastWithout);
  const sites = { url, twenty: await serveTwenty(), settle: await serveSettleSite(patterns) };
  const ours = noFigures();
  const theirs = noFigures();
  try {
    for (let session = 0; session < sessions; session++)
      await measureSession(sides, before, sites, [ours, theirs]);
  } finally {
    await sites.twenty.close();
    await sites.settle.close();
  }
  return kinds.map((kind) => ({
    id: `walls.${kind}`,
    ours: median(ours[kind]),
    theirs: median(theirs[kind]),
    runs: ours[kind].length,
    ratios: ratiosOf(ours[kind], theirs[kind]),
  }));
}
