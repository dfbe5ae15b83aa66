import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
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
  // No device is named: the only free one is taken.
  expect(await inFolder(other, "check", "text", "Device settings", "--timeout_ms", "2000")).toMatchObject({
    code: 1,
    out: expect.stringContaining("pass: false"),
  });
  // An option counts wherever it stands.
  for (const words of ["--device box press HOME", "press --device=box HOME", "press HOME --device box"]) {
    const held = await inFolder(other, "do", ...words.split(" "));
    expect(held).toMatchObject({ code: 2, err: expect.stringContaining("DEVICE_HELD") });
  }
  const dangling = await inFolder(other, "check", "text", "x", "--device");
  expect(dangling).toMatchObject({ code: 2, err: expect.stringContaining("--device needs a value") });
  expect(await inFolder(mine, "release")).toMatchObject({ code: 0, out: expect.stringContaining("/box") });
  expect(await inFolder(other, "release")).toMatchObject({ code: 0 });
});

/** Ends the folder's lease as its timeout does: the folder does not know. */
async function endLease(cwd: string): Promise<void> {
  const last = readFileSync(join(cwd, ".labwright/done.jsonl"), "utf8").trim().split("\n").at(-1) ?? "";
  const { session } = z.object({ session: z.string() }).parse(JSON.parse(last));
  const session_id = session.split(" ")[0] ?? "";
  expect(
    await inFolder(cwd, "call", "release_control", "--json", JSON.stringify({ session_id })),
  ).toMatchObject({
    code: 0,
  });
}
const heldBox = /^DEVICE_HELD: .*\/box is held by .*labwright take NAME/s;
const firstLine = ({ err }: { err: string }) => err.split("\n")[0];

describe("a folder goes on to mean its device", () => {
  afterEach(async () => {
    for (const cwd of [mine, other]) await inFolder(cwd, "release");
  });

  it("after its lease ended, and never drives another one in its place", async () => {
    await inFolder(mine, "take", "box");
    await endLease(mine);
    const again = await inFolder(mine, "do", "press", "HOME");
    expect(again).toMatchObject({ code: 0, err: expect.stringMatching(/\/box is taken again, until .*Z\b/) });
    expect(await inFolder(mine, "look")).toMatchObject({ code: 0, err: "" });
    await endLease(mine);
    await inFolder(other, "take", "box");
    for (const words of [["do", "press", "HOME"], ["look"], ["check", "text", "x"], ["shot"], ["take"]]) {
      const held = await inFolder(mine, ...words);
      expect(held).toMatchObject({ code: 2, out: "", err: expect.stringMatching(heldBox) });
    }
    expect((await inFolder(mine, "call", "list_hosts")).out).toMatch(/second"[^}]*"free"/);
  });

  it("after a take that failed", async () => {
    await inFolder(other, "take", "box");
    expect(await inFolder(mine, "take", "box")).toMatchObject({ code: 2 });
    const held = await inFolder(mine, "do", "press", "HOME");
    expect(held).toMatchObject({ code: 2, out: "", err: expect.stringMatching(heldBox) });
    expect(held.err).toMatch(/free: \S+\/second/);
    expect(await inFolder(mine, "take", "second")).toMatchObject({ code: 0 });
    expect(await inFolder(mine, "do", "press", "HOME")).toMatchObject({ code: 0, err: "" });
    // A device named for one command is not the folder's after it.
    expect(await inFolder(mine, "look", "--device", "box")).toMatchObject({ code: 2 });
    expect(await inFolder(mine, "look")).toMatchObject({ code: 0, err: "" });
    expect(await inFolder(mine, "take", "box")).toMatchObject({ code: 2 });
    const released = await inFolder(mine, "release");
    expect(released).toMatchObject({ code: 0, out: expect.stringContaining("/second") });
  });

  it("that was named for its first command, also when that was in vain", async () => {
    await inFolder(other, "take", "box");
    for (const words of [["--device", "box"], []]) {
      const held = await inFolder(mine, "do", "press", "HOME", ...words);
      expect(held).toMatchObject({ code: 2, out: "", err: expect.stringMatching(heldBox) });
    }
    await inFolder(other, "release");
    expect(await inFolder(mine, "look")).toMatchObject({
      code: 0,
      err: expect.stringContaining("/box until"),
    });
  });

  it("until it releases it, and a device that was not named is named by the command that took it", async () => {
    await inFolder(other, "take", "box");
    const first = await inFolder(mine, "do", "press", "HOME");
    expect(first).toMatchObject({ code: 0, err: expect.stringMatching(/^\S+\/second until .*Z\b.*\n$/) });
    expect(await inFolder(mine, "do", "press", "HOME")).toMatchObject({ code: 0, err: "" });
    await inFolder(mine, "release");
    await inFolder(other, "release");
    await inFolder(other, "take", "second");
    const next = await inFolder(mine, "check", "not", "text", "Nowhere");
    expect(next).toMatchObject({ code: 0, err: expect.stringContaining("/box until") });
  });

  it("also when no device has that name, and says what to do", async () => {
    await inFolder(other, "take", "box");
    for (const words of [
      ["take", "secnod"],
      ["do", "press", "HOME"],
    ]) {
      const missing = await inFolder(mine, ...words);
      expect(missing).toMatchObject({ code: 2, out: "" });
      expect(firstLine(missing)).toMatch(/^DEVICE_NOT_FOUND: No device "secnod"/);
      expect(missing.err).toMatch(/labwright take NAME\. .*labwright release\n.*\/second/s);
    }
    expect(await inFolder(mine, "release")).toMatchObject({ code: 2 });
    expect(await inFolder(mine, "look")).toMatchObject({
      code: 0,
      err: expect.stringContaining("/second until"),
    });
  });
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

it("a short name of what the device lacks says so plainly, and proposes nothing that is only spelt like it", async () => {
  for (const word of ["select", "select_option"]) {
    const lacking = await inFolder(mine, "do", word, "e3", "Blue");
    expect(lacking).toMatchObject({ code: 2, out: "" });
    expect(firstLine(lacking)).toMatch(/\/box has no command "select_option"\.$/);
    expect(lacking.err).not.toMatch(/did you mean|nearest/i);
    expect(lacking.err).toContain("labwright call list_actions shows what this device has");
  }
  const short = await inFolder(mine, "do", "press", "HOME", "then", "select", "e3", "Blue");
  expect(short.err).toContain('"select" is short for select_option.');
});

it("a picture is a file that git leaves out", async () => {
  const shot = await inFolder(mine, "shot");
  const [, path = ""] = /^(\S+) \(\d+x\d+\)/.exec(shot.out) ?? [];
  expect(existsSync(join(mine, path))).toBe(true);
  expect(readFileSync(join(mine, ".labwright/.gitignore"), "utf8")).toBe("*\n");
});
