import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

const manyOrigins = 16;
const clicks = 10;
const options = { rounds: 3, warmUps: 1 };
/** What is kept of a click is read within this time, so that its cost is inside the figure. */
const keptAfterMs = 1_300;
/** Linux counts CPU time in hundredths of a second. */
const ticksPerSecond = 100;

type Origins = { urls: readonly string[]; close(): Promise<void> };

/** Each port of loopback is an origin of its own, with its own local storage; every page sets a cookie of its own, too. */
async function serveOrigins(count: number): Promise<Origins> {
  const servers = Array.from({ length: count }, (_, index) =>
    createServer((request, response) => {
      request.resume();
      response.writeHead(200, {
        "content-type": "text/html; charset=utf-8",
        "set-cookie": `origin${index}=seen; Max-Age=86400`,
      });
      response.end(`<!doctype html><html lang="en"><title>Origin ${index}</title><h1>Origin ${index}</h1>
        <button onclick="localStorage.count = Number(localStorage.count ?? 0) + 1; this.nextElementSibling.textContent = localStorage.count">Count</button>
        <output>0</output><script>localStorage.visited = "origin ${index}"</script>`);
    }),
  );
  const urls = await Promise.all(
    servers.map(async (server) => {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = server.address();
      return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
    }),
  );
  return {
    urls,
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
        await once(server, "close");
      }
    },
  };
}

type Process = { pid: number; parent: number; ticks: number };

/** With the time of children that have ended, which their parent inherits. */
async function processOf(pid: number): Promise<Process[]> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields.length < 15) return [];
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return [{ pid, parent: Number(fields[1]), ticks }];
}

/** Seconds of CPU that a process and everything below it has used. */
async function treeCpuSeconds(root: number): Promise<number> {
  const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  const all = (await Promise.all(pids.map(processOf))).flat();
  const below = (pid: number): number =>
    all.filter((one) => one.parent === pid).reduce((sum, one) => sum + one.ticks + below(one.pid), 0);
  return (below(root) + (all.find(({ pid }) => pid === root)?.ticks ?? 0)) / ticksPerSecond;
}

async function act(server: StdioServer, command: string, params: object): Promise<string> {
  return (await server.call("execute_device_action", { actions: [{ command, params }] })).text;
}

/** A browser that has been to these origins and stays on the last; gives the CPU time of ten clicks there. */
async function visited(sides: Sides, urls: readonly string[]) {
  const dataDir = await sides.newDataDir();
  const server = sides.ours(dataDir);
  await server.initialize();
  for (const url of urls) await act(server, "navigate_to_url", { url });
  const daemon = await sides.daemonPid(dataDir);
  if (daemon === undefined) throw new Error("The daemon left no daemon.json.");
  let count = 0;
  return {
    async clicks(): Promise<number> {
      const before = await treeCpuSeconds(daemon);
      for (let click = 0; click < clicks; click++) {
        const reply = await act(server, "click_element", { selector: "Count" });
        if (!reply.includes(String(++count))) throw new Error(`The click ${count} was not seen:\n${reply}`);
        await pause(keptAfterMs);
      }
      return (await treeCpuSeconds(daemon)) - before;
    },
    async end() {
      await server.end();
      await sides.stopDaemon(dataDir);
    },
  };
}

/** What keeping the storage state costs a session that has been to many origins (ours), beside one origin (theirs). */
export async function measureKeeper(sides: Sides): Promise<Measurement[]> {
  const origins = await serveOrigins(manyOrigins);
  const many = await visited(sides, origins.urls);
  const one = await visited(sides, origins.urls.slice(-1));
  try {
    const [ours = [], theirs = []] = await alternate([many.clicks, one.clicks], options);
    return [{ id: "keeper.cpu", ours: median(ours), theirs: median(theirs), runs: ours.length }];
  } finally {
    await many.end();
    await one.end();
    await origins.close();
  }
}
