import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { androidHome, driverSession } from "../bench/driverByHand.ts";
import { startAndroidLab } from "../fixtures/androidLab.ts";

/** A session of the driver with every step that ours leaves out: its apps are installed, its log follows the device's. */
export async function main({ root }: { root: string }): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), "labwright-driver-"));
  const lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  try {
    const [phone] = lab.devices;
    if (!phone) throw new Error("The laboratory has no phone.");
    phone.device.ui.start({ packageName: "com.android.settings" });
    const env = { ...lab.env, ANDROID_HOME: await androidHome(scratch) };
    const place = { root, serial: phone.serial, adbPort: lab.adbPort, env };
    const { tree, end } = await driverSession({ ...place, capabilities: {} });
    const installed = phone.device.traffic.services.filter((line) =>
      /cmd package '?install/.test(line),
    ).length;
    await end();
    const problems = [
      ...(tree.includes("Bluetooth") ? [] : [`The tree is another: ${tree.slice(0, 300)}`]),
      ...(installed > 0 ? [] : ["It installed nothing."]),
      ...(phone.device.uia2 === undefined ? [] : ["Its server still runs on the device."]),
      ...(phone.device.system.unknown.length === 0
        ? []
        : [`The laboratory does not know: ${phone.device.system.unknown.join("; ")}`]),
    ];
    for (const problem of problems) process.stdout.write(`${problem}\n`);
    if (problems.length > 0) return 1;
    process.stdout.write(
      `the whole driver: a session, a tree, ${installed} packages installed, nothing left\n`,
    );
    return 0;
  } finally {
    await lab.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
