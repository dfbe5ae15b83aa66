import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { isCluster, placeCluster, unpackTemplate } from "#mcp-server/storage/engine/template.ts";
import { engineFiles } from "../fixtures/engine.ts";

let template: string;
let folder: string;
beforeAll(async () => {
  template = (await engineFiles()).templateFile;
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "labwright-template-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Another reader of the same archive, all at once: sizes by path of its plain files. */
async function sizesInTemplate(): Promise<Map<string, number>> {
  const tar = brotliDecompressSync(await readFile(template));
  const sizes = new Map<string, number>();
  for (let at = 0; at < tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(tar.toString("latin1", at + 124, at + 135), 8);
    const name = tar.toString("latin1", at, at + 100).replace(/\0.*$/s, "");
    if (tar.toString("latin1", at + 156, at + 157) !== "5") sizes.set(name.replace(/^\//, ""), size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return sizes;
}

it("unpacks every file with its size, for its user alone", async () => {
  await unpackTemplate(template, folder);
  const expected = await sizesInTemplate();
  expect(expected.size).toBeGreaterThan(500);
  for (const [path, size] of expected)
    expect([path, (await stat(join(folder, path))).size]).toEqual([path, size]);
  expect((await stat(join(folder, "PG_VERSION"))).mode & 0o777).toBe(0o600);
});

it("refuses an archive that is cut short, within the compression or within a file", async () => {
  const whole = await readFile(template);
  const cut = join(folder, "cut.tar.br");
  await writeFile(cut, whole.subarray(0, 100_000));
  await expect(unpackTemplate(cut, join(folder, "a"))).rejects.toThrow("unexpected end of file");
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
  await writeFile(cut, brotliCompressSync(brotliDecompressSync(whole).subarray(0, 1_000_000), { params }));
  await expect(unpackTemplate(cut, join(folder, "b"))).rejects.toThrow("cut short");
});

it("puts a cluster at its place only when it is whole, and removes the halves of earlier attempts", async () => {
  const place = join(folder, "db");
  const fails = placeCluster(place, async (fresh) => {
    await writeFile(join(fresh, "PG_VERSION"), "18");
    throw new Error("killed");
  });
  await expect(fails).rejects.toThrow("killed");
  expect(isCluster(place)).toBe(false);
  await mkdir(place);
  await placeCluster(place, (fresh) => writeFile(join(fresh, "PG_VERSION"), "18"));
  expect(isCluster(place)).toBe(true);
  expect(await readdir(folder)).toEqual(["db"]);
});
