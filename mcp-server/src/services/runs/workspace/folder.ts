import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import {
  chmod,
  chown,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rmdir,
  stat,
  unlink,
} from "node:fs/promises";
import { join } from "node:path";
import { nearest } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import { fileFailure } from "../../../fileFailure.ts";
import { leftIn } from "../scripts/index.ts";

const mostFileBytes = 5_000_000;
const mostEntries = 10_000;
const mostNames = 32;

/** `bytes` is of a file; a link is named and never followed. */
export type Entry = { name: string; kind: "file" | "folder" | "link" | "other"; bytes?: number };

/**
 * The workspace's files. Code in the sandbox may swap a folder for a link at any moment, so every path is walked from the
 * workspace's own folder, one name at a time, each opened without following links.
 */
export class WorkspaceFolder {
  private inlineGone: Promise<void> | undefined;

  /** `owner` is the user that the files belong to, where the server is root. */
  constructor(
    private readonly root: string,
    private readonly owner: () => Promise<number | undefined>,
  ) {}

  /** Its real path; made when it does not exist. Throws STORAGE_FAILED. */
  async path(): Promise<string> {
    try {
      const isNew = (await mkdir(this.root, { recursive: true, mode: 0o700 })) !== undefined;
      const owner = await this.owner();
      if (owner !== undefined && isNew) {
        await chown(this.root, owner, owner);
        // The sandbox enters it before it becomes that user, without root's rights.
        await chmod(this.root, 0o711);
      }
      if (owner !== undefined && !isNew) refuseClosed(this.root, owner, await stat(this.root));
      const path = await realpath(this.root);
      this.inlineGone ??= removeInline(path);
      await this.inlineGone;
      return path;
    } catch (error) {
      throw failure(error, "The workspace's folder", "STORAGE_FAILED");
    }
  }

  /** Throws FILE_NOT_FOUND, PATH_DENIED, INPUT_TOO_LARGE, and INVALID_INPUT for a file that is not text. */
  async read(path: string): Promise<string> {
    return this.within(path, async (folder, name) => {
      // Opening a pipe would wait for its other end.
      const file = await folder.open(name, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const found = await file.stat();
        if (!found.isFile()) throw wrong(path, "is not a file", 'Use operation "list" for a folder.');
        if (found.size > mostFileBytes) throw tooLarge(path, found.size);
        const { buffer, bytesRead } = await file.read(
          Buffer.alloc(mostFileBytes + 1),
          0,
          mostFileBytes + 1,
          0,
        );
        if (bytesRead > mostFileBytes) throw tooLarge(path, bytesRead);
        return decoded(path, buffer.subarray(0, bytesRead));
      } finally {
        await file.close();
      }
    });
  }

  /** Makes the folders above it. Throws PATH_DENIED, INPUT_TOO_LARGE, STORAGE_FULL. */
  async write(path: string, content: string): Promise<{ bytes: number; created: boolean }> {
    const bytes = Buffer.from(content);
    if (bytes.length > mostFileBytes) throw tooLarge(path, bytes.length);
    return this.within(
      path,
      async (folder, name) => {
        const before = await folder.find(name);
        if (before && !before.isFile()) throw wrong(path, "is not a file", "Choose another name.");
        const file = await folder.open(
          name,
          constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK,
          0o644,
        );
        try {
          if (!(await file.stat()).isFile()) throw wrong(path, "is not a file", "Choose another name.");
          if (before === undefined) await this.give(file);
          await file.truncate(0);
          await file.writeFile(bytes);
        } finally {
          await file.close();
        }
        return { bytes: bytes.length, created: before === undefined };
      },
      { makeFolders: true },
    );
  }

  /** Sorted by name. Throws FILE_NOT_FOUND, PATH_DENIED. */
  async list(path: string): Promise<Entry[]> {
    const folder = await this.walk(namesOf(path));
    try {
      const found = await readdir(folder.path);
      if (found.length > mostEntries)
        throw wrong(path, `has ${found.length} entries`, "Look into it with bash.");
      const entries = await Promise.all(
        found.map(async (name) => {
          const stats = await folder.find(name);
          return stats ? [entryOf(name, stats)] : [];
        }),
      );
      return entries.flat().sort((a, b) => (a.name < b.name ? -1 : 1));
    } finally {
      await folder.close();
    }
  }

