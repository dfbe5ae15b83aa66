// Imports nothing: the daemon, the bridge and the command line all say by it what is wrong with a file.

type FileError = Error & { code: string; path?: string };
type Said = { message: string; hint: string };

const space =
  "Free space on that disk, or name another place with LABWRIGHT_DATA_DIR; labwright doctor shows the disks.";

const known: Readonly<Record<string, (what: string) => Said>> = {
  EACCES: noRight,
  EPERM: noRight,
  EISDIR: (what) => ({
    message: `${what} is a folder, and a file is needed there.`,
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

/** What is wrong with a file or its disk, and what to do. Undefined for any other error. */
export function fileFailure(error: unknown): Said | undefined {
  if (!isFileError(error)) return undefined;
  return known[error.code]?.(error.path ?? "the file");
}
