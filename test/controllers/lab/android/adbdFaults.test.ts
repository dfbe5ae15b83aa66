import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "@labwright/controllers";
import { afterEach, describe, expect, it } from "vitest";
import {
  type AndroidLab,
  answerAt,
  type LabDeviceOptions,
  startAndroidLab,
} from "../../../fixtures/androidLab.ts";

let lab: AndroidLab | undefined;

afterEach(async () => {
  await lab?.close();
  lab = undefined;
});

async function start(options: Partial<LabDeviceOptions> = {}) {
  const started = await startAndroidLab({ devices: [{ persona: "phone", ...options }] });
  lab = started;
  const [first] = started.devices;
  if (!first) throw new Error("no device");
  const adb = (...args: string[]) =>
    runProgram("adb", ["-s", first.serial, ...args], {
      env: started.env,
      signal: new AbortController().signal,
      timeoutMs: 30_000,
    });
  return { lab: started, adb, ...first };
}

describe("authorisation", () => {
  it("lets in a host whose key is allowed, by its signature from then on", async () => {
    const { lab, adb, serial, device } = await start({ authorisation: "allow" });
    expect((await adb("shell", "echo in")).stdout).toBe("in\n");
    device.adbd.drop();
    await lab.reconnected(serial);
    expect((await adb("shell", "echo again")).stdout).toBe("again\n");
  });

  it("lists a host's device as unauthorized until it is allowed, and after it was revoked", async () => {
    const { lab, adb, serial, device } = await start({ authorisation: "ask" });
    expect((await lab.states()).get(serial)).toBe("unauthorized");
    const refused = await adb("shell", "echo in");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("unauthorized") });
    device.adbd.allow();
    await lab.waitFor(serial, "device");
    expect((await adb("shell", "echo in")).stdout).toBe("in\n");
    device.adbd.revoke();
    await lab.waitFor(serial, "unauthorized");
  });
});

describe("connection", () => {
  it("comes back by itself when it was dropped", async () => {
    const { lab, adb, serial, device } = await start();
    device.adbd.drop();
    await lab.reconnected(serial);
    expect((await adb("shell", "echo back")).stdout).toBe("back\n");
  });

  it("is offline while nothing listens, and comes back when it is connected anew", async () => {
    const { lab, adb, serial, device } = await start();
    await device.adbd.goOffline();
    await lab.waitFor(serial, "offline");
    expect((await adb("shell", "echo no")).code).toBe(1);
    await device.adbd.goOnline();
    await lab.connectAnew(serial);
    await lab.waitFor(serial, "device");
    expect((await adb("shell", "echo back")).stdout).toBe("back\n");
  });

  it("ends in the middle of a stream", async () => {
    const { lab, adb, serial, device } = await start();
    device.system.files.place("/sdcard/big", new Uint8Array(3_000_000));
    device.faults.dropAfterBytes = 1_000_000;
    const { code, stdout } = await adb("exec-out", "cat", "/sdcard/big");
    expect(stdout.length).toBeLessThan(1_000_000);
    expect(code).not.toBe(undefined);
    await lab.reconnected(serial);
    expect((await adb("exec-out", "cat", "/sdcard/big")).stdout.length).toBe(3_000_000);
  });

  it("ends in the middle of a push, of which nothing is left", async () => {
    const { lab, adb, serial, device } = await start();
    const path = join(lab.env.HOME ?? "", "big");
    await writeFile(path, new Uint8Array(3_000_000));
    device.faults.dropAfterBytes = 1_000_000;
    expect((await adb("push", path, "/sdcard/big")).code).toBe(1);
    await lab.reconnected(serial);
    expect(device.system.files.stat("/sdcard/big")).toBeUndefined();
    expect((await adb("push", path, "/sdcard/big")).code).toBe(0);
  });

  it("is never a device while it answers nothing", async () => {
    const { lab, serial, device } = await start();
    device.faults.silent = true;
    device.adbd.drop();
    await lab.waitFor(serial, "offline");
    device.faults.silent = false;
  });

  it("refuses to forward", async () => {
    const { adb, device } = await start();
    device.listen("tcp:6790", device.adbd.port);
    device.faults.forwardRefused = true;
    const { stdout } = await adb("forward", "tcp:0", "tcp:6790");
    expect(await answerAt(Number(stdout))).toBe("");
  });
});
