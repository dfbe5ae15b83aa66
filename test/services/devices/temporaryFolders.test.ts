import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTemporaryFolders } from "../../../mcp-server/src/services/devices/temporaryFolders.ts";

let root: string;

beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), "labwright-temporary-")), "temporary");
});
afterEach(() => rm(root, { recursive: true, force: true }));

it("gives each asker an empty folder, and removes those of one device alone", async () => {
  const folders = createTemporaryFolders(root);
  const [first, second, other] = [
    await folders.make("lab/box"),
    await folders.make("lab/box"),
    await folders.make("lab/box-2"),
  ];
  expect(new Set([first, second, other]).size).toBe(3);
  expect(await readdir(first)).toEqual([]);
  await writeFile(join(first, "frame.jpeg"), "x");
  await folders.removeAll("lab/box");
  await expect(readdir(first)).rejects.toThrow("ENOENT");
  expect(await readdir(other)).toEqual([]);
  expect(await readdir(await folders.make("lab/box"))).toEqual([]);
});

it("removes at its start what a dead server left", async () => {
  const left = join(root, "lab%2Fbox", "t-left");
  await mkdir(left, { recursive: true });
  await createTemporaryFolders(root).make("lab/other");
  await expect(readdir(left)).rejects.toThrow("ENOENT");
});
