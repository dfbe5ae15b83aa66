// Imports nothing heavy: the daemon, the bridge and the command line all say by it what is wrong with a file.
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";

type FileError = Error & { code: string; syscall: string; path?: string };
type Said = { message: string; hint: string };

const space =
  "Free up disk space, or set LABWRIGHT_DATA_DIR to another disk; labwright doctor shows the disks.";

const known: Readonly<Record<string, (what: string) => Said>> = {
  EACCES: noRight,
  EPERM: noRight,
  EISDIR: (what) => ({
    message: `${what} is a folder; expected a file.`,
    hint: "Name a file, or move the folder away.",
  }),
  ENOTDIR: fileInTheWay,
  EEXIST: fileInTheWay,
  ENOSPC: (what) => ({ message: `The disk is full that holds ${what}.`, hint: space }),
  EDQUOT: (what) => ({ message: `The disk quota is used up for ${what}.`, hint: space }),
  EROFS: (what) => ({
    message: `${what} lies on a disk that is read-only.`,
    hint: "Mount it writable, or name another place with LABWRIGHT_DATA_DIR.",
  }),
  EMFILE: () => ({ message: "This process has too many open files.", hint: "Raise the limit (ulimit -n)." }),
  ENFILE: () => ({ message: "This machine has too many open files.", hint: "End other programs." }),
};

function noRight(what: string): Said {
  return {
    message: `This user has no right to use ${what}.`,
    hint: "Give it the right (chmod, chown), or name another place with LABWRIGHT_DATA_DIR or in labwright.yaml.",
  };
}

function fileInTheWay(what: string): Said {
  return {
    message: `A file stands where a folder is needed: ${what}.`,
    hint: "Move the file away, or name another place with LABWRIGHT_DATA_DIR.",
  };
}

function isFileError(error: unknown): error is FileError {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error;
}

/**
 * What is wrong with a file or its disk, and what to do. Undefined for any other error. `path` is named where the error
 * names none.
 */
export function fileFailure(error: unknown, path = "the file"): Said | undefined {
  if (!isFileError(error)) return undefined;
  const isMkdir = error.code === "ENOENT" && error.syscall === "mkdir" && error.path !== undefined;
  const cause = isMkdir ? mkdirError(error) : error;
  return known[cause.code]?.(cause.path ?? path);
}

/** Node says ENOENT of a folder that cannot be made with its parents, whatever the reason. */
function mkdirError(error: FileError): FileError {
  let folder = error.path ?? "/";
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    return error;
  } catch (reason) {
    return isFileError(reason) ? reason : error;
  }
}
