import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratiosOf } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

const rounds = { rounds: 7, warmUps: 1 };

/** Milliseconds from the spawn until `until` is over; ends the server. */
async function time(server: StdioServer, until: (server: StdioServer) => Promise<unknown>): Promise<number> {
  try {
    await server.initialize();
    await until(server);
    return performance.now() - server.startedAt;
  } finally {
    await server.end();
  }
}

const list = (server: StdioServer): Promise<unknown> => server.listTools();
const hosts = (server: StdioServer): Promise<unknown> => server.call("list_hosts", {});

const row = (id: string, ours: readonly number[], theirs: readonly number[]): Measurement => ({
  ...{ id, ours: median(ours), theirs: median(theirs) },
  ...{ runs: ours.length, ratios: ratiosOf(ours, theirs) },
});

/** Starts a daemon that has not opened a browser yet. */
async function startDaemon(sides: Sides, dataDir: string): Promise<void> {
  await sides.stopDaemon(dataDir);
  await time(sides.ours(dataDir), hosts);
}

async function listings(sides: Sides): Promise<Measurement[]> {
  const up = await sides.newDataDir();
  const down = await sides.newDataDir();
  await startDaemon(sides, up);
  await startDaemon(sides, down);
  const [theirs = [], listed = [], answered = []] = await alternate(
    [
      () => time(sides.theirs(), list),
      () => time(sides.ours(up), list),
      async () => {
        await sides.stopDaemon(down);
        return time(sides.ours(down), hosts);
      },
    ],
    rounds,
  );
  await sides.stopDaemon(up);
  await sides.stopDaemon(down);
  return [row("start.list", listed, theirs), row("start.hosts_down", answered, theirs)];
}

/** A page's first dump with the daemon up and the browser not started. */
async function firstDump(sides: Sides, url: string): Promise<Measurement> {
  const dataDir = await sides.newDataDir();
  const [theirs = [], ours = []] = await alternate(
    [
      () =>
        time(sides.theirs(), async (server) => {
          const reply = await server.call("browser_navigate", { url });
          if (!reply.text.includes("Item 12")) await server.call("browser_snapshot", {});
        }),
      async () => {
        await startDaemon(sides, dataDir);
        return time(sides.ours(dataDir), async (server) => {
          await server.call("execute_device_action", {
            actions: [{ command: "navigate_to_url", params: { url } }],
          });
          await server.call("dump_ui_elements", {});
        });
      },
    ],
    rounds,
  );
  await sides.stopDaemon(dataDir);
  return row("start.first_dump", ours, theirs);
}

/** From the spawn of the program that a host starts to its answers; theirs has no daemon, so one figure serves all. */
export async function measureStartup(sides: Sides, url: (path: string) => string): Promise<Measurement[]> {
  return [...(await listings(sides)), await firstDump(sides, url("/small"))];
}
