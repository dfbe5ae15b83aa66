import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sessionsIn } from "#controllers/android/packages.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { never, openAndroid } from "./openAndroid.ts";

const id = "dev.labwright.samples";
const samples = { app: { package: id } };
const inApp = { package: id };

let lab: AndroidLab;
let phone: Awaited<ReturnType<typeof openAndroid>>;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }] });
});
afterAll(() => lab.close());

const settingsAt = (at: number) => lab.at(at).settings;
const device = () => lab.at(0).device;
const inconclusive = (why: string) => ({ holds: false, inconclusive: expect.stringContaining(why) });

beforeEach(async () => {
  phone = await openAndroid(settingsAt(0));
  await phone.run("close_app", samples);
  await phone.run("open_app", samples);
});
afterEach(() => phone.close());

describe("checks of an app", () => {
  it("say whether it is installed, in which version, and what is nearest", async () => {
    await phone.holds("app_installed", inApp);
    expect(await phone.read("app_installed", { package: `${id}x` })).toMatchObject({
      holds: false,
      nearest: expect.arrayContaining([id]),
    });
    await phone.holds("app_version", { ...inApp, version: "1.2.0" });
    expect(await phone.read("app_version", { ...inApp, version: "2" })).toMatchObject({
      holds: false,
      actual: '"1.2.0"',
    });
    expect(await phone.read("app_version", { package: `${id}x`, version: "2" })).toMatchObject({
      missing: "absent",
    });
  });

  it("say whether it runs, and how much memory it uses", async () => {
    await phone.holds("app_running", inApp);
    expect(await phone.read("memory_below", { ...inApp, mb: 95 })).toMatchObject({
      holds: true,
      actual: "94.3 MB",
    });
    await phone.holds("memory_below", { ...inApp, mb: 94 }, false);
    await phone.run("close_app", samples);
    await phone.holds("app_running", inApp, false);
    expect(await phone.read("memory_below", { ...inApp, mb: 94 })).toMatchObject(
      inconclusive("does not run"),
    );
  });

  it("say what it may do", async () => {
    const camera = { ...inApp, permission: "CAMERA" };
    await phone.holds("permission_granted", camera, false);
    await phone.run("grant_permission", camera);
    await phone.holds("permission_granted", camera);
    await phone.run("revoke_permission", camera);
    expect(await phone.read("permission_granted", camera)).toMatchObject({
      holds: false,
      actual: "it has not",
    });
    expect(await phone.read("permission_granted", { ...inApp, permission: "CAMERAS" })).toMatchObject({
      missing: "absent",
      nearest: ["android.permission.CAMERA"],
    });
  });

  it("say how long the last open_app took, and nothing before one", async () => {
    expect(await phone.read("start_up_time", { at_most_ms: 420 })).toMatchObject({
      holds: true,
      actual: expect.stringContaining("420 ms"),
    });
    await phone.holds("start_up_time", { at_most_ms: 419 }, false);
    phone.remote.handOver?.();
    expect(await phone.read("start_up_time", { at_most_ms: 420 })).toMatchObject(inconclusive("open_app"));
  });

  it("say whether it plays, and are inconclusive without a media session", async () => {
    expect(await phone.read("media_playing", inApp)).toMatchObject(inconclusive("media session"));
    await phone.run("click_element", { selector: "Player" });
    await phone.run("wait_for", { text: "Playing" });
    await phone.holds("media_playing", inApp);
    await phone.run("click_element", { selector: "Pause" });
    expect(await phone.read("media_playing", inApp)).toMatchObject({
      holds: false,
      actual: expect.stringContaining("paused"),
    });
    await phone.run("close_app", samples);
    expect(await phone.read("media_playing", inApp)).toMatchObject({ holds: false, missing: "absent" });
  });

  it("read the media sessions of newer Androids and several apps", () => {
    const text = `  Sessions Stack - have 2 sessions:
    a com.one/a (userId=0)
      package=com.one
      state=PlaybackState {state=PLAYING(3), position=1, speed=1.0}
    b com.two/b (userId=0)
      package=com.two
      state=null
`;
    expect(sessionsIn(text)).toEqual([
      { packageName: "com.one", state: "playing" },
      { packageName: "com.two", state: "none" },
    ]);
  });
});

