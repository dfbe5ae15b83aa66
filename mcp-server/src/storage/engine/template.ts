import {
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";

const block = 512;

/** True when a whole cluster lies in `folder`: it gets there only by one rename. */
export const isCluster = (folder: string) => existsSync(join(folder, "PG_VERSION"));

/**
 * Makes a cluster next to `folder` by `fill` and renames it into place, so that a killed first start leaves no half; what
 * earlier ones left is removed. The caller owns the data directory's lock. Throws when `folder` holds files: they are a
 * damaged cluster.
 */
export async function placeCluster(folder: string, fill: (fresh: string) => Promise<void>): Promise<void> {
  const parent = dirname(folder);
  const prefix = `${basename(folder)}.new-`;
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} has files but no PG_VERSION`);
  for (const name of readdirSync(parent))
    if (name.startsWith(prefix)) rmSync(join(parent, name), { recursive: true, force: true });
  const fresh = mkdtempSync(join(parent, prefix));
  await fill(fresh);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}

/** A field of a ustar header: bytes up to the first NUL. */
function field(header: Buffer, from: number, size: number): string {
  const bytes = header.subarray(from, from + size);
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end < 0 ? size : end);
}

/** Writes the folders and plain files of a ustar archive that arrives in pieces. */
class TarSink {
  private readonly made = new Set<string>();
  private ended = false;
  private held: Buffer = Buffer.alloc(0);
  private file: { descriptor: number; left: number; padding: number } | undefined;

  constructor(private readonly folder: string) {}

  push(chunk: Buffer): void {
    let rest = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    for (let used = this.take(rest); used > 0; used = this.take(rest)) rest = rest.subarray(used);
    this.held = rest;
  }

  /** Throws when the archive ended within a file. */
  end(): void {
    if (this.file === undefined && this.ended) return;
    if (this.file !== undefined) closeSync(this.file.descriptor);
    throw new Error("the template of the database is cut short; build it again");
  }

  /** How many bytes it used; 0 when it needs more. */
  private take(bytes: Buffer): number {
    if (this.file === undefined) return this.takeHeader(bytes);
    const { descriptor, left, padding } = this.file;
    if (left > 0) {
      const part = Math.min(left, bytes.length);
      if (part > 0) this.file.left -= writeSync(descriptor, bytes, 0, part);
      return left - this.file.left;
    }
    if (bytes.length < padding) return 0;
    closeSync(descriptor);
    this.file = undefined;
    return padding === 0 ? this.takeHeader(bytes) : padding;
  }

  private takeHeader(bytes: Buffer): number {
    if (bytes.length < block) return 0;
    // The end of an archive is two empty blocks.
    this.ended = bytes[0] === 0;
    if (this.ended) return block;
    const size = Number.parseInt(field(bytes, 124, 12), 8) || 0;
    const path = resolve(this.folder, `.${sep}${join(field(bytes, 345, 155), field(bytes, 0, 100))}`);
    const isFolder = field(bytes, 156, 1) === "5";
    this.makeFolder(isFolder ? path : dirname(path));
    if (!isFolder)
      this.file = {
        descriptor: openSync(path, "w", 0o600),
        left: size,
        padding: (block - (size % block)) % block,
      };
    return block;
  }

  private makeFolder(path: string): void {
    if (this.made.has(path)) return;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.made.add(path);
  }
}

/** Unpacks a ustar archive, compressed by brotli, piece by piece: at once it would cost 60 MB that the process never gives back. */
export async function unpackTemplate(template: string, folder: string): Promise<void> {
  const sink = new TarSink(folder);
  await pipeline(
    createReadStream(template),
    createBrotliDecompress({ chunkSize: 262_144 }),
    async (chunks) => {
      for await (const chunk of chunks) sink.push(chunk);
    },
  );
  sink.end();
}
