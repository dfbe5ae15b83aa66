import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, mkdirSync } from "node:fs";
import {
  appendFile,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type ArtifactStoreOptions, createArtifactStore } from "#mcp-server/services/records/artifacts.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { type ArtifactRows, artifactRows } from "#mcp-server/storage/index.ts";
import { describeEachDatabase, type OpenDatabase } from "../../fixtures/database.ts";

const hour = 3_600_000;
const day = 24 * hour;
const bytesOf = (text: string) => new TextEncoder().encode(text);
async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest("hex");
}
const kilobyte = (letter: string) => bytesOf(letter.repeat(1_000));

/** A store on an empty folder with a clock that a test moves, as a host of its own. */
function artifactFixture(open: OpenDatabase) {
  let rows: ArtifactRows;
  let now = Date.parse("2030-01-01T00:00:00.000Z");
  let folder = "";
  let host = "";
  beforeAll(async () => {
    rows = artifactRows((await open()).db);
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "labwright-artifacts-"));
    host = crypto.randomUUID();
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  return {
    store: (options: Partial<ArtifactStoreOptions> = {}) =>
      createArtifactStore({ folder, rows, host, clock: { ...systemClock, now: () => now }, ...options }),
    pass: (ms: number) => {
      now += ms;
    },
    rows: () => rows,
    folder: () => folder,
    host: () => host,
    async files() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
    },
  };
}
type Fixture = ReturnType<typeof artifactFixture>;

function storing(at: Fixture): void {
  it("keeps bytes under their sha256, once, for its user alone", async () => {
    const bytes = bytesOf(`content ${at.host()}`);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const reference = await at.store().put(bytes, "text/plain");
    expect(reference).toEqual({
      uri: `artifact://${sha256}`,
      sha256,
      mime_type: "text/plain",
      bytes: bytes.length,
    });
    const path = join(at.folder(), sha256.slice(0, 2), sha256);
    const first = await stat(path);
    expect(first.mode & 0o777).toBe(0o600);
    await at.store().put(bytes, "text/plain");
    expect((await stat(path)).ino).toBe(first.ino);
    expect(await at.store().get(sha256)).toEqual({ bytes: Buffer.from(bytes), mimeType: "text/plain" });
  });

  it("copies a file in small pieces, whatever its size, and keeps it under the name of its bytes", async () => {
    const source = join(at.folder(), "recording");
    const size = 100_000_000;
    await writeFile(source, at.host());
    await truncate(source, size);
    let largest = 0;
    let waiting = 0;
    let mostWaiting = 0;
    const store = at.store({
      async write(path, content) {
        if (content instanceof Uint8Array) throw new Error("the whole file came at once");
        for await (const piece of content) {
          largest = Math.max(largest, piece.length);
          mostWaiting = Math.max(mostWaiting, ++waiting);
          await appendFile(path, piece);
          waiting -= 1;
        }
      },
    });
    const { sha256, bytes } = await store.putFile(source, "video/webm");
    expect([bytes, largest, mostWaiting]).toEqual([size, 65_536, 1]);
    const path = join(at.folder(), sha256.slice(0, 2), sha256);
    expect(await hashOf(path)).toBe(sha256);
    expect(await hashOf(source)).toBe(sha256);
    expect(await readdir(join(at.folder(), "tmp"))).toEqual([]);
    expect(await at.rows().find(sha256, at.host())).toMatchObject({ bytes: size, mime_type: "video/webm" });
  });

  it("stores a file and the same bytes as one, for its user alone", async () => {
    const source = join(at.folder(), "recording");
    await writeFile(source, kilobyte("v"));
    const [first, again, asBytes] = [
      await at.store().putFile(source, "video/webm"),
      await at.store().putFile(source, "video/webm"),
      await at.store().put(kilobyte("v"), "video/webm"),
    ];
    expect(again).toEqual(first);
    expect(asBytes).toEqual(first);
    const path = join(at.folder(), first.sha256.slice(0, 2), first.sha256);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await at.files()).toSorted()).toEqual([first.sha256, "recording"].toSorted());
  });

  it("keeps nothing of a file that is not there", async () => {
    await expect(at.store().putFile(join(at.folder(), "none"), "video/webm")).rejects.toThrow("ENOENT");
    expect(await at.files()).toEqual([]);
  });

  it("stores twenty copies that come at once as one whole file", async () => {
    const store = at.store();
    await Promise.all(Array.from({ length: 20 }, () => store.put(kilobyte("z"), "text/plain")));
    expect(await at.files()).toHaveLength(1);
  });

  it("says not found for what is unknown, no name at all, gone or damaged", async () => {
    const store = at.store();
    const { sha256 } = await store.put(bytesOf(`gone ${at.host()}`), "text/plain");
    const path = join(at.folder(), sha256.slice(0, 2), sha256);
    await writeFile(path, "something else");
    await expect(store.get(sha256)).rejects.toMatchObject({ code: "ARTIFACT_NOT_FOUND" });
    await rm(path);
    for (const name of ["0".repeat(64), "../../etc/passwd", "", sha256])
      await expect(store.get(name)).rejects.toMatchObject({ code: "ARTIFACT_NOT_FOUND" });
  });

  it("writes a damaged or lost file anew when it is stored again", async () => {
    const store = at.store();
    const bytes = bytesOf(`again ${at.host()}`);
    const { sha256 } = await store.put(bytes, "text/plain");
    await rm(join(at.folder(), sha256.slice(0, 2), sha256));
    await store.put(bytes, "text/plain");
    expect((await store.get(sha256)).bytes).toEqual(Buffer.from(bytes));
  });

  it("names the host that has the file when it is another", async () => {
    const { sha256 } = await at.store({ host: "farm-2" }).put(bytesOf(`far ${at.host()}`), "text/plain");
    const here = at.store({ folder: join(at.folder(), "other") });
    await expect(here.get(sha256)).rejects.toThrow("farm-2");
  });
}

