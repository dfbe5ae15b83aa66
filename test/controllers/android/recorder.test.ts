import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Recording, RecordingLoss } from "../../../controllers/src/contract.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { never, openAndroid, portOf } from "./openAndroid.ts";

const settings = { app: { package: "com.android.settings" } };
const refused = (code: string) => expect.objectContaining({ code });

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

const device = () => {
  const [one] = lab.devices;
  if (!one) throw new Error("The laboratory has no device.");
  return one.device;
};
const recorder = () => portOf(phone.remote.recorder);

async function start(backend: string, mostBytes = 50_000_000): Promise<void> {
  phone = await openAndroid({ adb_port: lab.adbPort, backend });
  const ended = (reason: RecordingLoss) => losses.push(reason);
  await recorder().start({ kinds: ["video"], folder, mostBytes, ended }, never);
}

/** The last picture of a video by now, as WebP: behind the heads of its cluster, its time, the block and the frame. */
async function lastPicture(): Promise<Buffer | undefined> {
  const file = await readFile(join(folder, "video.webm")).catch(() => Buffer.alloc(0));
  const cluster = file.lastIndexOf(Buffer.from("1f43b675", "hex"));
  if (cluster < 0) return undefined;
  const vp8 = file.subarray(cluster + 30);
  const head = Buffer.from("RIFF____WEBPVP8 ____");
  head.writeUInt32LE(vp8.length + 12, 4);
  head.writeUInt32LE(vp8.length, 16);
  return Buffer.concat([head, vp8, Buffer.alloc(vp8.length % 2)]);
}

const thumbnail = (picture: Uint8Array) =>
  sharp(picture).resize(16, 32, { fit: "fill" }).removeAlpha().grayscale().raw().toBuffer();

/** Resolves when the video shows what the screen shows. */
const showsScreen = () =>
  vi.waitFor(
    async () => {
      const [recorded, { bytes }] = [
        await lastPicture(),
        await portOf(phone.remote.screen).capture({}, never),
      ];
      if (recorded === undefined) throw new Error("There is no picture yet.");
      const [one, other] = [await thumbnail(recorded), await thumbnail(bytes)];
      const difference = one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? 0)), 0);
      expect(difference / one.length).toBeLessThan(4);
    },
    { timeout: 20_000, interval: 100 },
  );

const video = ({ files }: Recording) => files.find(({ kind }) => kind === "video");

describe.each(["uiautomator2", "dump"])("a recording by %s", (backend) => {
  it("shows what the screen showed, in its shape", async () => {
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

  it("ends with the connection, and what there is by then stays", async () => {
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
