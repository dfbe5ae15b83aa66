import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isOnNetwork } from "#controllers/android/commands/system.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { never, openAndroid, refused } from "./openAndroid.ts";

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }, { persona: "phone2" }] });
});
afterAll(() => lab.close());

const settingsAt = (at: number) => lab.at(at).settings;
const device = () => lab.at(0).device;
const setting = (namespace: "system" | "secure" | "global", name: string) =>
  device().system.settings.get(namespace)?.get(name);

beforeEach(async () => {
  phone = await openAndroid(settingsAt(0));
});
afterEach(() => phone.close());

describe("the screen", () => {
  it("turns to landscape, upside down, and back", async () => {
    expect(await phone.run("rotate", { to: "landscape" })).toMatchObject({
      message: "the screen is in landscape",
      data: { orientation: "landscape", angle: 90 },
    });
    expect(device().ui.space().rotation).toBe(90);
    await phone.holds("orientation_is", { orientation: "landscape" });
    await phone.run("rotate", { to: "portrait", upside_down: true });
    expect(await phone.read("orientation_is", { orientation: "landscape" })).toMatchObject({
      holds: false,
      actual: "it is in portrait, at 180°",
    });
    await phone.run("rotate", { to: "portrait" });
    expect(device().ui.space().rotation).toBe(0);
    await expect(phone.run("rotate", { to: 45 })).rejects.toThrow();
  });

  it("of a TV does not turn", async () => {
    const tv = await openAndroid(settingsAt(1));
    await expect(tv.run("rotate", { to: "landscape" })).rejects.toEqual(refused("DEVICE_ERROR"));
    await tv.holds("orientation_is", { orientation: "landscape" });
    await tv.close();
  });

  it("has a dark look and larger texts", async () => {
    await phone.run("set_dark_mode", { on: true });
    await phone.run("set_font_scale", { scale: 1.3 });
    expect(setting("secure", "ui_night_mode")).toBe("2");
    expect(
      await phone.read("setting_is", { namespace: "system", name: "font_scale", value: "1.3" }),
    ).toMatchObject({
      holds: true,
    });
  });
});

describe("the network", () => {
  it("is that of the SIM card for data where there are several", async () => {
    const global = device().system.settings.get("global");
    global?.set("multi_sim_data_call", "2");
    await phone.run("set_network", { data: false });
    expect([setting("global", "mobile_data2"), setting("global", "mobile_data")]).toEqual(["0", "1"]);
    phone.remote.handOver?.();
    await phone.remote.open(never);
    expect(setting("global", "mobile_data2")).toBe("1");
    global?.delete("multi_sim_data_call");
    global?.delete("mobile_data2");
  });

  it("is not said to be switched where the device does not switch it", async () => {
    const { settings } = device().system;
    const get = settings.get.bind(settings);
    settings.get = (name) => new Map(get(name));
    await expect(phone.run("set_network", { data: false })).rejects.toEqual(refused("DEVICE_ERROR"));
    settings.get = get;
  });

  it("is switched, each radio for itself and all by airplane mode", async () => {
    await phone.run("set_network", { wifi: false, data: false });
    expect([setting("global", "wifi_on"), setting("global", "mobile_data")]).toEqual(["0", "0"]);
    await phone.run("set_network", { wifi: true });
    expect([setting("global", "wifi_on"), setting("global", "mobile_data")]).toEqual(["1", "0"]);
    await phone.run("set_airplane_mode", { on: true });
    expect(setting("global", "airplane_mode_on")).toBe("1");
    await expect(phone.run("set_network", {})).rejects.toThrow(/wifi or data/);
  });

  it.each([
    ["192.168.1.7:5555", true],
    ["adb-R58M12-abc._adb-tls-connect._tcp", true],
    ["[fe80::1]:5555", true],
    ["127.0.0.1:6555", false],
    ["emulator-5554", false],
    ["R58M12ABC", false],
  ])("leads to %s: %s", (serial, is) => {
    expect(isOnNetwork(serial)).toBe(is);
  });
});

