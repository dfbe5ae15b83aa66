import { DeviceError } from "@labwright/controllers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { phone as persona } from "../../lab/android/index.ts";
import { openAndroid, refused } from "./openAndroid.ts";

const samples = "dev.labwright.samples";
const shop = "dev.labwright.shop";
const camera = "android.permission.CAMERA";

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;
const asked: string[] = [];
const context = {
  allowUrl(url: string) {
    asked.push(url);
    throw new DeviceError("URL_DENIED", "The policy denies it.");
  },
  app: () => ({ name: "shop", package: shop, deep_link: "labshop://shop" }),
};

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
});
afterAll(() => lab.close());

const device = () => lab.at(0).device;
const settings = () => ({ serial: lab.devices[0]?.serial, adb_port: lab.adbPort });

beforeEach(async () => {
  phone = await openAndroid(settings());
});
afterEach(() => phone.close());

describe("the data and permissions of an app", () => {
  it("are as if it had just been installed when they were cleared", async () => {
    await phone.run("grant_permission", { package: samples, permission: "CAMERA" });
    await phone.run("open_app", { app: { package: samples } });
    await phone.run("clear_app", { package: samples });
    expect(device().ui.running()).not.toContain(samples);
    expect(device().ui.granted(samples)).toEqual([]);
  });

  it("are those of the app in use where none is named", async () => {
    const inUse = await openAndroid(settings(), { app: () => ({ name: "samples", package: samples }) });
    await inUse.run("grant_permission", { permission: camera });
    expect(device().ui.granted(samples)).toEqual([camera]);
    await inUse.run("revoke_permission", { permission: camera });
    expect(device().ui.granted(samples)).toEqual([]);
    await inUse.close();
    await expect(phone.run("clear_app")).rejects.toEqual(refused("INVALID_PARAMS"));
  });

  it("are refused for a permission that the app does not request, with the nearest that it does", async () => {
    await expect(
      phone.run("grant_permission", { package: samples, permission: "CAMERAS" }),
    ).rejects.toMatchObject({ code: "ACTION_REJECTED", message: expect.stringContaining(camera) });
  });

  it.each([
    "clear_app",
    "grant_permission",
    "revoke_permission",
  ])("%s of an unknown app is APP_NOT_INSTALLED, of a hostile name INVALID_PARAMS", async (command) => {
    const permission = command === "clear_app" ? {} : { permission: camera };
    await expect(phone.run(command, { package: `${samples}x`, ...permission })).rejects.toMatchObject({
      code: "APP_NOT_INSTALLED",
      details: { nearest: expect.arrayContaining([samples]) },
    });
    await expect(phone.run(command, { package: "a;reboot", ...permission })).rejects.toEqual(
      refused("INVALID_PARAMS"),
    );
  });

  it("take no permission that is an option or a command", async () => {
    for (const permission of ["--user", "$(reboot)", "a b"])
      await expect(phone.run("grant_permission", { package: samples, permission })).rejects.toThrow();
  });
});

describe("close_app", () => {
  it("says whether the app was open, also one that runs without a screen", async () => {
    const { processes } = device().system;
    await phone.run("open_app", { app: { package: samples } });
    expect((await phone.run("close_app", { app: { package: samples } })).message).toBe(`closed ${samples}`);
    expect((await phone.run("close_app", { app: { package: samples } })).message).toBe(
      `${samples} was not open`,
    );
    processes.startService(`${samples}:player`);
    await phone.holds("app_running", { package: samples });
    expect((await phone.run("close_app", { app: { package: samples } })).message).toBe(`closed ${samples}`);
    processes.endService(`${samples}:player`);
    processes.startService(`${samples}.other`);
    await phone.holds("app_running", { package: samples }, false);
    processes.endService(`${samples}.other`);
  });
});

