import { type InstalledApp, type SensorName, type SensorReport, sensorNames } from "@labwright/controllers";
import type { OpenDevice } from "../ports.ts";
import { pageOf } from "../values/pages.ts";
import { findPort, reasonsOf } from "./portOf.ts";

export type SensorView = SensorReport & { device_id: string };
export type AppList = {
  device_id: string;
  simulated?: boolean;
  apps: InstalledApp[];
  more: number;
  reason?: string;
};

/** What a device reports besides its screen. A device that reports nothing says so; that is not an error. */
export type DeviceFacts = {
  sensors(
    device: OpenDevice,
    names: readonly SensorName[] | undefined,
    signal: AbortSignal,
  ): Promise<SensorView>;
  /** By id, as many as fit. */
  apps(device: OpenDevice, maxTokens: number, signal: AbortSignal): Promise<AppList>;
};

export const createDeviceFacts = (): DeviceFacts => ({
  async sensors(device, names = sensorNames, signal) {
    const source = await findPort(device, "sensors", signal);
    if (!source) {
      const reason = noController(device, "reads sensors");
      return { device_id: device.id, readings: [], absent: names.map((name) => ({ name, reason })) };
    }
    const { readings, absent, ...rest } = await source.sensors(signal);
    const isWanted = (name: string) => names.some((one) => name === one || name.startsWith(`${one}.`));
    return {
      device_id: device.id,
      ...rest,
      readings: readings.filter(({ name }) => isWanted(name)),
      absent: absent.filter(({ name }) => isWanted(name)),
    };
  },
  async apps(device, maxTokens, signal) {
    const source = await findPort(device, "apps", signal);
    if (!source)
      return { device_id: device.id, apps: [], more: 0, reason: noController(device, "lists apps") };
    const { apps, ...rest } = await source.installedApps(signal);
    const byId = apps.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const { items, more } = pageOf(byId, 0, maxTokens);
    return { device_id: device.id, ...rest, apps: items, more };
  },
});

function noController(device: OpenDevice, does: string): string {
  const kinds = device.controllers.map(({ kind }) => kind).join(", ");
  const asked = `none of the controllers of this ${device.model} device (${kinds}) ${does}`;
  return [asked, ...reasonsOf(device)].join("; ");
}
