import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { run, temporaryFolder } from "../fixtures.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const folder = temporaryFolder();
const [mine, other] = [join(folder.path, "mine"), join(folder.path, "other")];
const env = { LABWRIGHT_DATA_DIR: join(folder.path, "data") };
const inFolder = (cwd: string, ...args: string[]) => run(args, { env, cwd });

beforeAll(() => {
  for (const path of [mine, other, env.LABWRIGHT_DATA_DIR]) mkdirSync(path, { recursive: true });
  const devices = "devices: [{ name: box, model: simulated }, { name: second, model: simulated }]\n";
  writeFileSync(join(env.LABWRIGHT_DATA_DIR, "labwright.yaml"), devices);
});
afterAll(async () => {
  await inFolder(mine, "stop");
  folder.remove();
});

it("a folder takes a device, acts, looks and checks with it, and another folder has another one", async () => {
  expect(await inFolder(mine, "take", "box")).toMatchObject({
    code: 0,
    out: expect.stringContaining("/box until"),
  });
  const done = await inFolder(mine, "do", "press", "HOME", "then", "click", "Settings");
  expect(done).toMatchObject({ code: 0, err: "", out: expect.stringContaining("Device name") });
  expect(await inFolder(mine, "look", "--find", "parental")).toMatchObject({
    code: 0,
    out: expect.stringContaining("e"),
  });
  expect(await inFolder(mine, "check", "text", "Device settings")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^passed: /),
  });
  // Nobody said which: the only one that is free.
  expect(await inFolder(other, "check", "text", "Device settings", "--timeout_ms", "100")).toMatchObject({
    code: 1,
    out: expect.stringContaining("pass: false"),
  });
  expect(await inFolder(other, "do", "press", "HOME", "--device", "box")).toMatchObject({ code: 2 });
  const held = await inFolder(other, "do", "--device", "box", "press", "HOME");
  expect(held).toMatchObject({ code: 2, err: expect.stringContaining("DEVICE_HELD") });
  expect(await inFolder(mine, "release")).toMatchObject({ code: 0, out: expect.stringContaining("/box") });
  expect(await inFolder(other, "release")).toMatchObject({ code: 0 });
});

it("a folder that holds nothing gives nothing back, and takes nothing for it", async () => {
  expect(await inFolder(mine, "release", "--device", "box")).toMatchObject({ code: 2, out: "" });
  expect((await inFolder(mine, "call", "list_hosts")).out).not.toContain("held");
});

it("what is wrong is said with what would be right, and nothing is done", async () => {
  const ambiguous = await inFolder(mine, "do", "press", "HOME");
  expect(ambiguous).toMatchObject({ code: 2, err: expect.stringContaining("labwright take NAME") });
  await inFolder(mine, "take", "box");
  const [unknown, missing, failing] = [
    await inFolder(mine, "do", "clik_element", "Movies"),
    await inFolder(mine, "do", "click", "Nowhere", "--timeout_ms", "200"),
    await inFolder(mine, "go", "Cart"),
  ];
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("click_element") });
  expect(missing).toMatchObject({ code: 1, err: expect.stringMatching(/^ELEMENT_NOT_FOUND/) });
  expect(failing).toMatchObject({ code: 2, err: expect.stringContaining("No app is known yet") });
});

it("a picture is a file that git leaves out", async () => {
  const shot = await inFolder(mine, "shot");
  const [, path = ""] = /^(\S+) \(\d+x\d+\)/.exec(shot.out) ?? [];
  expect(existsSync(join(mine, path))).toBe(true);
  expect(readFileSync(join(mine, ".labwright/.gitignore"), "utf8")).toBe("*\n");
});
