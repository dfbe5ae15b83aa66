import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "../../../errors.ts";
import type { Clock } from "../../ports.ts";

/** Younger files may belong to a reference that is being stored. */
const protectedMs = 3_600_000;

/** The pictures of references, `<folder>/<sha256>.png`. They stay as long as a reference names them. */
export class ReferenceFiles {
  private readonly folder: string;
  private readonly clock: Clock;

  constructor(folder: string, clock: Clock) {
    this.folder = folder;
    this.clock = clock;
  }

  /** Its sha256. Written beside and renamed: what is at its place is whole. */
  async put(png: Uint8Array): Promise<string> {
    const sha256 = createHash("sha256").update(png).digest("hex");
    const now = new Date(this.clock.now());
    const temporary = join(this.folder, `${randomUUID()}.tmp`);
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    try {
      await writeFile(temporary, png, { mode: 0o600, flag: "wx" });
      await utimes(temporary, now, now);
      await rename(temporary, this.path(sha256));
    } finally {
      await rm(temporary, { force: true });
    }
    return sha256;
  }

  /** Throws REFERENCE_NOT_FOUND, also for a file that is no longer what its name says. */
  async get(sha256: string): Promise<Buffer> {
    // Checked before it becomes a part of a path.
    const isName = /^[0-9a-f]{64}$/.test(sha256);
    const bytes = isName ? await readFile(this.path(sha256)).catch(() => undefined) : undefined;
    if (bytes && createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
    throw new ToolError(
      "REFERENCE_NOT_FOUND",
      `The picture ${sha256.slice(0, 80)} is not on this host${bytes ? ", or is damaged" : ""}.`,
      "Take the uri from list_references; save the reference again with replace: true if its file is gone.",
    );
  }

  /** Removes what `used` does not name, and what writers left that were killed. */
  async removeOrphans(used: (sha256: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    const old: string[] = [];
    for (const name of await readdir(this.folder).catch(() => [])) {
      const { mtimeMs } = await stat(join(this.folder, name)).catch(() => ({ mtimeMs: Number.NaN }));
      if (this.clock.now() - mtimeMs > protectedMs) old.push(name);
    }
    const kept = await used(old.map(sha256Of));
    for (const name of old) if (!kept.has(sha256Of(name))) await rm(join(this.folder, name), { force: true });
  }

  private path(sha256: string): string {
    return join(this.folder, `${sha256}.png`);
  }
}

const sha256Of = (fileName: string) => fileName.replace(/\.\w+$/, "");
