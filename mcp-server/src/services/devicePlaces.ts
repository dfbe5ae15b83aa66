import { existsSync, readdirSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { type ControllerContext, DeviceError, nearest } from "@labwright/controllers";
import type { UrlPolicy } from "./urlPolicy.ts";

export type DevicePlaces = {
  uploads: string;
  storageStates: string;
  unsafe: { javascript: boolean };
  testIdAttribute(): string;
};

/** What each device's controllers may use of this server: its policy and its folders, never a service. */
export function createDeviceContexts(
  policy: UrlPolicy,
  { uploads, storageStates, unsafe, testIdAttribute }: DevicePlaces,
): (deviceId: string) => ControllerContext {
  return (deviceId) => ({
    deviceId,
    allowUrl: policy.allowUrl,
    allowAddress: policy.allowAddress,
    uploadPath: (name) => uploadPath(uploads, name),
    storageStatePath: (name) => storageStatePath(storageStates, name),
    unsafe: { javascript: unsafe.javascript },
    testIdAttribute,
  });
}

/** A file inside the folder by its real path, so that neither `..` nor a symlink leads out of it. Throws PATH_DENIED. */
export function uploadPath(folder: string, name: string): string {
  const path = isAbsolute(name) ? name : join(folder, name);
  if (!existsSync(path) || !existsSync(folder)) {
    const near = existsSync(folder) ? nearest(name, readdirSync(folder)) : [];
    const offer = near.length > 0 ? ` Nearest: ${near.join(", ")}.` : "";
    throw new DeviceError(
      "PATH_DENIED",
      `There is no upload "${name}".${offer} Put the file into ${folder}.`,
      {
        nearest: near,
      },
    );
  }
  const real = realpathSync(path);
  const inside = relative(realpathSync(folder), real);
  const leads = inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  if (leads)
    throw new DeviceError(
      "PATH_DENIED",
      `"${name}" is outside the uploads folder. Put the file into ${folder}.`,
    );
  return real;
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
