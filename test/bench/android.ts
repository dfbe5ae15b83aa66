import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { callAtOnce } from "../fixtures/phoneCrowd.ts";
import { onlyPhone, type Phones, withPhones } from "./androidPhones.ts";
import { parseEntries } from "./dumps.ts";
import { tokensOf } from "./loginTokens.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratiosOf, timed } from "./statistics.ts";

const exec = promisify(execFile);
const settings = "com.android.settings";
const fewestRows = 12;
const touch = { x: 400, y: 1_200 };
const manyPhones = 10;
const callsEach = 50;

/** Phones of the laboratory through the real adb server and the product as it is shipped. */
export async function measureAndroid(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  return [
    await withPhones(sides, [{ persona: "phone" }], settingsList),
    await withPhones(sides, [{ persona: "phone" }], (phones) => firstTap(sides, phones)),
    await withPhones(
      sides,
      Array.from({ length: manyPhones }, (_, at) => ({ persona: at % 2 === 0 ? "phone" : "phone2" })),
      (phones) => wrongPhones(phones, note),
    ),
  ];
}

/** The list of the settings app where it begins, whose rows a dump must name. */
async function settingsList(all: Phones): Promise<Measurement> {
  const { device, device_id } = onlyPhone(all);
  device.ui.start({ packageName: settings });
  const server = await all.start();
  try {
    const dump = await server.call("dump_ui_elements", { device_id });
    const rows = parseEntries(dump.text).filter(({ role, name }) => role !== "list" && name !== "");
    if (rows.length < fewestRows) throw new Error(`The list has ${rows.length} rows:\n${dump.text}`);
    return { id: "android.settings_tokens", ours: tokensOf(dump), runs: 1 };
  } finally {
    await server.end();
  }
}

/** The reply to ours has the screen that it led to, so theirs dumps it too. */
async function firstTap(sides: Sides, all: Phones): Promise<Measurement> {
  const { lab, dataDir } = all;
  const { device, device_id, serial } = onlyPhone(all);
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
      seeReached(result.text);
      return ms;
    } finally {
      await server.end();
    }
  };
  const adb = (...args: string[]) => exec("adb", ["-s", serial, ...args], { env: lab.env });
  const byHand = async (): Promise<number> => {
    prepare();
    const { ms, result } = await timed(async () => {
      await adb("shell", `input tap ${touch.x} ${touch.y}`);
      return adb("exec-out", "uiautomator dump /dev/tty");
    });
    seeReached(result.stdout);
    return ms;
  };
  const [own = [], theirs = []] = await alternate([ours, byHand], { rounds: 9, warmUps: 1 });
  return {
    ...{ id: "android.first_tap", ours: median(own), theirs: median(theirs) },
    ...{ runs: own.length, ratios: ratiosOf(own, theirs) },
  };
}

/** The page that the touched row opens says its name, and the list does not say it as a title. */
function seeReached(screen: string): void {
  if (!/Page|Nothing can be changed here/.test(screen))
    throw new Error(`The tap led nowhere:\n${screen.slice(0, 1_000)}`);
}

async function wrongPhones(all: Phones, note: (line: string) => void): Promise<Measurement> {
  const server = await all.start();
  try {
    const call = async (tool: string, args: Readonly<Record<string, unknown>>) =>
      (await server.call(tool, args, { mayFail: true })).text;
    const { calls, wrong } = await callAtOnce(all.phones, call, callsEach);
    for (const line of wrong.slice(0, 5)) note(`android.wrong: ${line}`);
    return { id: "android.wrong", ours: wrong.length, runs: calls };
  } finally {
    await server.end();
  }
}
