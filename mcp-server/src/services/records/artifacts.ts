import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ToolError } from "../../errors.ts";
import { fileFailure } from "../../fileFailure.ts";
import type { ArtifactRow, ArtifactRows } from "../../storage/index.ts";
import type { ArtifactRef, ArtifactStore, Clock } from "../ports.ts";

export type ArtifactStoreOptions = {
  /** Files lie in `<folder>/ab/<sha256>`; made when it is not there. */
  folder: string;
  rows: ArtifactRows;
  host: string;
  clock: Clock;
  /** All files together (`artifact_mb`); the oldest make room. Without it, the disk is the limit. */
  maxBytes?: number | undefined;
  /** How a file's bytes reach the disk; for tests where a full disk cannot be had. */
  write?: ((path: string, content: Content) => Promise<void>) | undefined;
  /** Files that were not stored again for so long are removed (`artifact_days`). */
  maxAgeMs?: number | undefined;
};
type Content = Uint8Array | AsyncIterable<Uint8Array>;
export type PurgedArtifacts = { removed: number; bytes: number };
export type RetainingArtifactStore = ArtifactStore & {
  /** Removes what is too old or too much at `now` (ms since the epoch), oldest first. At start and now and then. */
  purge(now?: number): Promise<PurgedArtifacts>;
};

/** Younger files may belong to a run that is under way: never removed to make room. */
const protectedMs = 3_600_000;
const pageSize = 100;
const fullCodes = new Set(["ENOSPC", "EDQUOT"]);

export const createArtifactStore = (options: ArtifactStoreOptions): RetainingArtifactStore =>
  new FileArtifactStore(options);

