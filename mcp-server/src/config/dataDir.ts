// Imports nothing heavy: the daemon and the bridge look here before they load the rest.
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const forOthers = 0o077;
const sticky = 0o1000;

/** Why a folder cannot be the data directory: another user could replace what is in it. Changes nothing. */
export function dataDirProblem(path: string): { message: string; hint: string } | undefined {
  const found = readStat(path);
  if (process.geteuid === undefined || found === undefined) return undefined;
  const hint = "Set LABWRIGHT_DATA_DIR to a folder of your own; one that is not there yet is made.";
  if (!isOurs(found))
    return { message: `The data directory ${path} belongs to another user (uid ${found.uid}).`, hint };
  if ((found.mode & sticky) !== 0 && !isNew(path))
    return { message: `The data directory ${path} is a folder that users share.`, hint };
  return undefined;
}

/**
 * Makes the data directory, with mode 0700 if it is ours. Returns a warning where others can read it and that cannot be
 * changed. Throws the file system's error where it cannot be made or written.
 */
export function makeDataDir(path: string): string | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  accessSync(path, constants.W_OK);
  if (process.geteuid === undefined || isPrivate(path)) return undefined;
  try {
    chmodSync(path, 0o700);
  } catch {
    // The return value says so.
  }
  return isPrivate(path) ? undefined : `Other users can read ${path}, and this user cannot change that.`;
}

const isPrivate = (path: string) => (statSync(path).mode & forOthers) === 0;

/** A disk that was just mounted has the mode of a shared folder, too. */
const isNew = (path: string) =>
  readdirSync(path).every((name) => name === "labwright.yaml" && isOurs(lstatSync(join(path, name))));

/** Root may change everything anyway, and owns the volumes of containers. */
const isOurs = ({ uid }: { uid: number }) => uid === 0 || uid === process.geteuid?.();

function readStat(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
