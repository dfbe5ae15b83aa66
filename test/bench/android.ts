import { onlyPhone, type Phones, withPhones } from "./androidPhones.ts";
import { parseEntries } from "./dumps.ts";
import { measureFirstTap } from "./firstTap.ts";
import { tokensOf } from "./loginTokens.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";

const settings = "com.android.settings";
const fewestRows = 12;

/** Simulated phones through the real adb server and the product as it is shipped. */
export async function measureAndroid(sides: Sides): Promise<Measurement[]> {
  return [
    await withPhones(sides, [{ persona: "phone" }], settingsList),
    await withPhones(sides, [{ persona: "phone" }], (phones) => measureFirstTap(sides, phones)),
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