describe("checks of the device", () => {
  it("are inconclusive where the device does not say what has the focus", async () => {
    const { apiLevel } = device().persona;
    // As one whose version and whose words do not go together: Android 9 says it elsewhere.
    Object.assign(device().persona, { apiLevel: 28 });
    expect(await phone.read("app_shown", samples)).toMatchObject(inconclusive("which app is in front"));
    expect(await phone.read("activity_is", { activity: ".Main" })).toMatchObject(inconclusive("in front"));
    Object.assign(device().persona, { apiLevel });
  });

  it("say whether a keyboard is shown", async () => {
    await phone.holds("keyboard_shown", {}, false);
    await phone.run("click_element", { selector: "Text" });
    await phone.run("click_element", { selector: "Note" });
    await phone.holds("keyboard_shown", {});
  });

  it.each([
    [".Main", true],
    [`${id}/.Main`, true],
    [`${id}.Main`, true],
    [".Form", false],
    ["com.other/.Main", false],
  ])("say of %s in front: %s", async (activity, holds) => {
    expect(await phone.read("activity_is", { activity })).toMatchObject({
      holds,
      actual: `${id}/${id}.Main is`,
    });
  });

  it("read settings as they stand, and only by a name", async () => {
    const at = { namespace: "global" as const, name: "device_name" };
    await phone.holds("setting_is", { ...at, value: "Lab device" });
    await phone.holds("setting_is", { ...at, value: "lab device" }, false);
    expect(await phone.read("setting_is", { ...at, name: "nowhere", value: "1" })).toMatchObject({
      holds: false,
      missing: "absent",
    });
    await expect(phone.read("setting_is", { ...at, name: "a; reboot", value: "1" })).rejects.toThrow();
  });

  it("read a TV as well", async () => {
    const tv = await openAndroid(settingsAt(1));
    await tv.run("go_home");
    await tv.holds("keyboard_shown", {}, false);
    await tv.holds("app_installed", { package: "com.android.settings" });
    await tv.holds("app_running", { package: "com.nowhere" }, false);
    await tv.close();
  });
});

describe("checks of the log", () => {
  const write = (text: string) =>
    device().system.log.write({ pid: 1, level: "I", tag: "Shop", buffer: "main" }, text);

  it("read from the last mark on", async () => {
    const payment = { text: "payment of 40 €" };
    write("A payment of 40 € was taken");
    expect(await phone.read("log_contains", payment)).toMatchObject(inconclusive("mark_logs"));
    await phone.run("mark_logs");
    await phone.holds("log_contains", payment, false);
    write("A payment of 40 € was taken");
    expect(await phone.read("log_contains", payment)).toMatchObject({
      holds: true,
      actual: 'Shop: "A payment of 40 € was taken"',
    });
    expect(await phone.read("log_contains", { text: "payment of 41" })).toMatchObject({
      holds: false,
      nearest: ["A payment of 40 € was taken"],
    });
    await phone.run("mark_logs");
    await phone.holds("log_contains", payment, false);
  });

  it("report crashes and apps that do not respond, of one app or any", async () => {
    expect(await phone.read("no_crash_since", {})).toMatchObject(inconclusive("mark_logs"));
    await phone.run("mark_logs");
    await phone.holds("no_crash_since", {});
    device().ui.crash(id, "It broke");
    expect(await phone.read("no_crash_since", inApp)).toMatchObject({
      holds: false,
      actual: expect.stringMatching(/samples crashed: FATAL EXCEPTION[\s\S]*It broke/),
    });
    await phone.holds("no_crash_since", { package: "com.other" });
    await phone.run("handle_dialog", { accept: true });
    await phone.run("mark_logs");
    await phone.holds("no_crash_since", {});
    await phone.run("open_app", samples);
    device().ui.notResponding(id, "It hangs");
    expect(await phone.read("no_crash_since", {})).toMatchObject({
      holds: false,
      actual: expect.stringContaining("did not respond"),
    });
    await phone.run("handle_dialog", { accept: true });
  });

  it("are inconclusive where the log was cleared after the mark", async () => {
    await phone.run("mark_logs");
    device().system.log.clear(new Set(["main"]));
    expect(await phone.read("no_crash_since", {})).toMatchObject(inconclusive("reach back"));
    expect(await phone.read("log_contains", { text: "something else" })).toMatchObject(
      inconclusive("reach back"),
    );
  });

  it("give the mark of one client to no other", async () => {
    await phone.run("mark_logs");
    phone.remote.handOver?.();
    await phone.remote.open(never);
    expect(await phone.read("no_crash_since", {})).toMatchObject(inconclusive("mark_logs"));
  });
});