function limits(at: Fixture): void {
  it("refuses what would exceed its limit, with nothing half-written, and serves what it has", async () => {
    const store = at.store({ maxBytes: 2_500 });
    const kept = await store.put(kilobyte("a"), "text/plain");
    await store.put(kilobyte("b"), "text/plain");
    await expect(store.put(kilobyte("c"), "text/plain")).rejects.toMatchObject({
      code: "ARTIFACT_STORE_FULL",
      hint: expect.stringContaining("artifact_mb"),
    });
    const source = join(at.folder(), kept.sha256.slice(0, 2), kept.sha256);
    await writeFile(source, kilobyte("d"));
    await expect(store.putFile(source, "text/plain")).rejects.toMatchObject({ code: "ARTIFACT_STORE_FULL" });
    await writeFile(source, kilobyte("a"));
    expect(await at.files()).toHaveLength(2);
    expect((await store.get(kept.sha256)).bytes).toHaveLength(1_000);
  });

  it("makes room from the oldest on, but not of what a run of the last hour may need", async () => {
    const store = at.store({ maxBytes: 2_500 });
    const old = await store.put(kilobyte("a"), "text/plain");
    at.pass(2 * hour);
    const young = await store.put(kilobyte("b"), "text/plain");
    await store.put(kilobyte("c"), "text/plain");
    await expect(store.get(old.sha256)).rejects.toMatchObject({ code: "ARTIFACT_NOT_FOUND" });
    expect((await store.get(young.sha256)).bytes).toHaveLength(1_000);
    await expect(store.put(kilobyte("d"), "text/plain")).rejects.toMatchObject({
      code: "ARTIFACT_STORE_FULL",
    });
  });

  it("removes what is too old, and keeps what was stored again since", async () => {
    const store = at.store({ maxAgeMs: 7 * day });
    const old = await store.put(kilobyte("e"), "text/plain");
    const again = await store.put(kilobyte("f"), "text/plain");
    at.pass(6 * day);
    await store.put(kilobyte("f"), "text/plain");
    at.pass(2 * day);
    expect(await store.purge()).toEqual({ removed: 1, bytes: 1_000 });
    await expect(store.get(old.sha256)).rejects.toMatchObject({ code: "ARTIFACT_NOT_FOUND" });
    expect((await store.get(again.sha256)).bytes).toHaveLength(1_000);
    expect(await at.files()).toEqual([again.sha256]);
  });

  it("removes more than a page of old files, and what killed writers left", async () => {
    const store = at.store({ maxAgeMs: day });
    for (let i = 0; i < 230; i++) await store.put(bytesOf(`${at.host()} ${i}`), "text/plain");
    const leftover = join(at.folder(), "tmp", "leftover");
    await writeFile(leftover, "half");
    await utimes(leftover, 0, 0);
    at.pass(2 * day);
    expect((await store.purge()).removed).toBe(230);
    expect(await at.files()).toEqual([]);
    expect(await at.rows().totalBytes(at.host())).toBe(0);
  });
}

describeEachDatabase("artifacts", (open) => {
  const fixture = artifactFixture(open);
  storing(fixture);
  limits(fixture);

  it("says that the disk is full, with nothing half-written, and stores again when it is not", async () => {
    const disk = smallDisk(join(fixture.folder(), "disk"));
    try {
      const store = fixture.store({ folder: disk.folder, write: disk.write });
      const large = new Uint8Array(600_000).fill(7);
      await expect(store.put(large, "image/png")).rejects.toMatchObject({
        code: "ARTIFACT_STORE_FULL",
        message: expect.stringContaining("full"),
      });
      const source = join(fixture.folder(), "recording");
      await writeFile(source, large);
      await expect(store.putFile(source, "video/webm")).rejects.toMatchObject({
        code: "ARTIFACT_STORE_FULL",
        message: expect.stringContaining("full"),
      });
      expect(await readdir(join(disk.folder, "tmp"))).toEqual([]);
      expect(await fixture.rows().totalBytes(fixture.host())).toBe(0);
      const { sha256 } = await store.put(kilobyte("s"), "text/plain");
      expect(await readFile(join(disk.folder, sha256.slice(0, 2), sha256), "utf8")).toBe("s".repeat(1_000));
    } finally {
      disk.remove();
    }
  });
});

type SmallDisk = Pick<ArtifactStoreOptions, "folder" | "write"> & { remove(): void };

/** A disk of 256 kB: a real one where this user may mount, else a writer that breaks off where a disk would be full. */
function smallDisk(folder: string): SmallDisk {
  mkdirSync(folder);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder]);
  if (mounted.status === 0) return { folder, remove: () => spawnSync("umount", [folder]) };
  const write: SmallDisk["write"] = async (path, content) => {
    await writeFile(path, content);
    const { size } = await stat(path);
    await truncate(path, Math.min(size, 256_000));
    if (size > 256_000) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  };
  return { folder, write, remove: () => {} };
}