describe("the place", () => {
  it("stays as set until another client takes the device", async () => {
    const place = async () => {
      const { readings = [] } = (await phone.remote.sensors?.sensors(never)) ?? {};
      return readings.filter(({ name }) => name.startsWith("location.")).map(({ value }) => value);
    };
    const own = await place();
    await phone.run("set_geolocation", { latitude: -33.856_8, longitude: 151.2153 });
    expect(await place()).toEqual([-33.8568, 151.2153]);
    await phone.run("set_geolocation");
    expect(await place()).toEqual(own);
    await phone.run("set_geolocation", { latitude: 0, longitude: 0 });
    phone.remote.handOver?.();
    await phone.remote.open(never);
    expect(await place()).toEqual(own);
    expect(device().system.mayMockLocation).toBe(false);
  });

  it("cannot be set on an old phone, nor the language of an app", async () => {
    const old = await openAndroid(settingsAt(2));
    const names = old.remote.withheld?.().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["set_geolocation", "set_locale"]));
    await expect(old.run("set_geolocation", { latitude: 1, longitude: 2 })).rejects.toEqual(
      refused("DEVICE_ERROR"),
    );
    await old.close();
  });
});

describe("the language of an app", () => {
  it("is set for that app, and taken back", async () => {
    const app = "com.android.settings";
    await phone.run("open_app", { app: { package: app } });
    const english = await phone.lines();
    await phone.run("set_locale", { locale: "de", package: app });
    expect(device().system.locales.get(app)).toBe("de");
    expect(await phone.lines()).not.toEqual(english);
    await phone.run("set_locale", { package: app });
    expect(await phone.lines()).toEqual(english);
    await expect(phone.run("set_locale", { locale: "de", package: "com.none" })).rejects.toEqual(
      refused("APP_NOT_INSTALLED"),
    );
    await expect(phone.run("set_locale", { locale: "de; reboot", package: app })).rejects.toThrow(/written/);
  });
});

describe("what a client has set", () => {
  const all = () => [
    setting("system", "accelerometer_rotation"),
    setting("system", "user_rotation"),
    setting("system", "font_scale"),
    setting("secure", "ui_night_mode"),
    setting("global", "airplane_mode_on"),
    setting("global", "wifi_on"),
    setting("global", "mobile_data"),
  ];
  const change = async () => {
    for (const to of ["landscape", "portrait"]) await phone.run("rotate", { to });
    for (const scale of [1.3, 2]) await phone.run("set_font_scale", { scale });
    await phone.run("set_dark_mode", { on: true });
    await phone.run("set_network", { wifi: false, data: false });
    await phone.run("set_airplane_mode", { on: true });
  };

  it("is restored when another client opens the device, and not before", async () => {
    const before = all();
    await change();
    const changed = all();
    expect(changed).not.toEqual(before);
    phone.remote.handOver?.();
    expect(all()).toEqual(changed);
    expect(phone.remote.isDoubted?.()).toBe(true);
    await phone.remote.open(never);
    expect(all()).toEqual(before);
    expect(device().ui.space().rotation).toBe(0);
    expect(phone.remote.isDoubted?.()).toBe(false);
  });

  it("is as it was when the device is closed", async () => {
    const before = all();
    await change();
    await phone.remote.close();
    expect(all()).toEqual(before);
  });

  it("is removed where nothing had been set, and stays what a person set before", async () => {
    device().system.settings.get("system")?.delete("font_scale");
    device().system.settings.get("global")?.set("wifi_on", "0");
    await phone.run("set_font_scale", { scale: 2 });
    await phone.run("set_network", { wifi: true });
    await phone.close();
    expect([setting("system", "font_scale"), setting("global", "wifi_on")]).toEqual([undefined, "0"]);
    device().system.settings.get("global")?.set("wifi_on", "1");
  });
});

describe("a restart", () => {
  it("ends when the device can be used again, on a new connection", async () => {
    await phone.run("open_app", { app: { package: "dev.labwright.samples" } });
    await phone.run("reboot");
    expect(device().ui.running()).not.toContain("dev.labwright.samples");
    expect(phone.remote.isAlive()).toBe(true);
    await phone.run("open_app", { app: { package: "dev.labwright.samples" } });
    expect(await phone.lines()).toContain('text "Samples"');
  });
});
