import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratiosOf } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

const rounds = 7;

/** Milliseconds from the spawn until `until` is over; ends the server. */
export async function time(
  server: StdioServer,
  until: (server: StdioServer) => Promise<unknown>,
): Promise<number> {
  try {
    await server.initialize();
    await until(server);
    return performance.now() - server.startedAt;
  } finally {
    await server.end();
  }
}

export const list = (server: StdioServer): Promise<unknown> => server.listTools();
export const hosts = (server: StdioServer): Promise<unknown> => server.call("list_hosts", {});

/** A data folder whose daemon is up and has no browser. */
async function freshDaemon(sides: Sides, dataDir: string): Promise<void> {
  await sides.stopDaemon(dataDir);
  await time(sides.ours(dataDir), hosts);
}

async function listings(sides: Sides): Promise<Measurement[]> {
  const up = await sides.newDataDir();
  const down = await sides.newDataDir();
  await freshDaemon(sides, up);
  await freshDaemon(sides, down);
  const stopped = async (dataDir: string): Promise<StdioServer> => {
    await sides.stopDaemon(dataDir);
    return sides.ours(dataDir);
  };
  const [theirs = [], listUp = [], hostsUp = [], hostsDown = [], hostsFirst = []] = await alternate(
    [
      () => time(sides.theirs(), list),
      () => time(sides.ours(up), list),
      () => time(sides.ours(up), hosts),
      async () => time(await stopped(down), hosts),
      async () => {
        const dataDir = await sides.newDataDir();
        const ms = await time(sides.ours(dataDir), hosts);
        await sides.stopDaemon(dataDir);
        return ms;
      },
    ],
    { rounds, warmUps: 1 },
  );
  await sides.stopDaemon(up);
  await sides.stopDaemon(down);
  const beside = (id: string, ours: readonly number[]): Measurement => ({
    id,
    ours: median(ours),
    theirs: median(theirs),
    runs: ours.length,
  });
  return [
    beside("start.list", listUp),
    beside("start.hosts_up", hostsUp),
    beside("start.hosts_down", hostsDown),
    beside("start.hosts_first", hostsFirst),
  ];
}

/** A page's first dump with the daemon up and without a browser, and with the daemon down. */
async function firstDump(sides: Sides, url: string): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const ourDump = () =>
    time(sides.ours(dataDir), async (server) => {
      await server.call("execute_device_action", {
        actions: [{ command: "navigate_to_url", params: { url } }],
      });
      await server.call("dump_ui_elements", {});
    });
  const [theirs = [], up = [], down = []] = await alternate(
    [
      () =>
        time(sides.theirs(), async (server) => {
          const reply = await server.call("browser_navigate", { url });
          if (!reply.text.includes("Item 12")) await server.call("browser_snapshot", {});
        }),
      async () => {
        await freshDaemon(sides, dataDir);
        return ourDump();
      },
      async () => {
        await sides.stopDaemon(dataDir);
        return ourDump();
      },
    ],
    { rounds, warmUps: 1 },
  );
  await sides.stopDaemon(dataDir);
  const beside = (id: string, ours: readonly number[]): Measurement => ({
    ...{ id, ours: median(ours), theirs: median(theirs) },
    ...{ runs: ours.length, ratios: ratiosOf(ours, theirs) },
  });
  return [beside("start.first_dump", up), beside("start.first_dump_down", down)];
}

/** From the spawn of the program that a host starts to its answers; theirs has no daemon, so one figure serves all. */
export async function measureStartup(sides: Sides, url: (path: string) => string): Promise<Measurement[]> {
  return [...(await listings(sides)), ...(await firstDump(sides, url("/small")))];
}
