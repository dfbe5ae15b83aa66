import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Adb } from "@devicefarmer/adbkit";
import { AdbServerClient } from "@yume-chan/adb";
import { AdbServerNodeTcpConnector } from "@yume-chan/adb-server-node-tcp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apkOf } from "../../../fixtures/androidApk.ts";
import { type AndroidLab, startAndroidLab } from "../../../fixtures/androidLab.ts";

/** Clients that others wrote, on what the device answers them. */
let lab: AndroidLab;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
});
afterAll(async () => {
  for (const { device } of lab?.devices ?? []) expect(device.system.unknown).toEqual([]);
  await lab?.close();
});

const serialOf = () => lab.devices[0]?.serial ?? "";

describe("@devicefarmer/adbkit", () => {
  const open = () => Adb.createClient({ host: "127.0.0.1", port: lab.adbPort });
  const device = () => open().getDevice(serialOf());

  it("finds the device and runs commands on it", async () => {
    expect(await open().listDevices()).toEqual([{ id: serialOf(), type: "device" }]);
    expect(await text(await device().shell("echo hi; echo err >&2"))).toBe("hi\nerr\n");
    expect((await device().getProperties())["ro.product.model"]).toBe("Lab Phone");
    expect(await device().getFeatures()).toHaveProperty(["android.hardware.touchscreen"], true);
    expect(await device().getPackages()).toContain("dev.labwright.shop");
    await device().waitForDevice();
  });

  it("installs, starts and removes an app", async () => {
    const apk = apkOf({ packageName: "com.example.kit", versionCode: 1, versionName: "1" });
    const push = await device().push(Readable.from([apk]), "/data/local/tmp/kit.apk");
    await new Promise((resolve, reject) => push.on("end", resolve).on("error", reject));
    await device().installRemote("/data/local/tmp/kit.apk");
    expect(await device().isInstalled("com.example.kit")).toBe(true);
    await device().startActivity({ component: "com.example.kit/.Main", wait: true });
    await expect(device().startActivity({ component: "com.nope/.X" })).rejects.toThrow(/does not exist/);
    await device().clear("com.example.kit");
    await device().uninstall("com.example.kit");
    expect(await device().isInstalled("com.example.kit")).toBe(false);
  });

  it("reads files, pictures and the log", async () => {
    const push = await device().push(Readable.from(["some text"]), "/sdcard/note.txt");
    await new Promise((resolve, reject) => push.on("end", resolve).on("error", reject));
    expect(await text(await device().pull("/sdcard/note.txt"))).toBe("some text");
    expect((await device().stat("/sdcard/note.txt")).size).toBe(9);
    expect((await device().readdir("/sdcard")).map((entry: { name: string }) => entry.name)).toContain(
      "note.txt",
    );
    await expect(device().stat("/sdcard/none")).rejects.toThrow(/ENOENT/);
    const png = await Adb.util.readAll(await device().screencap());
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    const log = await device().openLogcat({ clear: true });
    const entry = new Promise<{ tag: string; message: string }>((resolve) => log.once("entry", resolve));
    await device().shell("log -t Judge -p e seen");
    expect(await entry).toMatchObject({ tag: "Judge", message: "seen" });
    log.end();
  });

  it("forwards, and hears of devices that go and come", async () => {
    await device().forward("tcp:0", "tcp:6790");
    expect((await device().listForwards())[0]).toMatchObject({ remote: "tcp:6790" });
    const tracker = await open().trackDevices();
    const next = (kind: "add" | "remove") => new Promise((resolve) => tracker.once(kind, resolve));
    const gone = next("remove");
    await open().disconnect(serialOf());
    await gone;
    const back = next("add");
    await open().connect(serialOf());
    await back;
    tracker.end();
    await lab.reconnected(serialOf());
  });
});

describe("@yume-chan/adb", () => {
  const open = async () => {
    const connector = new AdbServerNodeTcpConnector({ host: "127.0.0.1", port: lab.adbPort });
    return new AdbServerClient(connector).createAdb({ serial: serialOf() });
  };

  it("runs commands in both protocols, with exit codes", async () => {
    const adb = await open();
    const shell = adb.subprocess.shellProtocol;
    expect(await shell?.spawnWaitText("echo hi; echo err >&2; exit 5")).toEqual({
      stdout: "hi\n",
      stderr: "err\n",
      exitCode: 5,
    });
    const raw = await adb.subprocess.noneProtocol.spawnWait(["screencap"]);
    expect(Buffer.from(raw).readUInt32LE(0)).toBe(1080);
    expect(await adb.getProp("ro.product.model")).toBe("Lab Phone");
    await adb.close();
  });

  it("reads and writes files by the second version of sync", async () => {
    const adb = await open();
    lab.devices[0]?.device.system.files.place("/sdcard/from", new Uint8Array(300_000).fill(7));
    const [sync, reader] = [await adb.sync(), await adb.sync()];
    await sync.write({ filename: "/sdcard/to", file: reader.read("/sdcard/from") });
    expect((await sync.lstat("/sdcard/to")).size).toBe(300_000n);
    const names: string[] = [];
    for await (const entry of sync.opendir("/sdcard")) names.push(entry.name);
    expect(names).toEqual(expect.arrayContaining(["from", "to"]));
    await reader.dispose();
    await expect(sync.lstat("/sdcard/none")).rejects.toThrow();
    await sync.dispose();
    await adb.close();
  });
});