  /** Whether the path is there; what a deletion would take. Throws FILE_NOT_FOUND, PATH_DENIED. */
  async find(path: string): Promise<Entry> {
    return this.within(path, async (folder, name) => {
      const stats = await folder.find(name);
      if (!stats) throw await missing(folder, path, name);
      return entryOf(name, stats);
    });
  }

  /** A folder with all that is in it; a link itself, never what it leads to. Throws FILE_NOT_FOUND, PATH_DENIED. */
  async remove(path: string): Promise<void> {
    await this.within(path, async (folder, name) => {
      const stats = await folder.find(name);
      if (!stats) throw await missing(folder, path, name);
      await removeIn(folder, name, stats);
    });
  }

  /** Runs `work` in the folder that holds the path's last name. */
  private async within<Result>(
    path: string,
    work: (folder: Folder, name: string) => Promise<Result>,
    { makeFolders = false } = {},
  ): Promise<Result> {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) throw denied(path, "is the workspace itself", "Name something in it.");
    const folder = await this.walk(names, makeFolders);
    try {
      return await work(folder, name);
    } catch (error) {
      if (codeOf(error) === "ENOENT") throw await missing(folder, path, name);
      throw failure(error, JSON.stringify(path));
    } finally {
      await folder.close();
    }
  }

  /** The folder of these names; the caller closes it. */
  private async walk(names: readonly string[], makeFolders = false): Promise<Folder> {
    let folder = await Folder.open(await this.path());
    for (const [index, name] of names.entries()) {
      const path = names.slice(0, index + 1).join("/");
      try {
        const isNew = makeFolders && (await folder.make(name));
        const next = await folder.enter(name);
        if (isNew) await this.give(next);
        await folder.close();
        folder = next;
      } catch (error) {
        const problem = codeOf(error) === "ENOENT" ? await missing(folder, path, name) : error;
        await folder.close();
        throw failure(problem, JSON.stringify(path));
      }
    }
    return folder;
  }

  private async give(to: Pick<FileHandle, "chown">): Promise<void> {
    const owner = await this.owner();
    if (owner !== undefined) await to.chown(owner, owner);
  }
}

const inlineBegin = ".inline-";

/** A new name for code without a file. It runs in the workspace, so that its imports are those of a file there. */
export const inlineName = (extension: string): string =>
  `${inlineBegin}${process.pid}-${randomBytes(6).toString("hex")}.${extension}`;

/** Removes what servers left that were killed while such code ran. */
async function removeInline(folder: string): Promise<void> {
  const names = await leftIn(folder, inlineBegin).catch(() => []);
  await Promise.allSettled(names.map((name) => unlink(join(folder, name))));
}

const { O_NOFOLLOW = 0, O_DIRECTORY = 0 } = constants;
const folderFlags = constants.O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/**
 * An open folder. On Linux its names are resolved through its descriptor, so it stays the same folder whatever becomes of its
 * path. Elsewhere no code runs in a sandbox that could change it.
 */
class Folder {
  private constructor(
    readonly path: string,
    private readonly handle: FileHandle | undefined,
  ) {}

  static async open(path: string, flags = folderFlags): Promise<Folder> {
    if (process.platform !== "linux") return new Folder(path, undefined);
    const handle = await open(path, flags);
    return new Folder(`/proc/self/fd/${handle.fd}`, handle);
  }

  /** Throws PATH_DENIED for a link. */
  async enter(name: string): Promise<Folder> {
    const stats = await lstat(this.at(name));
    refuseLink(name, stats);
    if (!stats.isDirectory()) throw wrong(name, "is not a folder", "Choose another path.");
    return Folder.open(this.at(name));
  }

  async open(name: string, flags: number, mode?: number): Promise<FileHandle> {
    const stats = await this.find(name);
    if (stats) refuseLink(name, stats);
    return open(this.at(name), flags | O_NOFOLLOW, mode);
  }

  /** Says whether it was made. */
  async make(name: string): Promise<boolean> {
    try {
      await mkdir(this.at(name), { mode: 0o755 });
      return true;
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    }
  }

  async find(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.at(name));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  at = (name: string) => join(this.path, name);

  async chown(user: number, group: number): Promise<void> {
    await this.handle?.chown(user, group);
  }

  async close(): Promise<void> {
    await this.handle?.close();
  }
}

