import { once } from "node:events";
import { createServer } from "node:net";
import { androidFactory, type ControllerStatus, type DiscoveredDevice } from "@labwright/controllers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { reconnect } from "#controllers/android/adb/devices.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { makeAndroid, never, openAndroid } from "./openAndroid.ts";

describe("a device", () => {
  let lab: AndroidLab;
  let made: ReturnType<typeof makeAndroid>;
  const phone = () => {
    const [one] = lab.devices;
    if (!one) throw new Error("The laboratory has no device.");
    return one;
  };

  beforeEach(async () => {
    lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
    made = makeAndroid({ serial: phone().serial, adb_port: lab.adbPort });
  });
  afterEach(async () => {
    await made.close();
    await lab.close();
  });

  it("says what it is once it is open, and nothing before", async () => {
    expect(made.remote.facts?.()).toEqual({});
    await made.remote.open(never);
    expect(made.remote.facts?.()).toEqual({
      make: "Labwright Lab Phone",
      version: "Android 14",
      screen: { width: 1080, height: 2400 },
      note: expect.stringContaining("url_policy"),
    });
    expect(made.remote.status?.()).toEqual({ state: "online" });
  });

  it("is the only one if the settings name none", async () => {
    const only = await openAndroid({ adb_port: lab.adbPort });
    expect(only.remote.facts?.().version).toBe("Android 14");
    await only.close();
  });

  it("that is not plugged in is DEVICE_NOT_FOUND, with what adb lists", async () => {
    const other = makeAndroid({ serial: "R58MISSING", adb_port: lab.adbPort });
    await expect(other.remote.open(never)).rejects.toMatchObject({
      code: "DEVICE_NOT_FOUND",
      message: expect.stringContaining(phone().serial),
    });
    expect(other.remote.status?.()).toMatchObject({ state: "offline", fix: expect.any(String) });
    await other.close();
  });

  it("that does not trust this computer is DEVICE_UNAUTHORIZED until it is allowed", async () => {
    phone().device.adbd.revoke();
    await lab.waitFor(phone().serial, "unauthorized");
    await expect(made.remote.open(never)).rejects.toMatchObject({ code: "DEVICE_UNAUTHORIZED" });
    expect(made.remote.status?.()).toMatchObject({ state: "unauthorized" });
    phone().device.adbd.allow();
    await lab.connectAnew(phone().serial);
    await lab.waitFor(phone().serial, "device");
    await made.remote.open(never);
    expect(made.remote.status?.()).toEqual({ state: "online" });
  });

  it("whose connection drops is not alive, reports that, and is opened again", async () => {
    const reported: ControllerStatus["state"][] = [];
    await made.remote.open(never);
    made.remote.onStatus?.(({ state }) => reported.push(state));
    phone().device.adbd.drop();
    await vi.waitFor(() => expect(made.remote.isAlive()).toBe(false), 10_000);
    await made.remote.open(never);
    expect(made.remote.isAlive()).toBe(true);
    expect(reported[0]).toBe("offline");
    expect(reported.at(-1)).toBe("online");
  });

  it("at an address of the configuration is connected again, once, when it is needed", async () => {
    await lab.ask(`host:disconnect:${phone().serial}`);
    await lab.waitFor(phone().serial, "absent");
    await expect(made.remote.open(never)).rejects.toMatchObject({ code: "DEVICE_NOT_FOUND" });
    const states: ControllerStatus["state"][] = [];
    const wireless = makeAndroid({ address: phone().serial, adb_port: lab.adbPort });
    wireless.remote.onStatus?.(({ state }) => states.push(state));
    await wireless.remote.open(never);
    expect(states).toEqual(expect.arrayContaining(["recovering", "online"]));
    await wireless.close();
  });

  it("is reconnected also while the server still lists the closing connection", async () => {
    const asked: string[] = [];
    const answer = (text: string) => `OKAY${text.length.toString(16).padStart(4, "0")}${text}`;
    // As adb 29 answered in one of fifteen tries.
    const server = createServer((socket) => {
      socket.once("data", (bytes: Buffer) => {
        const service = bytes.toString("latin1", 4);
        const before = asked.filter((one) => one === service).length;
        asked.push(service);
        socket.end(
          answer(
            service.includes(":connect:") && before < 2 ? "already connected to a:1" : "connected to a:1",
          ),
        );
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    await reconnect(typeof address === "object" && address ? address.port : 0, "a:1", never);
    expect(asked).toEqual(["host:disconnect:a:1", ...Array<string>(3).fill("host:connect:a:1")]);
    server.close();
  });

  it("that is doubted must answer at the next opening", async () => {
    await made.remote.open(never);
    made.remote.doubt?.();
    expect(made.remote.isDoubted?.()).toBe(true);
    await made.remote.open(never);
    expect(made.remote.isDoubted?.()).toBe(false);
    expect(made.remote.isAlive()).toBe(true);
  });

  it("of a server that was killed is lost, and the next opening starts the server", async () => {
    // With an address of a server, the program adb says that it is another machine's and starts none.
    vi.stubEnv("ANDROID_ADB_SERVER_ADDRESS", "127.0.0.1");
    onTestFinished(() => void vi.unstubAllEnvs());
    await made.remote.open(never);
    await lab.ask("host:kill").catch(() => undefined);
    await vi.waitFor(() => expect(made.remote.isAlive()).toBe(false), 10_000);
    await expect(made.run("go_home")).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
    const wireless = makeAndroid({ address: phone().serial, adb_port: lab.adbPort });
    await wireless.remote.open(never);
    expect(wireless.remote.facts?.().version).toBe("Android 14");
    await wireless.close();
    await lab.ask("host:kill").catch(() => undefined);
  });

  it("is not opened when that is cancelled", async () => {
    phone().device.adbd.revoke();
    await lab.waitFor(phone().serial, "unauthorized");
    const cancel = new AbortController();
    const opening = made.remote.open(cancel.signal);
    cancel.abort(new Error("cancelled by the test"));
    await expect(opening).rejects.toThrow("cancelled by the test");
  });
});

describe("several devices", () => {
  let lab: AndroidLab;
  beforeAll(async () => {
    lab = await startAndroidLab({
      devices: [{ persona: "phone" }, { persona: "phone2" }, { persona: "tv" }],
    });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await lab.close();
  });

  it("without a serial in the settings are DEVICE_AMBIGUOUS, with all serials", async () => {
    const any = makeAndroid({ adb_port: lab.adbPort });
    await expect(any.remote.open(never)).rejects.toMatchObject({
      code: "DEVICE_AMBIGUOUS",
      message: expect.stringContaining("controllers.android.serial"),
      details: { serials: expect.arrayContaining(lab.devices.map(({ serial }) => serial)) },
    });
    await any.close();
  });

  it("are discovered as they come and go, phones and TVs by what they say they are", async () => {
    vi.stubEnv("ANDROID_ADB_SERVER_PORT", String(lab.adbPort));
    const reported: (readonly DiscoveredDevice[])[] = [];
    const end = androidFactory.discover?.([], (found) => reported.push(found));
    const models = () =>
      Object.fromEntries((reported.at(-1) ?? []).map(({ serial, model }) => [serial, model]));
    const [phone, older, tv] = lab.devices;
    const all = {
      [phone?.serial ?? ""]: "android_mobile",
      [older?.serial ?? ""]: "android_mobile",
      [tv?.serial ?? ""]: "android_tv",
    };
    await vi.waitFor(() => expect(models()).toEqual(all), 15_000);
    await older?.device.adbd.goOffline();
    await vi.waitFor(() => expect(Object.keys(models())).toHaveLength(2), 15_000);
    await older?.device.adbd.goOnline();
    await vi.waitFor(() => expect(models()).toEqual(all), 15_000);
    end?.();
  });

  it("are never mixed up, while both are driven and one drops", async () => {
    const [one, other] = await Promise.all(
      lab.devices.slice(0, 2).map(({ serial }) => openAndroid({ serial, adb_port: lab.adbPort })),
    );
    const app = { package: "com.android.settings" };
    await one?.run("open_app", { app });
    lab.devices[0]?.device.adbd.drop();
    await Promise.all(Array.from({ length: 20 }, () => other?.run("go_home")));
    expect(lab.devices[0]?.device.ui.front().packageName).toBe(app.package);
    expect(lab.devices[1]?.device.ui.front().packageName).not.toBe(app.package);
    await one?.close();
    await other?.close();
  });
});
