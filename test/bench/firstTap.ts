import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { onlyPhone, type Phones } from "./androidPhones.ts";
import { androidHome, driverSession } from "./driverByHand.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratiosOf, timed } from "./statistics.ts";

const exec = promisify(execFile);
const settings = "com.android.settings";
const touch = { x: 400, y: 1_200 };
/** Of the page that the touched row of the list opens. */
const proof = "Nothing can be changed here";

/**
 * The first tap after the daemon's start, on a phone that no one has opened. Its reply has the screen that it led to, so by
 * hand the session of the driver reads it too. Sessions have ended, daemons too, before the next round.
 */
export async function measureFirstTap(sides: Sides, all: Phones): Promise<Measurement> {
  const { lab, dataDir } = all;
  const { device, device_id, serial } = onlyPhone(all);
  const sdk = await androidHome(sides.scratch);
  const prepare = () => {
    device.ui.home();
    device.ui.stop(settings);
    device.ui.start({ packageName: settings });
  };
  const ours = async (): Promise<number> => {
    await sides.stopDaemon(dataDir);
    prepare();
    const server = await all.start();
    try {
      const actions = [{ command: "tap", params: touch }];
      const { ms, result } = await timed(() => server.call("execute_device_action", { device_id, actions }));
      if (!result.text.includes(".Page")) throw new Error(`The tap led nowhere:\n${result.text}`);
      if (device.uia2 === undefined) throw new Error("The screen was not read by a session of the driver.");
      return ms;
    } finally {
      await server.end();
      await sides.stopDaemon(dataDir);
    }
  };
  const byHand = async (): Promise<number> => {
    prepare();
    const env = { ...lab.env, ANDROID_HOME: sdk };
    const start = performance.now();
    await exec("adb", ["-s", serial, "shell", `input tap ${touch.x} ${touch.y}`], { env: lab.env });
    const capabilities = { skipDeviceInitialization: true, skipLogcatCapture: true, skipUnlock: true };
    const place = { root: sides.root, serial, adbPort: lab.adbPort, env };
    const { tree, end } = await driverSession({ ...place, capabilities });
    const ms = performance.now() - start;
    await end();
    if (!tree.includes(proof)) throw new Error(`By hand the tap led nowhere:\n${tree.slice(0, 500)}`);
    return ms;
  };
  const [own = [], theirs = []] = await alternate([ours, byHand], { rounds: 9, warmUps: 1 });
  return {
    ...{ id: "android.first_tap", ours: median(own), theirs: median(theirs) },
    ...{ runs: own.length, ratios: ratiosOf(own, theirs) },
  };
}
