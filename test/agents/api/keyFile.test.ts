import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { saveKey } from "#mcp-server/agents/open.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "labwright-keys-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("keeps one key, in a file that only its owner reads, whatever was there", async () => {
  const file = join(folder, "key");
  await saveKey(file, "first");
  expect(await readFile(file, "utf8")).toBe("first\n");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it("replaces a file that others could read by one that they cannot", async () => {
  const file = join(folder, "key");
  await writeFile(file, "old\n", { mode: 0o644 });
  await saveKey(file, "new");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, "utf8")).toBe("new\n");
  expect(await readdir(folder)).toEqual(["key"]);
});

it("leaves nothing behind when it cannot be saved", async () => {
  await expect(saveKey(folder, "a key")).rejects.toThrow();
  expect(await readdir(join(folder, ".."))).not.toContainEqual(expect.stringContaining(`${folder}.`));
});

it("has whole keys only, of several saved at once", async () => {
  const file = join(folder, "key");
  const keys = ["a", "b", "c", "d"].map((letter) => letter.repeat(200));
  await Promise.all(keys.map((key) => saveKey(file, key)));
  expect(keys).toContain((await readFile(file, "utf8")).trim());
});
