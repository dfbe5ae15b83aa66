import { existsSync, mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ownTemporaryFolder } from "./temporaryFolder.ts";

let before: string | undefined;
let parent: string;
beforeEach(async () => {
  before = process.env.TMPDIR;
  parent = await mkdtemp(join(tmpdir(), "labwright-parent-"));
  process.env.TMPDIR = parent;
});
afterEach(async () => {
  process.env.TMPDIR = before;
  await rm(parent, { recursive: true, force: true });
});

it("tests make their folders in one of the run", () => {
  expect(basename(dirname(parent))).toMatch(/^labwright-tests-\d+$/);
});

it("a run has a folder of its own, and removes it and those of runs that were killed", () => {
  // No process has an id as large (Linux: proc(5), pid_max).
  const dead = join(parent, "labwright-tests-4194305");
  const others = [join(parent, `labwright-tests-${process.ppid}`), join(parent, "labwright-0")];
  // Ids of processes are given again.
  const sameId = join(parent, `labwright-tests-${process.pid}`, "left");
  mkdirSync(sameId, { recursive: true });
  for (const folder of [dead, ...others]) mkdirSync(folder);
  const remove = ownTemporaryFolder();
  const own = tmpdir();
  expect(dirname(own)).toBe(parent);
  expect([own, dead, sameId].map(existsSync)).toEqual([true, false, false]);
  expect(others.map(existsSync)).toEqual([true, true]);
  remove();
  expect([tmpdir(), existsSync(own)]).toEqual([parent, false]);
});
