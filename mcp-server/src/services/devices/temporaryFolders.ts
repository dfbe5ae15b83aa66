import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

/** Folders that controllers fill while their device is open. */
export type TemporaryFolders = {
  /** A new, empty one, as an absolute path. */
  make(deviceId: string): Promise<string>;
  /** Removes all of a device, with what is in them. */
  removeAll(deviceId: string): Promise<void>;
};

/** Below `root`, which belongs to this server alone: what is there already was left by one that is dead, and is removed. */
export function createTemporaryFolders(root: string): TemporaryFolders {
  const removed = rm(root, { recursive: true, force: true });
  // Whoever makes a folder is told.
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
