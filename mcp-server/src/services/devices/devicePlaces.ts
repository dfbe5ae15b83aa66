import { join } from "node:path";
import { type AppInUse, type ControllerContext, DeviceError } from "@labwright/controllers";
import { uploadPath } from "../policy/uploads.ts";
import type { UrlPolicy } from "../policy/urlPolicy.ts";

export type DevicePlaces = {
  uploads: string;
  storageStates: string;
  unsafe: { javascript: boolean };
  app(): AppInUse | undefined;
};

/** What each device's controllers may use of this server: its policy and its folders, never a service. */
export function createDeviceContexts(
  policy: UrlPolicy,
  { uploads, storageStates, unsafe, app }: DevicePlaces,
): (deviceId: string) => ControllerContext {
  return (deviceId) => ({
    deviceId,
    allowUrl: policy.allowUrl,
    allowAddress: policy.allowAddress,
    uploadPath: (name) => uploadPath(uploads, name),
    storageStatePath: (name) => storageStatePath(storageStates, name),
    unsafe: { javascript: unsafe.javascript },
    app,
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