class FileArtifactStore implements RetainingArtifactStore {
  private total: number | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: ArtifactStoreOptions) {}

  async put(bytes: Uint8Array, mimeType: string): Promise<ArtifactRef> {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return this.alone(() =>
      this.store({ sha256, size: bytes.length, mimeType }, (place) =>
        this.write(bytes, (written) => move(written, place)),
      ),
    );
  }

  putFile(path: string, mimeType: string): Promise<ArtifactRef> {
    const reading = hashed(path);
    return this.write(reading.content(), (written) =>
      this.alone(() => this.store({ ...reading.result(), mimeType }, (place) => move(written, place))),
    );
  }

  async get(sha256: string): Promise<{ bytes: Uint8Array; mimeType: string }> {
    // Checked before it becomes a part of a path.
    const { rows, host } = this.options;
    const row = /^[0-9a-f]{64}$/.test(sha256) ? await rows.find(sha256, host) : undefined;
    if (row === undefined) throw notFound(`No artifact is named ${sha256.slice(0, 80)}.`);
    const bytes = await readFile(this.path(sha256)).catch(() => undefined);
    if (bytes === undefined) {
      const elsewhere = row.host_name !== host;
      throw notFound(`The file of artifact ${sha256} is ${elsewhere ? `on host ${row.host_name}` : "gone"}.`);
    }
    if (createHash("sha256").update(bytes).digest("hex") !== sha256)
      throw notFound(`The file of artifact ${sha256} is damaged.`);
    return { bytes, mimeType: row.mime_type };
  }

  async startingWith(prefix: string): Promise<readonly string[]> {
    const { rows, host } = this.options;
    return /^[0-9a-f]{0,64}$/.test(prefix) ? rows.startingWith(prefix, host, pageSize) : [];
  }

  async purge(now = this.options.clock.now()): Promise<PurgedArtifacts> {
    return this.alone(async () => {
      await this.removeLeftovers(now);
      const { maxAgeMs = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY } = this.options;
      const old = await this.removeOldest((row) => now - Date.parse(row.created_at) > maxAgeMs);
      const excess = await this.makeRoom(maxBytes, now);
      return { removed: old.removed + excess.removed, bytes: old.bytes + excess.bytes };
    });
  }

  /** Storing and removing never overlap: a file must not go while its row is made young again. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work, work);
    this.last = result.catch(() => {});
    return result;
  }

  private path(sha256: string): string {
    return join(this.options.folder, sha256.slice(0, 2), sha256);
  }

  /** `bring` puts the file at its place; it is not called for a file that is there already. */
  private async store(
    { sha256, size, mimeType }: { sha256: string; size: number; mimeType: string },
    bring: (path: string) => Promise<void>,
  ): Promise<ArtifactRef> {
    const path = this.path(sha256);
    const there = await stat(path).catch(() => undefined);
    if (there?.size !== size) {
      await this.reserve(size);
      await bring(path);
      this.total = (this.total ?? 0) + size;
    }
    const row = await this.options.rows.put({
      sha256,
      host_name: this.options.host,
      mime_type: mimeType,
      bytes: size,
      created_at: new Date(this.options.clock.now()).toISOString(),
    });
    return { uri: `artifact://${sha256}`, sha256, mime_type: row.mime_type, bytes: row.bytes };
  }

  private async reserve(bytes: number): Promise<void> {
    this.total ??= await this.options.rows.totalBytes(this.options.host);
    const { maxBytes } = this.options;
    if (maxBytes === undefined || this.total + bytes <= maxBytes) return;
    await this.makeRoom(maxBytes - bytes, this.options.clock.now());
    if (this.total + bytes > maxBytes)
      throw full(
        `The artifacts of this host would exceed their limit of ${maxBytes} bytes.`,
        "raise limits.artifact_mb",
      );
  }

  private async makeRoom(upTo: number, now: number): Promise<PurgedArtifacts> {
    return this.removeOldest((row, total) => total > upTo && now - Date.parse(row.created_at) > protectedMs);
  }

  private async removeOldest(goes: (row: ArtifactRow, total: number) => boolean): Promise<PurgedArtifacts> {
    const { rows, host } = this.options;
    let total = await rows.totalBytes(host);
    const purged: PurgedArtifacts = { removed: 0, bytes: 0 };
    for (;;) {
      const page = await rows.oldest(host, pageSize);
      const going: ArtifactRow[] = [];
      for (const row of page) {
        if (!goes(row, total)) break;
        going.push(row);
        total -= row.bytes;
      }
      await rows.remove(
        host,
        going.map((row) => row.sha256),
      );
      for (const { sha256, bytes } of going) {
        await rm(this.path(sha256), { force: true });
        purged.removed += 1;
        purged.bytes += bytes;
      }
      if (going.length < pageSize) break;
    }
    this.total = total;
    return purged;
  }

  /** Written under another name and renamed by `use`, so the artifact is always whole. No temporary file stays. */
  private async write<T>(content: Content, use: (written: string) => Promise<T>): Promise<T> {
    const temporary = join(this.temporaryFolder(), randomUUID());
    try {
      await mkdir(this.temporaryFolder(), { recursive: true, mode: 0o700 });
      await (this.options.write ?? writePrivate)(temporary, content);
      return await use(temporary);
    } catch (error) {
      throw writeFailure(error);
    } finally {
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  private temporaryFolder(): string {
    return join(this.options.folder, "tmp");
  }

  private async removeLeftovers(now: number): Promise<void> {
    for (const name of await readdir(this.temporaryFolder()).catch(() => [])) {
      const path = join(this.temporaryFolder(), name);
      const { mtimeMs } = await stat(path);
      if (now - mtimeMs > protectedMs) await rm(path, { force: true });
    }
  }
}

const writePrivate = (path: string, content: Content) => writeFile(path, content, { mode: 0o600 });

async function move(written: string, place: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  await rename(written, place);
}

/** A file in pieces that are hashed as they are read; the result stands when the last one was read. */
function hashed(path: string) {
  const hash = createHash("sha256");
  let size = 0;
  return {
    async *content() {
      for await (const piece of createReadStream(path)) {
        hash.update(piece);
        size += piece.length;
        yield piece;
      }
    },
    result: () => ({ sha256: hash.digest("hex"), size }),
  };
}

function writeFailure(error: unknown): unknown {
  if (isFull(error))
    return full("The disk that holds the artifacts is full.", "free some space there", error);
  const file = fileFailure(error);
  return file ? new ToolError("STORAGE_FAILED", file.message, file.hint, {}, { cause: error }) : error;
}

const isFull = (error: unknown) =>
  error instanceof Error && "code" in error && typeof error.code === "string" && fullCodes.has(error.code);

function full(message: string, what: string, cause?: unknown): ToolError {
  return new ToolError(
    "ARTIFACT_STORE_FULL",
    message,
    `Nothing was stored: ${what}, or lower limits.artifact_days so that older files go sooner.`,
    {},
    { cause },
  );
}

function notFound(message: string): ToolError {
  return new ToolError(
    "ARTIFACT_NOT_FOUND",
    message,
    "Take the sha256 from a result of this server; old artifacts are removed after limits.artifact_days.",
  );
}
