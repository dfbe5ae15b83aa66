import { callAtOnce } from "../fixtures/phoneCrowd.ts";
import { onlyPhone, type Phones, withPhones } from "./androidPhones.ts";
import { parseEntries } from "./dumps.ts";
import { measureFirstTap } from "./firstTap.ts";
import { tokensOf } from "./loginTokens.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";

const settings = "com.android.settings";
const fewestRows = 12;
const manyPhones = 10;
const callsEach = 50;

/** Phones of the laboratory through the real adb server and the product as it is shipped. */
export async function measureAndroid(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  return [
    await withPhones(sides, [{ persona: "phone" }], settingsList),
    await withPhones(sides, [{ persona: "phone" }], (phones) => measureFirstTap(sides, phones)),
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
