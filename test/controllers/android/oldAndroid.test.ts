import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { phone2 } from "../../lab/android/index.ts";
import { never, openAndroid, portOf } from "./openAndroid.ts";

/** A phone with Android 8: it says where the focus is, which flags a window has and where it is in other words. */
const oreo = {
  ...phone2,
  apiLevel: 26,
  properties: { ...phone2.properties, "ro.build.version.sdk": "26", "ro.build.version.release": "8.0.0" },
};
const samples = { app: { package: "dev.labwright.samples" } };

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;
beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: oreo }] });
});
afterAll(() => lab.close());
beforeEach(async () => {
  phone = await openAndroid({ adb_port: lab.adbPort });
  await phone.run("close_app", samples);
  await phone.run("open_app", samples);
});
afterEach(() => phone.close());

const capture = () => portOf(phone.remote.screen).capture({}, never);
const withheld = () => phone.remote.withheld?.().map(({ name }) => name);

describe("a phone with Android 8", () => {
  it("says which app is in front", async () => {
    await phone.holds("app_shown", samples);
    await phone.holds("activity_is", { activity: ".Main" });
    const { location } = await phone.dump();
    expect(location).toBe("dev.labwright.samples/.Main");
  });

  it("turns, and its picture with it", async () => {
    expect(await phone.run("rotate", { to: "landscape" })).toMatchObject({ data: { angle: 90 } });
    expect(await capture()).toMatchObject({ width: 1280, height: 720, rotation: 90 });
    await phone.run("rotate", { to: "portrait" });
    expect(await capture()).toMatchObject({ width: 720, height: 1280, rotation: 0 });
  });

  it("says of a window that no picture may be taken of it", async () => {
    await phone.run("scroll_to_element", { selector: "Secret" });
    await phone.run("click_element", { selector: "Secret" });
    await expect(capture()).rejects.toEqual(expect.objectContaining({ code: "SECURE_SCREEN" }));
  });

  it("knows its location from its last measurement", async () => {
    const { readings } = await portOf(phone.remote.sensors).sensors(never);
    expect(readings).toContainEqual({ name: "location.latitude", value: 48.137154, unit: "°" });
  });

  it("withholds commands of later versions", () => {
    expect(withheld()).toEqual(
      expect.arrayContaining([
        "press_keys",
        "set_geolocation",
        "set_locale",
        "set_airplane_mode",
        "double_click",
      ]),
    );
  });
});

it("a device that does not know an input is not said to have taken it", async () => {
  const properties = { ...phone2.properties, "ro.build.version.sdk": "31" };
  const own = await startAndroidLab({ devices: [{ persona: { ...phone2, properties } }] });
  const device = await openAndroid({ adb_port: own.adbPort });
  await expect(device.run("press_keys", { keys: ["CTRL", "A"] })).rejects.toThrow(/Unknown command/);
  await device.close();
  await own.close();
});
