import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findCgroups } from "#controllers/programs/cgroup.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-cgroup-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A real hierarchy that this process may make a cgroup in: the usual place, or next to version 1. */
const root = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find(
  (place) => findCgroups(place, []) !== undefined,
);

it("finds none where version 2 is not mounted or has no controllers to give, and leaves nothing behind", () => {
  expect(findCgroups(folder)).toBeUndefined();
  writeFileSync(join(folder, "cgroup.controllers"), "cpu\n");
  expect(findCgroups(folder)).toBeUndefined();
  expect(readdirSync(folder)).toEqual(["cgroup.controllers"]);
});

it.runIf(root !== undefined)(
  "ends what is left in a cgroup and removes it, also one that a killed process left",
  async () => {
    const left = join(root ?? "", "labwright-999999999");
    mkdirSync(join(left, "0"), { recursive: true });
    const cgroup = findCgroups(root, [])?.make({ memoryMb: 64, tasks: 16 });
    expect(existsSync(left)).toBe(false);
    const enter = ["-c", 'echo 0 >"$1" && echo in && exec sleep 60', "sh", cgroup?.entry ?? ""];
    const child = spawn("/bin/sh", enter, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    await once(child.stdout, "data");
    expect(cgroup?.ranOut()).toBe(false);
    await cgroup?.remove();
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(existsSync(cgroup?.entry ?? "")).toBe(false);
  },
);
