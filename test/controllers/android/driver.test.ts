import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isRunning } from "#controllers/programs/processTree.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { driverProgram, nothingLeft } from "./driverTraces.ts";
import { never, openAndroid, refused } from "./openAndroid.ts";

const samples = { app: { package: "dev.labwright.samples" } };

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;

beforeEach(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  phone = await openAndroid({ adb_port: lab.adbPort, backend: "uiautomator2" });
});
afterEach(async () => {
  await phone.close();
  await lab.close();
});

const device = () => lab.at(0).device;
const snapshot = () => phone.dump();
const forwards = () => lab.ask("host:list-forward");

describe("the session of the driver", () => {
  it("opens with the first snapshot of the screen, not with an app or a key, and is gone when the device is closed", async () => {
    await phone.run("open_app", samples);
    await phone.run("press_key", { key: "BACK" });
    expect(device().uia2).toBeUndefined();
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
    expect(device().uia2).toBeDefined();
    await phone.close();
    await nothingLeft(lab);
  });

  it("starts no adb server in place of one that has ended", async () => {
    await snapshot();
    await lab.ask("host:kill").catch(() => undefined);
    await phone.close();
    await expect(lab.ask("host:version")).rejects.toThrow("ECONNREFUSED");
  });

  it("gives the same elements as a dump", async () => {
    await phone.run("open_app", samples);
    const lines = await phone.lines();
    await phone.close();
    const other = await openAndroid({ adb_port: lab.adbPort, backend: "dump" });
    expect(await other.lines()).toEqual(lines);
    await other.close();
  });

  it("is opened again after its process was killed, and nothing of the first is left", async () => {
    await snapshot();
    const pid = driverProgram(lab);
    const before = await forwards();
    process.kill(pid, "SIGKILL");
    await nothingLeft(lab);
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
    expect(driverProgram(lab)).not.toBe(pid);
    expect(await forwards()).not.toBe(before);
  });

  it("is opened again after its server on the device crashed, also in the middle of a snapshot", async () => {
    await snapshot();
    device().crashInstrumentation();
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
    const { uia2 } = device();
    if (uia2) uia2.faults.crashAfter = 0;
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
  });

  it("is lost with its connection: TRANSPORT_LOST, and the next snapshot is whole", async () => {
    await snapshot();
    device().faults.dropAfterBytes = 2_000;
    await expect(snapshot()).rejects.toEqual(refused("TRANSPORT_LOST"));
    await phone.remote.open(never);
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
  });

  it("waits once for a screen that never rests, and says so", async () => {
    await phone.run("open_app", samples);
    device().ui.faults.neverIdle = true;
    expect((await snapshot()).notices).toEqual([expect.stringContaining("always moves")]);
    const { requests } = device().traffic;
    expect((await snapshot()).notices).toEqual([expect.stringContaining("always moves")]);
    // The screen alone: nothing is waited for any more.
    expect(device().traffic.requests).toBe(requests + 1);
    device().ui.faults.neverIdle = false;
    await phone.run("press_key", { key: "BACK" });
    expect((await snapshot()).notices).toEqual([]);
  });

  it("waits for a slow tree, and does not take its screen for a busy one", async () => {
    await snapshot();
    const uia2 = device().uia2;
    if (uia2 === undefined) throw new Error("There is no session.");
    uia2.faults.sourceDelayMs = 800;
    expect((await snapshot()).notices).toEqual([]);
    const sources = () => uia2.requests.filter(({ path }) => path.endsWith("/source")).length;
    const before = sources();
    expect((await snapshot()).notices).toEqual([]);
    expect(sources() - before).toBe(1);
  });

  it("asks a screen without a root again, and says TREE_EMPTY if it has none four times", async () => {
    await snapshot();
    device().ui.faults.nullRoots = 2;
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
    device().ui.faults.nullRoots = 4;
    await expect(snapshot()).rejects.toEqual(refused("TREE_EMPTY"));
  });

  it("reads a screen that forbids pictures", async () => {
    await phone.run("open_app", samples);
    await phone.run("scroll_to_element", { selector: "Secret" });
    await phone.run("click_element", { selector: "Secret" });
    await phone.holds("text_visible", { text: "No picture may be taken" });
  });

  it("has one owner: it takes the place of another program, which ends", async () => {
    const { automation } = device().system;
    const ended = new Promise<void>((resolve) => {
      automation.set("other", () => {
        automation.delete("other");
        resolve();
      });
    });
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
    await ended;
    expect(phone.remote.facts?.().note).toMatch(/took the place of another program/);
  });

  it("serves many snapshots at once, and text, in their order", async () => {
    const snapshots = await Promise.all(Array.from({ length: 5 }, () => snapshot()));
    expect(new Set(snapshots.map(({ elements }) => elements.length)).size).toBe(1);
  });
});

describe("where the driver cannot be used", () => {
  it("dumps take its place, and the device says why", async () => {
    await phone.close();
    phone = await openAndroid({ adb_port: lab.adbPort, backend: "auto" });
    device().faults.instrumentationRefused = true;
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
    expect(phone.remote.facts?.().note).toMatch(/read by uiautomator dump: UiAutomator2 cannot be used/);
    await nothingLeft(lab);
  });

  it("since its server crashes again and again, dumps take its place", async () => {
    await phone.close();
    phone = await openAndroid({ adb_port: lab.adbPort, backend: "auto" });
    const crash = setInterval(() => {
      const { uia2 } = device();
      const isOpen = uia2?.requests.some(({ path }) => path.endsWith("/appium/settings"));
      if (uia2 && isOpen) uia2.faults.crashAfter = 0;
    }, 5);
    try {
      await vi.waitFor(
        async () => {
          await snapshot();
          expect(phone.remote.facts?.().note).toMatch(/ended twice/);
        },
        { timeout: 50_000, interval: 10 },
      );
    } finally {
      clearInterval(crash);
    }
    expect((await snapshot()).elements.length).toBeGreaterThan(0);
    await nothingLeft(lab);
  });

  it.each([
    [
      "its server cannot be installed",
      { installFailure: "INSTALL_FAILED_INSUFFICIENT_STORAGE" },
      /its session did not start/,
    ],
    // That the driver hears nothing it says 20 s later.
    ["nothing can be forwarded", { forwardRefused: true }, /connections that adb forwards .* are refused/],
  ])("since %s, dumps take its place", async (_, faults, why) => {
    await phone.close();
    phone = await openAndroid({ adb_port: lab.adbPort, backend: "auto" });
    Object.assign(device().faults, faults);
    await phone.run("open_app", samples);
    expect((await snapshot()).elements.length).toBeGreaterThan(3);
    expect(phone.remote.facts?.().note).toMatch(why);
  });

  it("and must be, it is UIA_UNAVAILABLE", async () => {
    device().faults.instrumentationRefused = true;
    await expect(snapshot()).rejects.toEqual(refused("UIA_UNAVAILABLE"));
    await nothingLeft(lab);
  });
});

it("a driver that is still starting ends with its device", async () => {
  const looking = snapshot().catch(() => undefined);
  await vi.waitFor(() => expect(driverProgram(lab)).toBeGreaterThan(0), { timeout: 15_000 });
  const pid = driverProgram(lab);
  await phone.close();
  await looking;
  expect(isRunning(pid)).toBe(false);
  await nothingLeft(lab);
});
