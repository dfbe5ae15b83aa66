import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apkOf } from "../../fixtures/androidApk.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { never, openAndroid, refused } from "./openAndroid.ts";

let lab: AndroidLab;
let folder: string;
let phone: Awaited<ReturnType<typeof openAndroid>>;
const id = "com.example.thing";
const big = randomBytes(3_000_000);

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  folder = await mkdtemp(join(tmpdir(), "labwright-uploads-"));
  await writeFile(join(folder, "thing.apk"), apkOf({ packageName: id, versionCode: 41, versionName: "4.1" }));
  await writeFile(join(folder, "broken.apk"), "no zip");
  await writeFile(join(folder, "it's $(reboot).bin"), big);
  await writeFile(join(folder, "Anna's lamp.png"), "a picture");
  phone = await openAndroid(
    { adb_port: lab.adbPort },
    {
      uploadPath: (name) => join(folder, name),
      temporaryFolder: () => mkdtemp(join(folder, "pulled-")),
    },
  );
});
afterAll(async () => {
  await phone.close();
  await lab.close();
  await rm(folder, { recursive: true, force: true });
});

const device = () => lab.at(0).device;

describe("apps", () => {
  it("are installed, listed with their version, opened and removed", async () => {
    await phone.run("install_app", { file: "thing.apk" });
    const { apps } = (await phone.remote.apps?.installedApps(never)) ?? { apps: [] };
    expect(apps).toContainEqual({ id, version: "41" });
    await phone.run("open_app", { app: { package: id } });
    await phone.holds("app_shown", { app: { package: id } });
    await phone.run("uninstall_app", { package: id });
    await expect(phone.run("open_app", { app: { package: id } })).rejects.toEqual(
      refused("APP_NOT_INSTALLED"),
    );
    expect(await phone.run("uninstall_app", { package: id })).toMatchObject({
      message: expect.stringContaining("was not installed"),
    });
  });

  it("that cannot be installed end in the code that Android gives", async () => {
    await expect(phone.run("install_app", { file: "broken.apk" })).rejects.toMatchObject({
      code: "INSTALL_FAILED",
      details: { reason: expect.stringContaining("INSTALL_PARSE_FAILED") },
    });
    await expect(phone.run("install_app", { file: "missing.apk" })).rejects.toEqual(
      refused("INVALID_PARAMS"),
    );
    device().faults.storageFull = true;
    await expect(phone.run("install_app", { file: "thing.apk" })).rejects.toEqual(refused("STORAGE_FULL"));
    device().faults.storageFull = false;
  });
});

describe("files", () => {
  const file = "it's $(reboot).bin";

  it("arrive byte for byte, under any name", async () => {
    await phone.run("push_file", { file });
    const data = device().system.files.read(`/sdcard/Download/${file}`);
    expect(Buffer.from(data).equals(big)).toBe(true);
  });

  it("that the device refuses are an error with its words", async () => {
    await expect(phone.run("push_file", { file, to: "/system/x" })).rejects.toMatchObject({
      code: "DEVICE_ERROR",
      message: expect.stringMatching(/denied|Read-only/i),
    });
    device().faults.storageFull = true;
    await expect(phone.run("push_file", { file })).rejects.toEqual(refused("STORAGE_FULL"));
    device().faults.storageFull = false;
  });

  it("are not taken for complete when the connection breaks halfway", async () => {
    device().faults.dropAfterBytes = 500_000;
    await expect(phone.run("push_file", { file, timeout_ms: 10_000 })).rejects.toEqual(
      refused("TRANSPORT_LOST"),
    );
    await phone.remote.open(never);
    await phone.run("push_file", { file });
  });

  it("end when they are cancelled", async () => {
    const cancel = new AbortController();
    const work = phone.run("push_file", { file }, cancel.signal);
    cancel.abort(new Error("cancelled by the test"));
    await expect(work).rejects.toThrow("cancelled by the test");
  });

  it("of the device are copied to this machine byte for byte", async () => {
    device().system.files.store("/sdcard/Download/a b.bin", big);
    const { file } = await phone.run("pull_file", { path: "/sdcard/Download/a b.bin" });
    expect((await readFile(file ?? "")).equals(big)).toBe(true);
    await expect(phone.run("pull_file", { path: "/sdcard/none" })).rejects.toMatchObject({
      code: "DEVICE_ERROR",
      message: expect.stringContaining("/sdcard/none"),
    });
    await expect(phone.run("pull_file", { path: "/sdcard/Download" })).rejects.toThrow(/is a folder/);
    await expect(phone.run("pull_file", { path: "sdcard/none" })).rejects.toThrow(/begins with/);
  });

  it("with pictures are in the media store, or said not to be", async () => {
    await phone.run("add_media", { file: "Anna's lamp.png" });
    const target = "/storage/emulated/0/Pictures/Anna's lamp.png";
    expect(device().system.media).toContain(target);
    expect(Buffer.from(device().system.files.read(target)).toString()).toBe("a picture");
    await expect(phone.run("add_media", { file: "thing.apk" })).rejects.toEqual(refused("INVALID_PARAMS"));
  });
});
