import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratioInterval, ratiosOf, timed } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

/** A configuration takes 200 devices. */
const rounds = 91;
const warmUps = 5;
/** Longer than a controller may take to open. */
const givenUpMs = 30_000;

/** `simulated` makes two controllers. The one that hangs comes first: it is asked first for the key. */
const hanging = { simulated_infrared: { hang_at_open: true }, simulated: {} };
const without = { simulated: {} };

/** The focus is on the item before it, until the key moves it. */
const proof = /button "Movies".* focused/;

const nameOf = (kind: string, round: number): string => `${kind}-${round}`;

const devicesOf = (kind: string, controllers: object): object[] =>
  Array.from({ length: rounds + warmUps }, (_, round) => ({
    ...{ name: nameOf(kind, round), model: "stb", controllers },
  }));

/** Milliseconds of the first command of each device: every round has devices that nobody has opened before. */
function firstCommands(server: StdioServer, kind: string): () => Promise<number> {
  let round = 0;
  return async () => {
    const device_id = nameOf(kind, round++);
    const actions = [{ command: "press_key", params: { key: "DOWN" } }];
    const { ms, result } = await timed(() => server.call("execute_device_action", { device_id, actions }));
    if (!proof.test(result.text)) throw new Error(`The key did not move the focus:\n${result.text}`);
    return ms;
  };
}

const infoSchema = z.object({ unavailable: z.array(z.object({ driver: z.string(), reason: z.string() })) });

/** Throws unless the device's controller was given up, so that the row says nothing of a device on which nothing hangs. */
async function seeGivenUp(server: StdioServer, device_id: string): Promise<void> {
  const deadline = performance.now() + givenUpMs;
  for (;;) {
    const { structured } = await server.call("get_device_info", { device_id });
    const { unavailable } = infoSchema.parse(structured);
    const hung = unavailable.find(({ driver }) => driver === "simulated_infrared");
    if (hung?.reason.includes("did not open within")) return;
    if (performance.now() > deadline) throw new Error(`No controller of ${device_id} hung at open.`);
    await pause(500);
  }
}

/** The first command of a device of three controllers of which one hangs at open (ours), and of one without it (theirs). */
export async function measureFirstCommand(
  sides: Sides,
  note: (line: string) => void,
): Promise<Measurement[]> {
  const devices = [...devicesOf("hanging", hanging), ...devicesOf("without", without)];
  const dataDir = await sides.newDataDir();
  const server = sides.ours(dataDir, { config: await sides.newConfig({ devices }) });
  try {
    await server.initialize();
    const [ours = [], theirs = []] = await alternate(
      [firstCommands(server, "hanging"), firstCommands(server, "without")],
      { rounds, warmUps },
    );
    await seeGivenUp(server, nameOf("hanging", 0));
    const [from, to] = ratioInterval(ours, theirs);
    note(`controllers.hanging: 95 % interval of the ratio ${from.toFixed(3)} to ${to.toFixed(3)}`);
    return [
      {
        ...{ id: "controllers.hanging", ours: median(ours), theirs: median(theirs) },
        ...{ runs: ours.length, ratios: ratiosOf(ours, theirs) },
      },
    ];
  } finally {
    await server.end();
    await sides.stopDaemon(dataDir);
  }
}