describe("links", () => {
  it("open in the app that declares their scheme", async () => {
    await phone.run("open_deep_link", { url: "labshop://product/Lamp", package: shop });
    expect(await phone.lines()).toContain('text "Lamp"');
  });

  it("arrive as they are", async () => {
    const url = "labshop://product/$(reboot)'%22;id&x=`id`";
    await phone.run("open_deep_link", { url, package: shop });
    expect(device().system.history.at(-1)).toContain("labshop://product/$(reboot)");
    expect(device().ui.front()).toEqual({ packageName: shop, activity: ".Product" });
  });

  it("of the app in use need no package", async () => {
    const inUse = await openAndroid(settings(), context);
    await inUse.run("open_deep_link", { url: "labshop://cart" });
    expect(device().ui.front()).toEqual({ packageName: shop, activity: ".Cart" });
    await inUse.close();
  });

  it.each([
    "tel:112",
    "TEL:112",
    "sms:1",
    "smsto:1",
    "mms:1",
    "content://sms",
    "file:///sdcard/a",
    "intent:#Intent;end",
    "javascript:alert(1)",
    "data:text/html,a",
  ])("%s is denied, and nothing is sent, even for the app that declares it", async (url) => {
    const before = device().system.history.length;
    await expect(phone.run("open_deep_link", { url, package: shop })).rejects.toEqual(refused("URL_DENIED"));
    expect(device().system.history).toHaveLength(before);
  });

  it.each([
    "no link",
    " tel:112",
    "labshop",
    "--user 10",
    "labshop:a b",
    "labshop://a\nb",
  ])("%j is not a link", async (url) => {
    await expect(phone.run("open_deep_link", { url, package: shop })).rejects.toEqual(
      refused("INVALID_PARAMS"),
    );
  });

  it("of another app's scheme are denied with those that the app declares", async () => {
    await expect(
      phone.run("open_deep_link", { url: "labshop://cart", package: samples }),
    ).rejects.toMatchObject({ code: "URL_DENIED", message: expect.stringContaining("labsamples") });
    await expect(phone.run("open_deep_link", { url: "labshop://cart" })).rejects.toEqual(
      refused("INVALID_PARAMS"),
    );
  });

  it("of the web pass the policy before anything is sent", async () => {
    const inUse = await openAndroid(settings(), context);
    const before = device().system.history.length;
    await expect(inUse.run("open_deep_link", { url: "https://denied.example/" })).rejects.toEqual(
      refused("URL_DENIED"),
    );
    expect(asked).toEqual(["https://denied.example/"]);
    expect(device().system.history).toHaveLength(before);
    await inUse.close();
  });

  it("that no app takes are ACTIVITY_MISSING", async () => {
    await expect(phone.run("open_deep_link", { url: "https://example.com/" })).rejects.toEqual(
      refused("ACTIVITY_MISSING"),
    );
    await expect(phone.run("open_deep_link", { url: "labshop://nowhere", package: shop })).rejects.toEqual(
      refused("ACTIVITY_MISSING"),
    );
  });
});

describe("what the device refuses", () => {
  const notExported =
    "Security exception: Permission Denial: starting Intent { flg=0x10000000 cmp=dev.labwright.samples/.Inner } from null (pid=1, uid=2000) not exported from uid 10110";
  afterEach(() => {
    Object.assign(device().faults, { startFailure: undefined, hasProfile: false });
  });

  it("to open is not said to be opened", async () => {
    // Android 8 and 9; later it is "Exception occurred while executing 'start':" and the rest: appium, issues 11307 and 19281.
    device().faults.startFailure = notExported;
    const app = { package: samples, activity: ".Inner" };
    await expect(phone.run("open_app", { app })).rejects.toThrow(/not exported/);
    const link = { url: "labshop://item/1", package: shop };
    await expect(phone.run("open_deep_link", link)).rejects.toEqual(refused("ACTIVITY_MISSING"));
  });

  it("to list of another user's apps hides none of the owner's", async () => {
    device().faults.hasProfile = true;
    await phone.holds("app_installed", { package: samples });
  });

  it("to remove of the system's own is not said to have been absent", async () => {
    await expect(phone.run("uninstall_app", { package: "com.android.systemui" })).rejects.toEqual(
      refused("DEVICE_ERROR"),
    );
  });
});

it("an app with several launcher activities is opened by its first", async () => {
  const packages = persona.packages.map((one) =>
    one.name === samples ? { ...one, moreLaunchers: [".leaks.Launcher"] } : one,
  );
  const own = await startAndroidLab({ devices: [{ persona: { ...persona, packages } }] });
  const other = await openAndroid({ adb_port: own.adbPort });
  await other.run("open_app", { app: { package: samples } });
  await other.holds("activity_is", { activity: `${samples}/.Main` });
  await other.close();
  await own.close();
});
