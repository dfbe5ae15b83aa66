import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ControllerContext, DeviceError, type InstalledAddons } from "@labwright/controllers";
import { uploadPath } from "../policy/uploads.ts";
import type { UrlPolicy } from "../policy/urlPolicy.ts";
import type { DeviceEntry } from "../ports.ts";
import { appInUse } from "../records/inUse.ts";
import type { Inputs } from "./inputs.ts";
import type { Pairings } from "./pairings.ts";
import type { FindPicture } from "./references/index.ts";

export type DevicePlaces = {
  uploads: string;
  storageStates: string;
  temporary: TemporaryFolders;
  addons: InstalledAddons;
  unsafe: { javascript: boolean; device_shell: boolean };
  findPicture: FindPicture;
  pairings: Pairings;
  inputs: Pick<Inputs, "since">;
};

/** What each device's controllers may use of this server: its policy and its folders, never a service. */
export function createDeviceContexts(
  policy: UrlPolicy,
  { uploads, storageStates, temporary, addons, unsafe, findPicture, pairings, inputs }: DevicePlaces,
): (device: DeviceEntry) => Omit<ControllerContext, "device"> {
  return ({ id, name, model }) => ({
    deviceId: id,
    allowUrl: policy.allowUrl,
    allowAddress: policy.allowAddress,
    allowHost: policy.allowHost,
    hasPathRules: policy.hasPathRules,
    uploadPath: (name) => uploadPath(uploads, name),
    storageStatePath: (name) => storageStatePath(storageStates, name),
    unsafe: { javascript: unsafe.javascript, deviceShell: unsafe.device_shell },
    app: appInUse,
    inputsSince: inputs.since(id),
    reference: (name) => findPicture({ app: appInUse()?.name, model, name }),
    temporaryFolder: () => temporary.make(id),
    addons,
    pairing: (driver) => pairings.find(name, driver),
  });
}

function storageStatePath(folder: string, name: string): string {
  if (!/^[A-Za-z0-9][\w.-]{0,79}$/.test(name) || name.includes("..")) {
    throw new DeviceError(
      "PATH_DENIED",
      `"${name}" is not a name for a storage state: use letters, digits, _, - and single dots.`,
    );
  }
  return join(folder, `${name}.json`);
}

export type TemporaryFolders = {
  make(deviceId: string): Promise<string>;
  removeAll(deviceId: string): Promise<void>;
};

/** Below `root`, which belongs to this server alone: what is there already was left by one that is dead, and is removed. */
export function createTemporaryFolders(root: string): TemporaryFolders {
  const removed = rm(root, { recursive: true, force: true });
  // A caller of `make` gets the error.
  removed.catch(() => undefined);
  const folderOf = (deviceId: string) => join(root, encodeURIComponent(deviceId));
  return {
    async make(deviceId) {
      await removed;
      const folder = folderOf(deviceId);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return mkdtemp(join(folder, "t-"));
    },
    async removeAll(deviceId) {
      await rm(folderOf(deviceId), { recursive: true, force: true });
    },
  };
}