async function removeIn(folder: Folder, name: string, stats: Stats): Promise<void> {
  if (!stats.isDirectory()) return unlink(folder.at(name));
  const inner = await folder.enter(name);
  try {
    for (const below of await readdir(inner.path)) {
      const found = await inner.find(below);
      if (found) await removeIn(inner, below, found);
    }
  } finally {
    await inner.close();
  }
  await rmdir(folder.at(name));
}

/** Where the workspace's folder is inside the sandbox. */
export const inside = "/workspace";

/** A path of the workspace as code sees it. Throws PATH_DENIED. */
export const placeInside = (path: string) => [inside, ...namesOf(path)].join("/");

/** The names of a relative path, or of one that begins as code sees the workspace. Throws PATH_DENIED for one that leads out of the workspace. */
function namesOf(path: string): string[] {
  const relative = path.startsWith(`${inside}/`) ? path.slice(inside.length + 1) : path;
  const names = relative.split("/").filter((name) => name !== "" && name !== ".");
  const hint = "Give a path relative to the workspace, such as tests/sum.test.js.";
  if (/^([/\\~]|[A-Za-z]:)/.test(relative)) throw denied(path, "is not relative to the workspace", hint);
  if (names.includes("..") || /[\\\0]/.test(path)) throw denied(path, "leads out of the workspace", hint);
  if (names.length > mostNames) throw denied(path, `is deeper than ${mostNames} folders`, hint);
  return names;
}

function refuseLink(name: string, stats: Stats): void {
  if (!stats.isSymbolicLink()) return;
  throw denied(name, "is a link, which is not followed", "Name the file itself, or delete the link.");
}

/** A folder that stood before is not opened to others by us. */
function refuseClosed(root: string, owner: number, { mode }: Stats): void {
  if ((mode & 0o001) !== 0) return;
  throw new ToolError(
    "STORAGE_FAILED",
    `The workspace's folder ${root} is closed to the user ${owner} that code runs as.`,
    `Run: chown ${owner}:${owner} ${root} && chmod 711 ${root}. Or set another folder, which is made.`,
  );
}

function decoded(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw wrong(path, "is not text in UTF-8", "Look at it with execute_code.");
  }
}

function entryOf(name: string, stats: Stats): Entry {
  if (stats.isFile()) return { name, kind: "file", bytes: stats.size };
  if (stats.isDirectory()) return { name, kind: "folder" };
  return { name, kind: stats.isSymbolicLink() ? "link" : "other" };
}

async function missing(folder: Folder, path: string, name: string): Promise<ToolError> {
  const near = nearest(name, (await readdir(folder.path).catch(() => [])).slice(0, mostEntries));
  const hint =
    near.length > 0 ? `Nearest there: ${near.join(", ")}.` : 'Operation "list" shows what is there.';
  return new ToolError("FILE_NOT_FOUND", `The workspace has no ${JSON.stringify(path)}.`, hint, {
    nearest: near,
  });
}

const denied = (path: string, why: string, hint: string) =>
  new ToolError("PATH_DENIED", `${JSON.stringify(path.slice(0, 200))} ${why}.`, hint);

const wrong = (path: string, why: string, hint: string) =>
  new ToolError("INVALID_INPUT", `${JSON.stringify(path)} ${why}.`, hint);

const tooLarge = (path: string, bytes: number) =>
  new ToolError(
    "INPUT_TOO_LARGE",
    `${JSON.stringify(path)} has ${bytes} bytes; the most is ${mostFileBytes}.`,
    "Split it, or read a part of it with execute_code.",
  );

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : undefined);

const codes = {
  ENOSPC: "STORAGE_FULL",
  EDQUOT: "STORAGE_FULL",
  EACCES: "PATH_DENIED",
  EPERM: "PATH_DENIED",
} as const;

/** In our words; an error that is known already stays as it is. */
function failure(
  error: unknown,
  what: string,
  otherwise: "INVALID_INPUT" | "STORAGE_FAILED" = "INVALID_INPUT",
) {
  // Any other error is a fault of ours.
  if (error instanceof ToolError || codeOf(error) === undefined) return error;
  const code = Object.entries(codes).find(([name]) => name === codeOf(error))?.[1] ?? otherwise;
  const said = fileFailure(error);
  const reason = error instanceof Error ? error.message : String(error);
  const message = `${what} cannot be used: ${reason.replace(/,? ?\w+ '\/proc\/self.*/s, "")}.`;
  return new ToolError(code, message, said?.hint ?? "Choose another path.", {}, { cause: error });
}
