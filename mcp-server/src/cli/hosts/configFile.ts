import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { ToolError } from "../../errors.ts";

/** Larger than any that a host keeps, Claude Code's history included. */
const maxBytes = 100_000_000;

/** Hosts write their files too. Each time one did so meanwhile, its file is read again. */
const maxAttempts = 10;

/** As Linux follows. */
const maxLinks = 40;

/** `before` is undefined when there was no file; `backup` names the copy that this change made. */
export type Change = { before: string | undefined; after: string; backup: string | undefined };

/** The text of a file, or undefined when there is none. Throws CONFIG_INVALID for a file that is not text, STORAGE_FAILED for the rest. */
export function readConfig(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const bytes = guarded(file, () => {
    if (statSync(file).size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    return readFileSync(file);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const hint = "Save it as UTF-8 and run this again.";
    throw new ToolError("CONFIG_INVALID", `${file} is not UTF-8.`, hint, {}, { cause: error });
  }
}

/**
 * Changes a file, or makes it and its folder: `edit` gets its text, "" when there is none, and is asked again when the file
 * changed before it was written. The file is replaced at once, keeps its mode, and is left alone when `edit` gives back the
 * same text; a link stays a link. The first original is kept next to it as `<file>.labwright-backup`. Throws what `edit`
 * throws, PROTECTED for a file that may not be written, STORAGE_FAILED.
 */
export function updateConfig(path: string, edit: (text: string) => string): Change {
  const file = guarded(path, () => targetOf(path));
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const before = readConfig(file);
    const after = edit(before ?? "");
    if (after === (before ?? "")) return { before, after, backup: undefined };
    if (before !== undefined) refuseProtected(file);
    const replaced = guarded(file, () => replace(file, before, after));
    if (replaced) return { before, after, backup: replaced.backup };
  }
  throw new ToolError(
    "STORAGE_FAILED",
    `${file} was changed by another program each time it was to be written.`,
    "End the host and run this again.",
  );
}

/** The file that links lead to, also if it does not exist yet. */
function targetOf(path: string, links = 0): string {
  if (existsSync(path)) return realpathSync(path);
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (!isLink) return path;
  if (links >= maxLinks) throw new Error(`more than ${maxLinks} links lead from it`);
  return targetOf(resolve(dirname(path), readlinkSync(path)), links + 1);
}

/** The superuser could write it all the same, and so could a rename; its owner said no. */
function refuseProtected(file: string): void {
  if ((statSync(file).mode & 0o222) !== 0) return;
  const hint = "Make it writable and run this again, or put in by hand what --print shows.";
  throw new ToolError("PROTECTED", `${file} is read-only.`, hint);
}

function replace(
  file: string,
  before: string | undefined,
  after: string,
): { backup: string | undefined } | undefined {
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.labwright-new`;
  try {
    writeFileSync(fresh, after);
    if (before !== undefined) chmodSync(fresh, statSync(file).mode & 0o7777);
    if (readConfig(file) !== before) return undefined;
    const backup = before === undefined ? undefined : keepOriginal(file);
    renameSync(fresh, file);
    return { backup };
  } finally {
    rmSync(fresh, { force: true });
  }
}

function keepOriginal(file: string): string | undefined {
  const backup = `${file}.labwright-backup`;
  if (existsSync(backup)) return undefined;
  writeFileSync(backup, readFileSync(file), { flag: "wx", mode: statSync(file).mode & 0o777 });
  return backup;
}

function guarded<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(
      "STORAGE_FAILED",
      `${file} could not be read or written: ${error instanceof Error ? error.message : String(error)}.`,
      "Correct that and run this again; the file was not changed.",
      {},
      { cause: error },
    );
  }
}
