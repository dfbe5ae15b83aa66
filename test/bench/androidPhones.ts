import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { type AndroidLab, type LabDeviceOptions, startAndroidLab } from "../fixtures/androidLab.ts";
import type { CrowdPhone } from "../fixtures/phoneCrowd.ts";
import type { Sides } from "./sides.ts";
import type { StdioServer } from "./stdioServer.ts";

/** Phones of the laboratory, named phone1 and on, and what starts a daemon that has them. */
export type Phones = {
  lab: AndroidLab;
  phones: readonly CrowdPhone[];
  dataDir: string;
  /** A bridge to the daemon of these phones, which runs when this resolves and has opened none of them. */
  start(): Promise<StdioServer>;
};

export async function withPhones<Result>(
  sides: Sides,
  options: readonly LabDeviceOptions[],
  use: (phones: Phones) => Promise<Result>,
): Promise<Result> {
  const lab = await startAndroidLab({ devices: options });
  try {
    const phones = lab.devices.map((device, at) => ({ ...device, device_id: `phone${at + 1}` }));
    const devices = phones.map(({ device_id, serial }) => ({
      name: device_id,
      model: "android_mobile",
      controllers: { android: { serial, adb_port: lab.adbPort } },
    }));
    const config = await sides.newConfig({ devices });
    const dataDir = await sides.newDataDir();
    // Those that `npm run bench` has set up.
    await symlink(join(sides.root, ".setup", "addons"), join(dataDir, "addons"));
    const start = async (): Promise<StdioServer> => {
      const server = sides.ours(dataDir, { config });
      await server.initialize();
      await server.call("list_hosts", {});
      return server;
    };
    try {
      return await use({ lab, phones, dataDir, start });
    } finally {
      await sides.stopDaemon(dataDir);
    }
  } finally {
    await lab.close();
  }
}

export function onlyPhone({ phones }: Phones): CrowdPhone {
  const [phone] = phones;
  if (!phone) throw new Error("The laboratory has no phone.");
  return phone;
}
