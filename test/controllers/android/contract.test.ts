import { androidFactory } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { controllerContract } from "../contract.ts";
import { findingSourceContract, focusSourceContract, logSourceContract } from "../ports.ts";
import { makeAndroid, never, openAndroid, portOf } from "./openAndroid.ts";

let lab: AndroidLab;
beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }] });
});
afterAll(() => lab.close());

const deviceAt = (at: number, backend = "dump") => {
  const found = lab.devices[at];
  if (!found) throw new Error("The laboratory has too few devices.");
  return { ...found, settings: { serial: found.serial, adb_port: lab.adbPort, backend } };
};

const endless = { command: "wait_for", params: { text: "No such text", timeout_ms: 60_000 } };

describe.each([
  ["phone", 0, "dump"],
  ["phone", 0, "uiautomator2"],
  ["tv", 1, "dump"],
  ["tv", 1, "uiautomator2"],
] as const)("Android %s", (persona, at, backend) => {
  controllerContract(`android remote of a ${persona} by ${backend}`, async () => {
    const { remote, close } = makeAndroid(deviceAt(at, backend).settings);
    return { controller: remote, factory: androidFactory, endless, dispose: close };
  });
});

describe.each([
  ["phone", 0],
  ["tv", 1],
] as const)("Android %s", (persona, at) => {
  logSourceContract(`Android ${persona}`, async () => {
    const { remote, run, close } = await openAndroid(deviceAt(at).settings);
    const cause = async () => {
      await run("go_home");
      await run("open_app", { app: { package: "com.android.settings" } });
    };
    return { port: portOf(remote.logs), cause, dispose: close };
  });

  findingSourceContract(`Android ${persona}`, async () => {
    const { remote, run, close } = await openAndroid(deviceAt(at).settings);
    const app = "com.android.settings";
    await run("open_app", { app: { package: app } });
    const cause = async () => {
      // The log is read from the moment when a listener is added.
      await new Promise((resolve) => setTimeout(resolve, 300));
      deviceAt(at).device.ui.crash(app, "for the test");
    };
    const dispose = async () => {
      if (deviceAt(at).device.ui.active().kind === "dialog") await run("handle_dialog", { accept: false });
      await close();
    };
    return { port: portOf(remote.findings), cause, dispose };
  });
});

describe.each(["dump", "uiautomator2"])("by %s", (backend) => {
  focusSourceContract("Android tv", async () => {
    const { remote, run, close } = await openAndroid(deviceAt(1, backend).settings);
    await run("go_home");
    await run("press_key", { key: "DOWN" });
    return { port: portOf(remote.focus), dispose: close };
  });
});

it("a crash is reported with its app, its lines and a picture, and ends when the app runs again", async () => {
  const { remote, run, close } = await openAndroid(deviceAt(0).settings);
  const app = { package: "dev.labwright.samples" };
  await run("open_app", { app });
  const reported: Parameters<Parameters<NonNullable<typeof remote.findings>["onFinding"]>[0]>[0][] = [];
  const both = new Promise<void>((resolve) => {
    portOf(remote.findings).onFinding((finding) => {
      reported.push(finding);
      if (finding.state === "ended") resolve();
      else run("open_app", { app }).catch(() => undefined);
    });
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  deviceAt(0).device.ui.crash(app.package, "the button was pressed");
  await both;
  expect(reported).toMatchObject([
    {
      kind: "app_crash",
      state: "began",
      facts: { package: app.package, excerpt: expect.stringContaining("the button was pressed") },
      frame: { mimeType: "image/jpeg", width: 1080, height: 2400 },
    },
    { kind: "app_crash", state: "ended" },
  ]);
  await run("handle_dialog", { accept: false });
  await close();
});

describe("the ports", () => {
  it("give pictures of the screen, of an area and of an element, in its own pixels", async () => {
    const { remote, run, refOf, close } = await openAndroid(deviceAt(0).settings);
    await run("open_app", { app: { package: "com.android.settings" } });
    const screen = portOf(remote.screen);
    const whole = await screen.capture({}, never);
    expect(whole).toMatchObject({ mimeType: "image/png", width: 1080, height: 2400, rotation: 0 });
    const area = await screen.capture({ area: { x: 1000, y: 10, width: 200, height: 50 } }, never);
    expect(area).toMatchObject({ width: 80, height: 50 });
    const ref = await refOf("Wi-Fi");
    expect((await screen.capture({ ref, format: "jpeg" }, never)).mimeType).toBe("image/jpeg");
    deviceAt(0).device.ui.rotate(90);
    expect(await screen.capture({}, never)).toMatchObject({ width: 2400, height: 1080, rotation: 90 });
    const dump = await portOf(remote.elements).dump({ interactiveOnly: false }, never);
    expect(dump.space).toEqual({ width: 2400, height: 1080, rotation: 90 });
    deviceAt(0).device.ui.rotate(0);
    await close();
  });

  it("list the apps with their versions, those of others first", async () => {
    const { remote, close } = await openAndroid(deviceAt(0).settings);
    const { apps } = await portOf(remote.apps).installedApps(never);
    expect(new Set(apps.map(({ id }) => id)).size).toBe(apps.length);
    expect(apps.find(({ id }) => id === "com.android.settings")).toMatchObject({
      version: expect.stringMatching(/^\d+$/),
    });
    await close();
  });

  it.each([
    [0, ["battery.level", "battery.charging", "temperature"], []],
    [1, [], ["battery", "temperature"]],
  ] as const)("say of sensors what there is, and why the others are absent (device %s)", async (at, has, lacks) => {
    const { remote, close } = await openAndroid(deviceAt(at).settings);
    const { readings, absent, simulated } = await portOf(remote.sensors).sensors(never);
    const names = readings.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...has, "network.online", "orientation.angle"]));
    expect(absent.map(({ name }) => name)).toEqual(expect.arrayContaining([...lacks, "accelerometer"]));
    for (const { reason } of absent) expect(reason.length).toBeGreaterThan(10);
    expect(simulated).toBeUndefined();
    await close();
  });
});
