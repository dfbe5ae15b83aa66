import { callTool } from "../shell/api.ts";

/** A device of `list_hosts`. It has a `status` while it is open. */
export type Device = { id: string; model: string; state: string; status?: string; discovered?: true };

/** Of `get_device_info`. */
export type DeviceReply = Device & {
  open: boolean;
  make?: string;
  version?: string;
  note?: string;
  controllers: string;
  unavailable: { driver: string; kind: string; reason: string }[];
};

export async function listDevices(signal: AbortSignal): Promise<Device[]> {
  const { hosts } = await callTool<{ hosts: { devices: Device[] }[] }>("list_hosts", {}, signal);
  return hosts.flatMap(({ devices }) => devices);
}

/** Ids of the devices that can run an app, the best first; of all devices without one. */
export async function devicesFor(app: string | undefined, signal: AbortSignal): Promise<string[]> {
  const asked = { userinterface_name: app };
  const found =
    app === undefined
      ? await listDevices(signal)
      : (await callTool<{ devices: { id: string }[] }>("get_compatible_hosts", asked, signal)).devices;
  return found.map(({ id }) => id);
}

/** Who has a device: `free`, `yours` or `held`, and the rest of what the server says of it. */
export function holding(state: string): { word: "free" | "yours" | "held"; holder?: string; until?: string } {
  const [, holder, until] = /^(?:yours|held by (.+)) until (\S+)$/.exec(state) ?? [];
  if (until === undefined) return { word: "free" };
  return holder === undefined ? { word: "yours", until } : { word: "held", holder, until };
}
