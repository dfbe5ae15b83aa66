import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAdbRelay } from "../fixtures/adbRelay.ts";
import { type AndroidLab, startAndroidLab } from "../fixtures/androidLab.ts";
import { readRecording } from "../lab/android/index.ts";
import { run } from "./fixtures.ts";

let folder: string;
let lab: AndroidLab;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "labwright-android-"));
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }] });
  process.env.ANDROID_ADB_SERVER_PORT = String(lab.adbPort);
});
afterAll(async () => {
  process.env.ANDROID_ADB_SERVER_PORT = "1";
  await lab.close();
  await rm(folder, { recursive: true, force: true });
});

describe("labwright android record", () => {
  const serial = (at: number) => lab.devices[at]?.serial ?? "";

  it.each([
    ["phone", 0],
    ["tv", 1],
  ])("writes down a %s that the laboratory can play: recorded again it says the same", async (name, at) => {
    const out = join(folder, `${name}.json`);
    const ran = await run(["android", "record", serial(at), "--out", out]);
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining(out) });
    const first = readRecording(await readFile(out, "utf8"));
    expect(first.persona).toMatchObject({
      isTv: name === "tv",
      apiLevel: lab.devices[at]?.device.persona.apiLevel,
    });
    expect(first.delays.map(({ command }) => command)).toEqual([
      ...["uiautomator dump", "screencap", "screencap -p", "input"],
    ]);
    const second = await startAndroidLab({ devices: [{ persona: first.persona }] });
    process.env.ANDROID_ADB_SERVER_PORT = String(second.adbPort);
    const again = join(folder, `${name}2.json`);
    expect((await run(["android", "record", "--out", again])).code).toBe(0);
    process.env.ANDROID_ADB_SERVER_PORT = String(lab.adbPort);
    await second.close();
    expect(readRecording(await readFile(again, "utf8")).persona).toEqual(first.persona);
  });

  it("contains nothing that names the device, its network or its owner", async () => {
    const out = join(folder, "private.json");
    await run(["android", "record", serial(0), "--out", out]);
    const text = await readFile(out, "utf8");
    for (const own of ["LABPHONE1", "5c0ffee5c0ffee00", "192.168.7.20", "Lab device"])
      expect(text).not.toContain(own);
    expect(text).toContain("RSSI: -52");
  });

  it("writes over nothing, and wants one device", async () => {
    const out = join(folder, "there.json");
    await writeFile(out, "mine");
    expect(await run(["android", "record", serial(0), "--out", out])).toMatchObject({ code: 2 });
    expect(await readFile(out, "utf8")).toBe("mine");
    expect(await run(["android", "record", "--out", join(folder, "x.json")])).toMatchObject({
      code: 2,
      err: expect.stringContaining("DEVICE_AMBIGUOUS"),
    });
    expect(await run(["android", "record", "a b; reboot"])).toMatchObject({ code: 2 });
  });
});

describe("labwright android pair", () => {
  const address = "192.0.2.7:37123";
  /** An adb of another version; what it is given is written down. */
  const adbOf = async (version: string, answer: string) => {
    const bin = await mkdtemp(join(folder, "bin-"));
    const script = `#!/bin/sh
if [ "$1" = version ]; then printf 'Android Debug Bridge version 1.0.41\\nVersion ${version}\\n'; exit 0; fi
printf '%s\\n' "$@" > "$0.args"; cat > "$0.input"; printf '${answer}\\n'
`;
    await writeFile(join(bin, "adb"), script);
    await chmod(join(bin, "adb"), 0o755);
    return { bin, env: { PATH: `${bin}:${process.env.PATH}`, ANDROID_ADB_SERVER_PORT: "1" } };
  };

  it("gives adb the address, and the code where no other process sees it", async () => {
    const { bin, env } = await adbOf("34.0.4-10411341", `Successfully paired to ${address} [guid=adb-X]`);
    const ran = await run(["android", "pair", address, "--code", "123456"], { env });
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("controllers.android.address") });
    expect(await readFile(join(bin, "adb.args"), "utf8")).toBe(`-P\n1\npair\n${address}\n`);
    expect(await readFile(join(bin, "adb.input"), "utf8")).toBe("123456\n");
  });

  it("says what adb said when the device refuses", async () => {
    const { env } = await adbOf("34.0.4", "Failed: Wrong password or connection was dropped.");
    const ran = await run(["android", "pair", address, "--code", "654321"], { env });
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("Wrong password") });
    expect(ran.err).not.toContain("654321");
  });

  it("starts no adb that would end a server of another version", async () => {
    const relay = await startAdbRelay(lab.adbPort, 42);
    const { bin, env } = await adbOf("34.0.4", `Successfully paired to ${address}`);
    const at = { env: { ...env, ANDROID_ADB_SERVER_PORT: String(relay.port) } };
    const ran = await run(["android", "pair", address, "--code", "123456"], at);
    await relay.close();
    expect(ran).toMatchObject({ code: 2, err: expect.stringMatching(/1\.0\.42 .* which would end it/) });
    await expect(readFile(join(bin, "adb.args"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("wants an adb that can, an address with a port, and a code", async () => {
    const { env } = await adbOf("29.0.6-debian", "");
    const old = await run(["android", "pair", address, "--code", "123456"], { env });
    expect(old).toMatchObject({ code: 2, err: expect.stringMatching(/ADB_TOO_OLD: .*30 or newer/) });
    expect(await run(["android", "pair", "192.0.2.7", "--code", "123456"], { env })).toMatchObject({
      code: 2,
      err: expect.stringContaining("INVALID_PARAMS"),
    });
    expect(await run(["android", "pair", address], { env })).toMatchObject({
      code: 2,
      err: expect.stringContaining("--code"),
    });
  });
});
