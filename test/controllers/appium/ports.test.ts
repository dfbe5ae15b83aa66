import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeviceFinding, RecordingLoss } from "@labwright/controllers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { crashIn, DeviceClock, saidInSyslog } from "#controllers/appium/logLines.ts";
import { appleTv, iphone, type LabIos, startLabIos } from "../../lab/ios/index.ts";
import { never, portOf } from "../android/openAndroid.ts";
import { findingSourceContract, logSourceContract } from "../ports.ts";
import { recordingShows } from "../recordings.ts";
import { openAppium } from "./openAppium.ts";

const shop = { package: "dev.labwright.shop" };
const samples = { package: "dev.labwright.samples" };

let lab: LabIos;
beforeAll(async () => {
  lab = await startLabIos({ persona: iphone });
});
afterAll(() => lab.close());

const openPhone = () => openAppium({ url: lab.url, capabilities: { platformName: "iOS" } });

logSourceContract("iPhone", async () => {
  const { remote, run, close } = await openPhone();
  const cause = async () => {
    await run("close_app", { app: shop });
    await run("open_app", { app: shop });
  };
  return { port: portOf(remote.logs), cause, dispose: close };
});

const logRequests = () => lab.requests.filter(({ path }) => path.endsWith("/se/log")).length;
/** Resolves when the crash reports were looked at, from which on a crash is a new one. */
const listens = (before: number) =>
  vi.waitFor(() => expect(logRequests()).toBeGreaterThan(before + 1), { timeout: 10_000 });

findingSourceContract("iPhone", async () => {
  const { remote, run, close } = await openPhone();
  await run("open_app", { app: shop });
  const before = logRequests();
  const cause = async () => {
    await listens(before);
    lab.ui.crash(shop.package, "for the test");
  };
  return { port: portOf(remote.findings), cause, dispose: close };
});

it("a crash of an iPhone's app is reported with its text and a picture, and ends when the app runs again", async () => {
  const { remote, run, close } = await openPhone();
  await run("open_app", { app: samples });
  const reported: DeviceFinding[] = [];
  const before = logRequests();
  portOf(remote.findings).onFinding((finding) => reported.push(finding));
  await listens(before);
  lab.ui.crash(samples.package, "the button was pressed");
  await vi.waitFor(() => expect(reported).toHaveLength(1), { timeout: 10_000 });
  await run("open_app", { app: samples });
  await vi.waitFor(() => expect(reported).toHaveLength(2), { timeout: 10_000 });
  expect(reported).toMatchObject([
    {
      kind: "app_crash",
      state: "began",
      facts: { package: samples.package, excerpt: expect.stringContaining("EXC_CRASH SIGABRT") },
      frame: { mimeType: "image/jpeg" },
    },
    { kind: "app_crash", state: "ended" },
  ]);
  await close();
});

it("an iPhone reports crashes only, and its log goes on in the next session", async () => {
  const { remote, run, close } = await openPhone();
  expect(portOf(remote.findings).kinds).toEqual(["app_crash"]);
  await run("open_app", { app: shop });
  const logs = portOf(remote.logs);
  const [first] = await logs.lines({ limit: 1 }, never);
  expect(first).toMatchObject({
    level: "info",
    source: "SpringBoard",
    text: expect.stringContaining(shop.package),
  });
  lab.endSession();
  await expect(logs.lines({ limit: 1 }, never)).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
  await remote.open(never);
  await run("close_app", { app: shop });
  const next = await logs.lines({ after: first?.seq ?? 0, limit: 10 }, never);
  expect(next.at(-1)?.text).toContain("Process exited");
  await close();
});

describe("a recording of an iPhone", () => {
  let folder: string;
  let phone: Awaited<ReturnType<typeof openPhone>>;
  const losses: RecordingLoss[] = [];
  const recorder = () => portOf(phone.remote.recorder);
  const showsScreen = () => recordingShows(folder, portOf(phone.remote.screen));
  const start = async () => {
    losses.splice(0);
    const ended = (reason: RecordingLoss) => losses.push(reason);
    await recorder().start({ kinds: ["video"], folder, mostBytes: 50_000_000, ended }, never);
  };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "labwright-recording-"));
    lab.ui.home();
    phone = await openPhone();
  });
  afterEach(async () => {
    await phone.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("shows what its screenshots showed, and is one at a time", async () => {
    await start();
    await showsScreen();
    await expect(start()).rejects.toMatchObject({ code: "ACTION_REJECTED" });
    await phone.run("open_app", { app: shop });
    await showsScreen();
    const recording = await recorder().stop(never);
    expect(recording).toMatchObject({ lost: [], files: [{ kind: "video", mimeType: "video/webm" }] });
    expect(recording.frames).toBeGreaterThan(1);
    expect(losses).toEqual([]);
  });

  it("ends with its session, and what there is by then stays", async () => {
    await start();
    await showsScreen();
    lab.endSession();
    await vi.waitFor(() => expect(losses).toEqual(["device_lost"]), { timeout: 10_000 });
    expect((await recorder().stop(never)).frames).toBeGreaterThan(0);
  });

  it("ends with its device", async () => {
    await start();
    await showsScreen();
    await phone.close();
    expect(losses).toEqual(["device_closed"]);
    expect((await recorder().stop(never)).frames).toBeGreaterThan(0);
  });
});

