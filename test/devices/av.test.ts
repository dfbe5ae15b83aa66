import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  avFactory,
  type Controller,
  type ControllerContext,
  type ControllerStatus,
  DeviceError,
  type DeviceFinding,
  type StreamEvent,
  type VideoFrame,
} from "@labwright/controllers";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { controllerContract } from "../controllers/contract.ts";
import { findingSourceContract, frameSourceContract } from "../controllers/ports.ts";
import { controllerContext } from "../fixtures/controllerContext.ts";
import { serve } from "../fixtures/loopback.ts";
import { publishHttp } from "./avSource.ts";

vi.setConfig({ testTimeout: 60_000 });

const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "labwright-av-"));
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const within = { timeout: 20_000, interval: 50 };
const lavfi = (picture: string) => ["-re", "-f", "lavfi", "-i", picture];
/** A picture that moves, with a tone. */
const moving = ["-re", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25[out0];sine=f=440:r=48000[out1]"];
const still = lavfi("smptebars=s=320x180:r=25");

function make(settings: object, policy: Partial<ControllerContext> = {}): Controller {
  const context = { ...controllerContext("lab/tv"), ...policy };
  const [controller] = avFactory.create(avFactory.settings.parse(settings), context);
  if (!controller) throw new Error("The factory made no controller.");
  ends.push(() => controller.close());
  return controller;
}

async function opened(settings: object, policy: Partial<ControllerContext> = {}) {
  const controller = make(settings, policy);
  const findings: DeviceFinding[] = [];
  const statuses: ControllerStatus[] = [];
  controller.findings?.onFinding((finding) => findings.push(finding));
  controller.onStatus?.((status) => statuses.push(status));
  await controller.open(never);
  const { frames, stream, recorder, screen } = controller;
  if (!frames || !stream || !recorder || !screen) throw new Error("A port is missing.");
  return { controller, findings, statuses, frames, stream, recorder, screen };
}

/** Processes whose arguments contain the text. */
const processesWith = (text: string) =>
  execFileSync("ps", ["-ww", "-eo", "pid,args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(text) && /^\s*\d+ \S*ffmpeg /.test(line))
    .map((line) => Number.parseInt(line, 10));

const publish = async (playlist: Parameters<typeof publishHttp>[0]) => {
  const source = await publishHttp(playlist);
  ends.push(source.close);
  return source;
};

it("finds black, a freeze and silence of a live stream to the frame, each once, with its pictures", async () => {
  const cues = { seconds: 4.6, black: [1, 1.6], freeze: [2, 2.8], silence: [3.2, 4] } as const;
  const source = await publish([cues]);
  const { controller, findings, stream, frames } = await opened({ http: source.url });
  const gray: VideoFrame[] = [];
  frames.subscribe(
    { width: 320, height: 180, perSecond: 60, pixels: "gray" },
    (frame) => void gray.push(frame),
  );
  const told = () => findings.map(({ kind, state }) => `${kind} ${state}`);
  await expect.poll(told, within).toContain("audio_loss ended");
  expect(told()).toEqual([
    ...["blackscreen began", "blackscreen ended", "freeze began", "freeze ended"],
    ...["audio_loss began", "audio_loss ended"],
  ]);
  const [first] = gray;
  const frameMs = 40;
  const expectAt = (kind: StreamEvent["kind"], [from, until]: readonly [number, number], errorMs: number) => {
    const event = stream.events(0).find((one) => one.kind === kind);
    const { from_ms = 0, until_ms = 0 } = event?.facts ?? {};
    expect(Math.abs(Number(from_ms) - from * 1_000), `${kind} from ${from_ms}`).toBeLessThanOrEqual(errorMs);
    expect(Math.abs(Number(until_ms) - until * 1_000), `${kind} until ${until_ms}`).toBeLessThanOrEqual(
      errorMs,
    );
    expect((event?.until ?? 0) - (event?.from ?? 0)).toBeCloseTo(Number(until_ms) - Number(from_ms), 0);
  };
  expectAt("black", cues.black, frameMs + 5);
  expectAt("freeze", cues.freeze, frameMs + 5);
  expectAt("silence", cues.silence, 2 * frameMs);
  for (const { frame } of findings) expect(frame?.bytes.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
  const [begin, end] = findings.map(({ frame }) => frame?.bytes.length ?? 0);
  // A black picture takes few bytes.
  expect(begin).toBeLessThan((end ?? 0) / 2);
  expect(first).toMatchObject({ pixels: "gray", space: { width: 320, height: 180, rotation: 0 } });
  // Every frame of the source reached the analysis.
  const times = gray.map(({ presentedMs }) => Math.round(presentedMs));
  expect(times.slice(0, 50)).toEqual(times.slice(0, 50).map((_, at) => (times[0] ?? 0) + at * frameMs));
  expect(frames.perSecond).toBe(25);
  expect(frames.space()).toEqual({ width: 640, height: 360, rotation: 0 });
  expect(stream.hasSound()).toBe(true);
  // The connection stays, and nothing more comes.
  await expect
    .poll(() => controller.status?.(), within)
    .toMatchObject({
      state: "no_signal",
      reason: "no data came for 2 s",
    });
});

it("hears levels and sound at 16 kHz", async () => {
  const { stream } = await opened({ args: moving });
  const { samples, perSecond } = await stream.listen(300, never);
  expect(samples).toHaveLength(0.3 * perSecond);
  let crossings = 0;
  for (let at = 1; at < samples.length; at++)
    if ((samples[at - 1] ?? 0) < 0 && (samples[at] ?? 0) >= 0) crossings++;
  expect(crossings / 0.3).toBeGreaterThan(430);
  expect(crossings / 0.3).toBeLessThan(450);
  const [level] = stream.levels(0).slice(-1);
  expect(level?.peakDb).toBeGreaterThan(-20);
  expect(level?.peakDb).toBeLessThan(-16);
});

it("goes on after a change of size, and says so; the stream may have no sound", async () => {
  const sizes = [
    { seconds: 2, size: "640x360", hasSound: false },
    { seconds: 8, size: "320x240", hasSound: false },
  ];
  const source = await publish(sizes);
  // The connection after the change begins with the new size, as a live source would.
  const { stream, frames, findings } = await opened({ http: source.url });
  expect(stream.hasSound()).toBe(false);
  await expect(stream.listen(100, never)).rejects.toMatchObject({ code: "DEVICE_ERROR" });
  const before = source.clients();
  sizes.shift();
  await expect
    .poll(() => stream.events(0), within)
    .toMatchObject([{ kind: "resized", facts: { width: 320, height: 240 } }]);
  expect(source.clients()).toBe(before + 1);
  expect(frames.space()).toEqual({ width: 320, height: 240, rotation: 0 });
  expect(findings).toEqual([]);
});

it("starts ffmpeg again when it is killed, reports the lost signal with its end, and leaves nothing when closed", async () => {
  const mark = "testsrc2=s=322x182:r=25";
  const { controller, findings, statuses, screen, stream } = await opened({ args: lavfi(mark) });
  const [pid] = processesWith(mark);
  if (pid === undefined) throw new Error("No ffmpeg runs.");
  process.kill(pid, "SIGKILL");
  await expect.poll(() => findings.map(({ state }) => state), within).toEqual(["began", "ended"]);
  expect(findings).toMatchObject([
    { kind: "no_signal", frame: { width: 322, height: 182 } },
    { kind: "no_signal", frame: { width: 322, height: 182 } },
  ]);
  expect(stream.events(0)).toMatchObject([{ kind: "lost", until: expect.any(Number) }]);
  expect(statuses.find(({ state }) => state === "no_signal")).toMatchObject({
    fix: expect.stringContaining("controllers.av.args"),
  });
  expect(controller.status?.()).toEqual({ state: "online" });
  expect(await screen.capture({ area: { x: 10, y: 10, width: 20, height: 30 } }, never)).toMatchObject({
    mimeType: "image/png",
    width: 20,
    height: 30,
  });
  await controller.close();
  expect(processesWith(mark)).toEqual([]);
});

it("is open without a signal when the source is silent, and says what to do", async () => {
  const source = await publish([]);
  const url = source.url;
  await source.close();
  const { controller, screen } = await opened({ http: url });
  expect(controller.status?.()).toMatchObject({
    state: "no_signal",
    reason: "connection refused",
  });
  await expect(screen.capture({}, never)).rejects.toMatchObject({ code: "NO_SIGNAL" });
});

it("reads a source that sends what is no video as one without a signal", async () => {
  const file = join(folder, "noise.bin");
  execFileSync("dd", ["if=/dev/urandom", `of=${file}`, "bs=64k", "count=1"], { stdio: "ignore" });
  const { controller } = await opened({ file });
  expect(controller.status?.()).toMatchObject({
    state: "no_signal",
    reason: expect.stringContaining("Invalid data"),
  });
});

it("reads a source that has sound and no picture as one without a signal", async () => {
  const { controller } = await opened({ args: lavfi("sine=f=440:r=48000") });
  expect(controller.status?.()).toMatchObject({
    state: "no_signal",
    reason: "the source has no picture",
  });
});

it("is led to no denied address, neither by a redirect nor by a playlist", async () => {
  const asked: string[] = [];
  const secret = await serve((_request, response) => {
    asked.push("denied");
    response.end();
  });
  const site = await serve(({ url }, response) => {
    asked.push(url ?? "");
    if (url === "/moved") response.writeHead(302, { location: `${secret.url}/metadata` }).end();
    else
      response.end(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${secret.url}/part.ts\n#EXT-X-ENDLIST\n`);
  });
  ends.push(secret.close, site.close);
  const allowUrl = (url: string) => {
    if (url.startsWith(secret.url)) throw new DeviceError("URL_DENIED", `${url} is denied by a test.`);
  };
  for (const settings of [{ http: `${site.url}/moved` }, { hls: `${site.url}/list.m3u8` }]) {
    const { controller } = await opened(settings, { allowUrl });
    expect(controller.status?.()).toMatchObject({
      state: "no_signal",
      reason: expect.stringContaining("is denied by a test"),
    });
  }
  expect(asked).toEqual(expect.arrayContaining(["/moved", "/list.m3u8"]));
  expect(asked).not.toContain("denied");
});

it("does not start for a name that has a denied address", async () => {
  const allowAddress = (address: string) => {
    if (address.startsWith("169.254.")) throw new DeviceError("URL_DENIED", "denied by a test");
  };
  const policy = { allowAddress, resolve: async () => ["169.254.169.254"] };
  await expect(make({ rtsp: "rtsp://tv.example/1" }, policy).open(never)).rejects.toMatchObject({
    code: "URL_DENIED",
  });
});

const probe = (path: string) =>
  execFileSync(
    "ffprobe",
    [
      "-v",
      "error",
      "-count_packets",
      "-show_entries",
      "stream=codec_name,nb_read_packets",
      "-of",
      "csv=p=0",
      path,
    ],
    { encoding: "utf8" },
  ).trim();

it("copies what is encoded into a video with sound, and encodes what is raw", async () => {
  const source = await publish([{ seconds: 20 }]);
  for (const settings of [{ http: source.url }, { args: moving }]) {
    const { controller, recorder, findings, frames } = await opened(settings);
    const to = mkdtempSync(join(folder, "recording-"));
    await recorder.start({ kinds: ["video"], folder: to, mostBytes: 1e8, ended: () => undefined }, never);
    const from = performance.now();
    // Two seconds: with a picture that needs no other.
    await expect.poll(() => frames.ring(from).length, within).toBeGreaterThan(10);
    await expect(
      recorder.start({ kinds: ["video"], folder: to, mostBytes: 1e8, ended: () => undefined }, never),
    ).rejects.toMatchObject({ code: "ACTION_REJECTED" });
    const { files, frames: count, lost } = await recorder.stop(never);
    expect(lost).toEqual([]);
    expect(files).toEqual([{ kind: "video", path: join(to, "video.mp4"), mimeType: "video/mp4" }]);
    const [video, sound] = probe(files[0]?.path ?? "").split("\n");
    expect(video).toBe(`h264,${count}`);
    expect(count).toBeGreaterThan(10);
    expect(sound).toMatch(/^(mp[23]|aac),\d+/);
    expect(findings).toEqual([]);
    await controller.close();
  }
});

it("ends a recording that is full, and gives what there is", async () => {
  const { recorder } = await opened({ args: moving });
  const ended: string[] = [];
  const to = mkdtempSync(join(folder, "full-"));
  await recorder.start(
    { kinds: ["video"], folder: to, mostBytes: 150_000, ended: (why) => ended.push(why) },
    never,
  );
  await expect.poll(() => ended, within).toEqual(["full"]);
  const { files } = await recorder.stop(never);
  expect(readFileSync(files[0]?.path ?? "").length).toBeGreaterThan(10_000);
});

it("ends a recording when its disk is full, and says so", async () => {
  const { recorder, frames } = await opened({ args: moving });
  const ended: string[] = [];
  const to = mkdtempSync(join(folder, "disk-"));
  symlinkSync("/dev/full", join(to, "video.ts"));
  await recorder.start(
    { kinds: ["video"], folder: to, mostBytes: 1e8, ended: (why) => ended.push(why) },
    never,
  );
  await expect.poll(() => ended, within).toEqual(["full"]);
  const { files, lost } = await recorder.stop(never);
  expect({ files, lost }).toEqual({ files: [], lost: [expect.stringContaining("ENOSPC")] });
  // The picture goes on.
  const from = performance.now();
  await expect.poll(() => frames.ring(from).length, within).toBeGreaterThan(0);
});

it("says what is missing: no ffmpeg, no device node, no file", async () => {
  const look = (settings: object, env: Record<string, string>) =>
    avFactory.diagnose?.(avFactory.settings.parse(settings), {
      env,
      addons: controllerContext("lab/tv").addons,
      signal: never,
    });
  expect(await look({ v4l2: "/dev/video99" }, { PATH: folder })).toMatchObject([
    { what: "ffmpeg", status: "missing", fix: expect.stringContaining("apt-get install") },
    { what: "capture source", status: "missing", detail: "/dev/video99 is not there" },
  ]);
  expect(await look({ x11: ":99" }, { PATH: process.env.PATH ?? "" })).toMatchObject([
    { what: "ffmpeg", status: "ok" },
  ]);
  await expect(make({ file: join(folder, "nowhere.mp4") }).open(never)).rejects.toMatchObject({
    code: "DEVICE_NOT_FOUND",
  });
});

it("takes exactly one source, and claims what cannot be shared", () => {
  const { settings, claims } = avFactory;
  expect(settings.safeParse({}).success).toBe(false);
  expect(settings.safeParse({ v4l2: "/dev/video0", file: "a.mp4" }).success).toBe(false);
  expect(settings.safeParse({ rtsp: "file:///etc/passwd" }).success).toBe(false);
  const card = settings.parse({ v4l2: "/dev/video0", audio: { alsa: "hw:1" } });
  expect(claims?.(card)).toEqual(["capture:/dev/video0", "sound:hw:1"]);
});

controllerContract("a capture", async () => ({
  controller: make({ args: still, audio: "none" }),
  factory: avFactory,
  dispose: async () => undefined,
}));

frameSourceContract("a capture", async () => {
  const { controller, frames } = await opened({ args: lavfi("testsrc2=s=640x360:r=25"), audio: "none" });
  return { port: frames, dispose: () => controller.close() };
});

findingSourceContract("a capture", async () => {
  const controller = make({ args: still, audio: "none" });
  if (!controller.findings) throw new Error("A port is missing.");
  return {
    port: controller.findings,
    cause: () => controller.open(never),
    dispose: () => controller.close(),
  };
});
