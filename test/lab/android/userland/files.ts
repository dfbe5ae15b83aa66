import { type DeviceFiles, FileError, type FileStat } from "../labShell.ts";

type Entry = { mode: number; mtime: number; data: Uint8Array };
const errno = { noSuchFile: 2, noAccess: 13, isFolder: 21, noSpace: 28, readOnly: 30 };
const folderMode = 0o40_771;
const fileMode = 0o100_660;
const nothing = new Uint8Array();

const aliases = /^\/(?:storage\/emulated\/0|storage\/self\/primary|mnt\/sdcard|data\/media\/0)(?=\/|$)/;
/** What an app or the user shell may change. */
const writable = /^\/(?:sdcard|data\/local\/tmp)(?:\/|$)/;
const readOnly = /^\/(?:system|vendor|product|apex|proc|sys|[^/]+$)/;

const firstFolders = [
  ...["/data/local/tmp", "/system/bin", "/vendor/bin", "/proc", "/dev"],
  ...["Alarms", "DCIM", "Documents", "Download", "Movies", "Music", "Pictures"].map(
    (name) => `/sdcard/${name}`,
  ),
];

/** The files of a device, in memory. A path may have `.`, `..` and double slashes. */
export class FileSystem implements DeviceFiles {
  private readonly entries = new Map<string, Entry>();
  /** Files whose text is made when they are read, such as /proc/net/unix. */
  private readonly made = new Map<string, () => string>();

  constructor(private readonly isFull: () => boolean) {
    for (const path of firstFolders) this.addFolder(path);
  }

  make(path: string, text: () => string): void {
    this.addFolder(parentOf(path));
    this.made.set(path, text);
  }

  /** Stores a file where the user shell may not write. */
  place(path: string, data: Uint8Array): void {
    this.addFolder(parentOf(path));
    this.entries.set(path, { mode: 0o100_644, mtime: now(), data });
  }

  stat(path: string): FileStat | undefined {
    const clean = cleanPath(path);
    const text = this.made.get(clean);
    if (text) return { mode: 0o100_444, size: 0, mtime: now() };
    const entry = this.entries.get(clean);
    return entry && { mode: entry.mode, mtime: entry.mtime, size: entry.data.length };
  }

  isFolder(path: string): boolean {
    return ((this.stat(path)?.mode ?? 0) & 0o170_000) === 0o40_000;
  }

  list(path: string): readonly string[] | undefined {
    const clean = cleanPath(path);
    if (!this.isFolder(clean)) return undefined;
    const names = [...this.entries.keys(), ...this.made.keys()]
      .filter((one) => one !== "/" && parentOf(one) === clean)
      .map((one) => one.slice(one.lastIndexOf("/") + 1));
    return names.toSorted();
  }

  below(path: string): string[] {
    const start = cleanPath(path).replace(/\/?$/, "/");
    return [...this.entries.keys()].filter((one) => one.startsWith(start) && one !== start).toSorted();
  }

  matching(pattern: RegExp): readonly string[] {
    return [...this.entries.keys()].filter((path) => pattern.test(path)).toSorted();
  }

  read(path: string): Uint8Array {
    const clean = cleanPath(path);
    const text = this.made.get(clean);
    if (text) return Buffer.from(text());
    const entry = this.entries.get(clean);
    if (!entry) throw new FileError("No such file or directory", errno.noSuchFile);
    if (this.isFolder(clean)) throw new FileError("Is a directory", errno.isFolder);
    return entry.data;
  }

  write(path: string, file: { mode: number; mtime: number; data: Uint8Array }): void {
    const clean = this.writablePath(path);
    if (this.isFolder(clean)) throw new FileError("Is a directory", errno.isFolder);
    if (this.isFull() && file.data.length > 0) throw new FileError("No space left on device", errno.noSpace);
    this.addFolder(parentOf(clean));
    const mode = 0o100_000 | (file.mode & 0o777);
    this.entries.set(clean, { mode, mtime: file.mtime, data: file.data });
  }

  store(path: string, data: Uint8Array, append = false): void {
    const old = append ? (this.entries.get(cleanPath(path))?.data ?? nothing) : nothing;
    this.write(path, { mode: fileMode, mtime: now(), data: Buffer.concat([old, data]) });
  }

  makeFolder(path: string): void {
    this.addFolder(this.writablePath(path));
  }

  remove(path: string): void {
    const clean = this.writablePath(path);
    if (!this.entries.has(clean)) throw new FileError("No such file or directory", errno.noSuchFile);
    for (const one of this.below(clean)) this.entries.delete(one);
    this.entries.delete(clean);
  }

  private writablePath(path: string): string {
    const clean = cleanPath(path);
    if (writable.test(clean)) return clean;
    throw readOnly.test(clean)
      ? new FileError("Read-only file system", errno.readOnly)
      : new FileError("Permission denied", errno.noAccess);
  }

  private addFolder(path: string): void {
    if (this.entries.has(path)) return;
    this.entries.set(path, { mode: folderMode, mtime: now(), data: nothing });
    if (path !== "/") this.addFolder(parentOf(path));
  }
}

const now = () => Math.floor(Date.now() / 1_000);
const parentOf = (path: string) => path.slice(0, path.lastIndexOf("/")) || "/";

function cleanPath(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`.replace(aliases, "/sdcard");
}
