import { parseArgs } from "node:util";
import { onlyPhone, type Phones, withPhones } from "../bench/androidPhones.ts";
import { treeMegabytes } from "../bench/memory.ts";
import { openSides, type Sides } from "../bench/sides.ts";
import { median } from "../bench/statistics.ts";
import type { StdioServer } from "../bench/stdioServer.ts";

/** How much more the daemon may have in the last quarter of the time than in the second. */
const most = 1.1;
const readings = 40;
const apps = ["com.android.settings", "dev.labwright.shop", "dev.labwright.samples"];

/** What a client does with a phone, over and over. */
async function playRound(server: StdioServer, device_id: string, round: number): Promise<void> {
  const app = { package: apps[round % apps.length] };
  const actions = [
    { command: "open_app", params: { app } },
    { command: "scroll", params: { direction: "down" } },
    { command: "tap", params: { x: 400, y: 1_200 } },
    { command: "press_key", params: { key: "BACK" } },
  ];
  await server.call("execute_device_action", { device_id, actions }, { mayFail: true });
  await server.call("dump_ui_elements", { device_id });
  await server.call("capture_screenshot", { device_id });
}

async function watch(sides: Sides, all: Phones, minutes: number): Promise<number> {
  const { device_id } = onlyPhone(all);
  const server = await all.start();
  try {
    const pid = await sides.daemonPid(all.dataDir);
    if (pid === undefined) throw new Error("The daemon left no daemon.json.");
    const started = performance.now();
    const everyMs = (minutes * 60_000) / readings;
    const megabytes: number[] = [];
    for (let round = 0; megabytes.length < readings; round++) {
      await playRound(server, device_id, round);
      const passed = performance.now() - started;
      if (passed < everyMs * (megabytes.length + 1)) continue;
      megabytes.push(await treeMegabytes(pid));
      process.stdout.write(
        `${(passed / 60_000).toFixed(1)} min, ${round + 1} rounds: ${megabytes.at(-1)?.toFixed(0)} MB\n`,
      );
    }
    const quarter = readings / 4;
    const ratio = median(megabytes.slice(-quarter)) / median(megabytes.slice(quarter, 2 * quarter));
    process.stdout.write(
      `memory of the last quarter by that of the second: ${ratio.toFixed(3)} (at most ${most})\n`,
    );
    return ratio <= most ? 0 : 1;
  } finally {
    await server.end();
  }
}

/** `--minutes 60`: the daemon's memory, its driver included, while one client uses a phone all the time. */
export async function main({ root, args }: { root: string; args: readonly string[] }): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { minutes: { type: "string", default: "60" } },
  });
  const sides = await openSides(root);
  try {
    return await withPhones(sides, [{ persona: "phone" }], (phones) =>
      watch(sides, phones, Number(values.minutes)),
    );
  } finally {
    await sides.close();
  }
}
