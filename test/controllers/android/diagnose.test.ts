import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { androidFactory } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diagnoseDriver } from "#controllers/android/diagnose.ts";
import { startAdbRelay } from "../../fixtures/adbRelay.ts";
import { testAddons } from "../../fixtures/addons.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { makeAndroid, never } from "./openAndroid.ts";

let lab: AndroidLab;
let folder: string;

beforeAll(async () => {
  lab = await startAndroidLab({
    devices: [{ persona: "phone" }, { persona: "phone2", authorisation: "ask" }],
  });
  folder = await mkdtemp(join(tmpdir(), "labwright-fake-adb-"));
});
afterAll(async () => {
  await lab.close();
  await rm(folder, { recursive: true, force: true });
});

const diagnose = async (settings: unknown, env: Record<string, string | undefined> = lab.env) =>
  (await androidFactory.diagnose?.(androidFactory.settings.parse(settings), {
    env,
    addons: testAddons,
    signal: never,
  })) ?? [];

/** A PATH with a program adb that says this of its version, or with none. */
async function pathWith(says?: string): Promise<string> {
  const place = await mkdtemp(join(folder, "path-"));
  if (says === undefined) return place;
  await writeFile(join(place, "adb"), `#!/bin/sh\necho '${says}'\n`);
  await chmod(join(place, "adb"), 0o755);
  return place;
}

describe("doctor says of adb", () => {
  it("which one it is", async () => {
    const [adb] = await diagnose({ serial: lab.devices[0]?.serial });
    expect(adb).toMatchObject({ what: "adb", status: "ok", detail: expect.stringContaining("1.0.") });
  });

  it("that there is none, and how to get it", async () => {
    const [adb] = await diagnose({}, { ...lab.env, PATH: await pathWith() });
    expect(adb).toMatchObject({
      status: "missing",
      detail: "not found",
      fix: expect.stringContaining("apt-get"),
    });
  });

  it("that it is too old", async () => {
    const path = await pathWith("Android Debug Bridge version 1.0.32");
    const [adb] = await diagnose({}, { ...lab.env, PATH: path });
    expect(adb).toMatchObject({ status: "missing", detail: expect.stringContaining("too old") });
  });

  it("that it does not run", async () => {
    const [adb] = await diagnose({}, { ...lab.env, PATH: await pathWith("Segmentation fault") });
    expect(adb).toMatchObject({ status: "missing", detail: expect.stringContaining("Segmentation fault") });
  });

  it("that its server is of another version, which it would end", async () => {
    const relay = await startAdbRelay(lab.adbPort, 42);
    const [adb, device] = await diagnose({ serial: lab.devices[0]?.serial, adb_port: relay.port });
    await relay.close();
    expect(adb).toMatchObject({
      status: "warning",
      detail: expect.stringMatching(
        /server is of version 1\.0\.42 and .*adb of 1\.0\.\d+, which would end it/,
      ),
      fix: expect.stringContaining("first on the PATH"),
    });
    expect(device).toMatchObject({ status: "ok" });
  });

  it("that its server is not running, and starts none", async () => {
    const [, device] = await diagnose({ serial: "R58", adb_port: 1 });
    expect(device).toMatchObject({ status: "ok", detail: expect.stringContaining("not running") });
  });
});

describe("doctor says of a device", () => {
  const port = () => ({ adb_port: lab.adbPort });

  it("that it is there", async () => {
    const [, device] = await diagnose({ ...port(), serial: lab.devices[0]?.serial });
    expect(device).toMatchObject({ status: "ok" });
  });

  it.each([
    ["not connected", () => ({ serial: "R58" }), /Plug it in/],
    ["unauthorised", () => ({ serial: lab.devices[1]?.serial }), /Allow USB debugging/],
    ["one of several", () => ({}), /controllers\.android\.serial/],
  ] as const)("that it is %s, with what mends it", async (_, settings, fix) => {
    const [, device] = await diagnose({ ...port(), ...settings() });
    expect(device).toMatchObject({ status: "missing", fix: expect.stringMatching(fix) });
  });

  it("that it is not connected over the network now", async () => {
    const [, device] = await diagnose({ ...port(), address: "192.0.2.1:5555" });
    expect(device).toMatchObject({ status: "warning", fix: expect.stringContaining("adb connect") });
  });
});

describe("doctor says of the driver", () => {
  const addons = (state: "installed" | "missing" | "outdated") => ({ state: () => state });

  it("that it is installed", async () => {
    const found = await diagnose({ serial: "R58", adb_port: 1 });
    expect(found.at(-1)).toEqual({ what: "UiAutomator2 driver", status: "ok", detail: "installed" });
  });

  it.each([
    ["missing", "auto", "warning", /^not installed; elements are read by uiautomator dump/],
    ["missing", "uiautomator2", "missing", /^not installed$/],
    ["outdated", "auto", "warning", /^installed for another build/],
  ] as const)("that it is %s where the setting is %s", (state, backend, status, detail) => {
    expect(diagnoseDriver({ backend }, addons(state))).toEqual([
      {
        what: "UiAutomator2 driver",
        status,
        detail: expect.stringMatching(detail),
        fix: "labwright setup android",
      },
    ]);
  });

  it.each([
    [
      "/nowhere/chromedriver",
      { status: "warning", detail: expect.stringContaining("/nowhere/chromedriver") },
    ],
    [process.execPath, { status: "ok", detail: process.execPath }],
  ])("whether there is the chromedriver %s", async (chromedriver, finding) => {
    const found = await diagnose({ serial: "R58", adb_port: 1, chromedriver });
    expect(found.at(-1)).toMatchObject({ what: "chromedriver", ...finding });
  });

  it("nothing where dumps are asked for", () => {
    expect(diagnoseDriver({ backend: "dump" }, addons("missing"))).toEqual([]);
  });

  it.each([
    ["20.18.3", "warning"],
    ["20.19.0", "ok"],
    ["21.7.0", "warning"],
    ["22.11.0", "warning"],
    ["22.23.0", "ok"],
    ["23.9.0", "warning"],
    ["24.0.0", "ok"],
    ["26.1.0", "ok"],
  ] as const)("whether it runs on Node %s", (node, status) => {
    expect(diagnoseDriver({ backend: "auto" }, addons("installed"), node)).toMatchObject([{ status }]);
  });
});

describe("a device that is used", () => {
  it("where another program has the port is ADB_SERVER_DOWN, with what adb says", async () => {
    const other = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const adb_port = address !== null && typeof address === "object" ? address.port : 0;
    const made = makeAndroid({ serial: "R58", adb_port });
    await expect(made.remote.open(never)).rejects.toMatchObject({ code: "ADB_SERVER_DOWN" });
    await made.close();
    other.close();
  });

  it("where no server answers and there is no adb is ADB_MISSING, and ADB_TOO_OLD where it is old", async () => {
    const before = process.env.PATH;
    const made = makeAndroid({ serial: "R58", adb_port: 1 });
    try {
      process.env.PATH = await pathWith();
      await expect(made.remote.open(never)).rejects.toMatchObject({ code: "ADB_MISSING" });
      process.env.PATH = await pathWith("Android Debug Bridge version 1.0.32");
      await expect(made.remote.open(never)).rejects.toMatchObject({ code: "ADB_TOO_OLD" });
    } finally {
      process.env.PATH = before;
      await made.close();
    }
  });
});