describe("sensors", () => {
  it("of an iPhone are what Appium gives, and the others are absent with a reason", async () => {
    const { remote, run, close } = await openPhone();
    const source = portOf(remote.sensors);
    const { readings, absent, simulated } = await source.sensors(never);
    expect(readings).toEqual([
      { name: "battery.level", value: 80, unit: "%" },
      { name: "battery.charging", value: true },
      { name: "orientation", value: "portrait" },
    ]);
    expect(absent.map(({ name }) => name)).toEqual(["network", "location", "accelerometer", "temperature"]);
    expect(absent.find(({ name }) => name === "location")?.reason).toContain("set to 'Always'");
    for (const { reason } of absent) expect(reason.length).toBeGreaterThan(10);
    expect(simulated).toBeUndefined();
    await run("set_geolocation", { latitude: 48.8584, longitude: 2.2945 });
    expect((await source.sensors(never)).readings).toContainEqual({
      name: "location.latitude",
      value: 48.8584,
      unit: "°",
    });
    await close();
  });

  it("of an Apple TV are few, and none is made up", async () => {
    const tv = await startLabIos({ persona: appleTv });
    const { remote, close } = await openAppium({ url: tv.url, capabilities: { platformName: "tvOS" } });
    const { readings, absent } = await portOf(remote.sensors).sensors(never);
    expect(readings).toEqual([]);
    expect(absent).toHaveLength(6);
    await close();
    await tv.close();
  });

  it("of a device that is gone are an error, not absent", async () => {
    const { remote, close } = await openPhone();
    lab.endSession();
    await expect(portOf(remote.sensors).sensors(never)).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
    await close();
  });
});

it("apps of an iPhone have names and versions, installed apps first", async () => {
  const { remote, close } = await openPhone();
  const { apps } = await portOf(remote.apps).installedApps(never);
  expect(apps).toContainEqual({ id: shop.package, name: "Lamp and Chair", version: "1.0" });
  const ids = apps.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.indexOf("com.apple.Preferences")).toBeGreaterThan(ids.indexOf(shop.package));
  await close();
});

describe("reports of iOS", () => {
  const crash = { type: "failed", kind: "app_crash", packageName: "com.example.shop" };
  const ips = (bug_type: string, body: object) =>
    `${JSON.stringify({ app_name: "Shop", bundleID: "com.example.shop", bug_type })}\n${JSON.stringify(body)}`;

  it("report a crash as .ips and as text, and nothing else", () => {
    const exception = { type: "EXC_BAD_ACCESS", signal: "SIGSEGV", subtype: "KERN_INVALID_ADDRESS at 0x10" };
    expect(crashIn(ips("309", { exception }))).toEqual({
      ...crash,
      excerpt: "EXC_BAD_ACCESS SIGSEGV\nKERN_INVALID_ADDRESS at 0x10",
    });
    const text =
      "Incident Identifier: 1\nProcess:             Shop [77]\nIdentifier:          com.example.shop\nException Type:  EXC_CRASH (SIGABRT)\n";
    expect(crashIn(text)).toEqual({ ...crash, excerpt: "EXC_CRASH (SIGABRT)" });
    expect(crashIn(ips("298", {}))).toBeUndefined();
    expect(crashIn("{ cut off")).toBeUndefined();
    expect(crashIn("")).toBeUndefined();
  });

  it("have lines of a device and of a simulator", () => {
    expect(saidInSyslog("Nov 25 15:00:00 iPhone Shop(UIKitCore)[77] <Error>: it broke: x")).toEqual({
      level: "error",
      source: "Shop",
      text: "it broke: x",
    });
    expect(saidInSyslog("2026-11-25 15:00:00.123 Db Shop[77:1a2b] [com.example:ui] drawn")).toEqual({
      level: "debug",
      source: "Shop",
      text: "[com.example:ui] drawn",
    });
    expect(saidInSyslog("something else")).toEqual({ level: "info", text: "something else" });
  });
});

describe("a log without year and zone", () => {
  it.each([
    ["2026-11-25T15:00:00+01:00", "11-25 14:59:59.250", "2026-11-25T13:59:59.250Z"],
    ["2027-01-01T00:10:00-0500", "12-31 23:59:00.000", "2027-01-01T04:59:00.000Z"],
    ["2026-11-25T15:00:00Z", "11-25 15:00:01.000", "2026-11-25T15:00:01.000Z"],
  ])("on a device at %s, %s is %s", (now, time, at) => {
    expect(new Date(new DeviceClock(now).secondsOf(time) * 1_000).toISOString()).toBe(at);
  });
});
