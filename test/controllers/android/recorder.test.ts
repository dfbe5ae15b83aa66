import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Recording, RecordingLoss } from "@labwright/controllers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { recordingShows } from "../recordings.ts";
import { never, openAndroid, portOf, refused } from "./openAndroid.ts";

const settings = { app: { package: "com.android.settings" } };

let lab: AndroidLab;
let folder: string;
let phone: Awaited<ReturnType<typeof openAndroid>>;
let losses: RecordingLoss[];

beforeEach(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  folder = await mkdtemp(join(tmpdir(), "labwright-recording-"));
  losses = [];
});
afterEach(async () => {
  await phone.close();
  await lab.close();
  await rm(folder, { recursive: true, force: true });
});

const device = () => lab.at(0).device;
const recorder = () => portOf(phone.remote.recorder);

async function start(backend: string, mostBytes = 50_000_000): Promise<void> {
  phone = await openAndroid({ adb_port: lab.adbPort, backend });
  const ended = (reason: RecordingLoss) => losses.push(reason);
  await recorder().start({ kinds: ["video"], folder, mostBytes, ended }, never);
}

const showsScreen = () => recordingShows(folder, portOf(phone.remote.screen));

const video = ({ files }: Recording) => files.find(({ kind }) => kind === "video");

describe.each(["uiautomator2", "dump"])("a recording by %s", (backend) => {
  it("records the pictures of the screen in its shape", async () => {
    await start(backend);
    await showsScreen();
    await phone.run("open_app", settings);
    await showsScreen();
    const recording = await recorder().stop(never);
    expect(recording).toMatchObject({ lost: [], frames: expect.any(Number) });
    expect(recording.frames).toBeGreaterThan(1);
    expect(video(recording)).toMatchObject({ path: join(folder, "video.webm"), mimeType: "video/webm" });
    expect(losses).toEqual([]);
  });

  it("ends with the connection, and keeps what was recorded", async () => {
    await start(backend);
    await showsScreen();
    device().adbd.drop();
    await vi.waitFor(() => expect(losses).toEqual(["device_lost"]), { timeout: 20_000 });
    const recording = await recorder().stop(never);
    expect(recording.frames).toBeGreaterThan(0);
    expect(video(recording)).toBeDefined();
    await phone.remote.open(never);
  });

  it("ends with its device, and before its file grows too large", async () => {
    await start(backend);
    await showsScreen();
    await phone.close();
    expect(losses).toEqual(["device_closed"]);
    await rm(join(folder, "video.webm"));
    await recorder().stop(never);
    await start(backend, 1);
    await vi.waitFor(() => expect(losses).toEqual(["device_closed", "full"]), { timeout: 20_000 });
  });
});

it("goes on when the server on the device crashes", async () => {
  await start("uiautomator2");
  await showsScreen();
  device().crashInstrumentation();
  await phone.run("open_app", settings);
  await showsScreen();
  expect((await recorder().stop(never)).lost).toEqual([]);
});

it("is one at a time", async () => {
  await start("dump");
  const again = recorder().start({ kinds: ["video"], folder, mostBytes: 1, ended: () => undefined }, never);
  await expect(again).rejects.toEqual(refused("ACTION_REJECTED"));
  await recorder().stop(never);
  await expect(recorder().stop(never)).rejects.toEqual(refused("ACTION_REJECTED"));
});
