import { execFile } from "node:child_process";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { inflateRawSync } from "node:zlib";
import type { Recorder, Recording, RecordingLoss } from "@labwright/controllers";
import sharp from "sharp";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { failureOf, makeWebDevice, openWebDevice, type WebDevice } from "./webDevice.ts";

const run = promisify(execFile);
const NEVER = new AbortController().signal;
const viewport = { width: 640, height: 360 };

const site = shared(startSite);
const player = shared(() => openWebDevice());
beforeAll(() => player.run("navigate_to_url", { url: `${site.url}/second` }));

let device: WebDevice;
let recorder: Recorder;
let ended: RecordingLoss[];
beforeEach(async () => {
  device = await openWebDevice({ settings: { viewport } });
  recorder = recorderOf(device);
  ended = [];
});
afterEach(() => device.close());

function recorderOf({ web }: WebDevice): Recorder {
  if (web.recorder === undefined) throw new Error("web has no recorder");
  return web.recorder;
}

async function start(kinds: Recorder["kinds"] = ["video", "trace"], mostBytes = 50_000_000) {
  const folder = join(device.folder, "recording");
  await mkdir(folder, { recursive: true });
  await recorder.start({ kinds, folder, mostBytes, ended: (reason) => ended.push(reason) }, NEVER);
}

/** Shows one colour all over, so that a frame says what was to be seen. */
const paint = (colour: string) =>
  device.js(`document.body.innerHTML = ""; document.documentElement.style.background = "${colour}"`);

const colourNames: Readonly<Record<string, string>> = { "100": "red", "010": "lime", "001": "blue" };

/** The colours that a real player, Chromium's, shows of the video, in order, each once; and the video's length. */
const playedSchema = z.object({
  durationMs: z.number(),
  width: z.number(),
  height: z.number(),
  colours: z.array(z.string()),
});
async function play(recording: Recording) {
  const video = fileOf(recording, "video");
  expect(video.mimeType).toBe("video/webm");
  const base64 = (await readFile(video.path)).toString("base64");
  const result = await player.js(`return (async () => {
    const video = document.createElement("video");
    video.muted = true;
    video.src = "data:video/webm;base64,${base64}";
    const until = (name) => new Promise((resolve, reject) => {
      video.addEventListener(name, resolve, { once: true });
      video.addEventListener("error", () => reject(new Error("not playable: " + video.error.message)), { once: true });
    });
    await until("loadeddata");
    const { duration, videoWidth: width, videoHeight: height } = video;
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    const colours = [];
    const names = ${JSON.stringify(colourNames)};
    const look = () => {
      canvas.drawImage(video, width / 2, height / 2, 1, 1, 0, 0, 1, 1);
      const rgb = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
      const colour = names[rgb.map((one) => (one > 128 ? 1 : 0)).join("")];
      if (colour && colours.at(-1) !== colour) colours.push(colour);
    };
    for (let n = 0; n <= duration / 0.04 + 1; n++) {
      const sought = until("seeked");
      video.currentTime = Math.min(n * 0.04, duration - 0.001);
      await sought;
      look();
    }
    // On a busy machine the player may say that it is there a moment before it draws the picture.
    for (let n = 0; n < 20; n++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      look();
    }
    return { durationMs: duration * 1000, width, height, colours };
  })()`);
  return playedSchema.parse(result);
}

function fileOf({ files }: Recording, kind: "video" | "trace") {
  const file = files.find((one) => one.kind === kind);
  if (file === undefined) throw new Error(`there is no ${kind}: ${JSON.stringify(files)}`);
  return file;
}

/** The lines of a trace.zip that Playwright wrote, by the offsets of its central directory. */
async function traceText(path: string): Promise<string> {
  const zip = await readFile(path);
  const directory = zip.indexOf("PK\u0001\u0002", 0, "latin1");
  for (let at = directory; zip.readUInt32LE(at) === 0x02014b50; ) {
    const name = zip.toString("utf8", at + 46, at + 46 + zip.readUInt16LE(at + 28));
    const local = zip.readUInt32LE(at + 42);
    const data = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    if (name === "trace.trace")
      return inflateRawSync(zip.subarray(data, data + zip.readUInt32LE(at + 20))).toString("utf8");
    at += 46 + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`${path} has no trace.trace`);
}

/** The colour of the last picture that is in the video by now: a frame as WebP, which sharp reads. */
async function lastColour(): Promise<string | undefined> {
  const file = await readFile(join(device.folder, "recording", "video.webm")).catch(() => Buffer.alloc(0));
  const cluster = file.lastIndexOf(Buffer.from("1f43b675", "hex"));
  if (cluster < 0) return undefined;
  // Behind the heads of the cluster, its time, the block and the frame.
  const vp8 = file.subarray(cluster + 30);
  const head = Buffer.from("RIFF____WEBPVP8 ____");
  head.writeUInt32LE(vp8.length + 12, 4);
  head.writeUInt32LE(vp8.length, 16);
  const webp = Buffer.concat([head, vp8, Buffer.alloc(vp8.length % 2)]);
  const pixel = await sharp(webp).resize(1, 1).removeAlpha().raw().toBuffer();
  return colourNames[[...pixel].map((one) => (one > 128 ? 1 : 0)).join("")];
}

/** Waits until the video shows it. */
const recorded = (colour: string) => expect.poll(lastColour, { timeout: 20_000 }).toBe(colour);

describe("a recording of a browser", () => {
  it("is a video that a browser plays, as long as it took, with what was seen in its order", async () => {
    await paint("red");
    const from = performance.now();
    await start(["video"]);
    for (const colour of ["red", "lime", "blue"]) {
      await paint(colour);
      await recorded(colour);
    }
    const recording = await recorder.stop(NEVER);
    const tookMs = performance.now() - from;
    expect(recording).toMatchObject({ files: [{ kind: "video" }], lost: [] });
    expect(recording.frames).toBeGreaterThanOrEqual(4);
    const played = await play(recording);
    expect(played).toMatchObject({ ...viewport, colours: ["red", "lime", "blue"] });
    expect(played.durationMs).toBeGreaterThan(0);
    expect(played.durationMs).toBeLessThanOrEqual(tookMs);
    expect(ended).toEqual([]);
  });

  it("is a trace with the actions in it, each by its name", async () => {
    await start(["trace"]);
    await device.run("navigate_to_url", { url: site.url });
    await device.run("input_text", { selector: "Query", text: "typed" });
    await device.run("click_element", { selector: "Second page" });
    const recording = await recorder.stop(NEVER);
    expect(recording).toMatchObject({ frames: 0, lost: [], files: [{ mimeType: "application/zip" }] });
    const text = await traceText(fileOf(recording, "trace").path);
    expect(text).toMatch(/"method":"goto".*"url":"http:/);
    for (const title of ["navigate_to_url", "input_text Query", "click_element Second page"])
      expect(text).toContain(`"title":"${title}"`);
    expect(text).toMatch(/"method":"(mouseClick|click)"/);
  });

  it("follows to a tab that is opened later, and back to one that stands still", async () => {
    await paint("red");
    await start(["video"]);
    await recorded("red");
    await device.run("open_tab", {});
    await paint("blue");
    await recorded("blue");
    await device.run("switch_tab", { tab: 0 });
    await recorded("red");
    expect((await play(await recorder.stop(NEVER))).colours).toEqual(["red", "blue", "red"]);
  });

  it("goes on when the browser is emptied, with a trace of each part", async () => {
    await paint("red");
    await start();
    await recorded("red");
    await device.run("load_storage_state", {});
    await device.run("navigate_to_url", { url: `${site.url}/second` });
    await paint("blue");
    await recorded("blue");
    const recording = await recorder.stop(NEVER);
    expect(recording.files.map(({ kind }) => kind)).toEqual(["video", "trace", "trace"]);
    const { colours } = await play(recording);
    expect([colours.at(0), colours.at(-1)]).toEqual(["red", "blue"]);
    expect(await traceText(recording.files[2]?.path ?? "")).toMatch(/"method":"goto".*\/second/);
    expect(ended).toEqual([]);
  });

  it("keeps the video and says that the trace is lost when the browser is killed", async () => {
    await paint("red");
    await start();
    await recorded("red");
    await killBrowser();
    await expect.poll(() => ended, { timeout: 10_000 }).toEqual(["device_lost"]);
    const recording = await recorder.stop(NEVER);
    expect(recording.lost).toEqual([expect.stringMatching(/^trace: .*lost/)]);
    expect((await play(recording)).colours).toEqual(["red"]);
    await device.web.open(NEVER);
    await start(["trace"]);
    expect((await recorder.stop(NEVER)).lost).toEqual([]);
  });

  it("ends with the device, and loses nothing", async () => {
    await paint("lime");
    await start();
    await recorded("lime");
    await device.web.close();
    expect(ended).toEqual(["device_closed"]);
    const recording = await recorder.stop(NEVER);
    expect(recording).toMatchObject({ lost: [], files: [{ kind: "video" }, { kind: "trace" }] });
    expect((await play(recording)).colours).toEqual(["lime"]);
  });

  it("ends when its video is as large as it may be", async () => {
    await start(["video"], 3_000);
    await device.js("setInterval(() => { document.body.textContent = Math.random() }, 50)");
    await expect.poll(() => ended.length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(ended[0]).toBe("full");
    const recording = await recorder.stop(NEVER);
    expect((await stat(fileOf(recording, "video").path)).size).toBeLessThan(30_000);
  });

  it("is the only one of its browser, and can be stopped once", async () => {
    await start(["video"]);
    expect(await failureOf(start(["video"]))).toMatchObject({ code: "ACTION_REJECTED" });
    await recorder.stop(NEVER);
    expect(await failureOf(recorder.stop(NEVER))).toMatchObject({ code: "ACTION_REJECTED" });
  });

  it("does not begin without a browser, and can begin when there is one", async () => {
    const closed = await makeWebDevice();
    const options = { kinds: ["video"] as const, folder: closed.folder, mostBytes: 1_000, ended: () => {} };
    expect(await failureOf(recorderOf(closed).start(options, NEVER))).toMatchObject({ code: "DEVICE_LOST" });
    await closed.web.open(NEVER);
    await recorderOf(closed).start(options, NEVER);
    await closed.close();
  });
});

/** Ends the browser that this process started last, which is the recorded one. */
async function killBrowser(): Promise<void> {
  const { stdout } = await run("ps", [
    "-o",
    "pid=,args=",
    "--sort=start_time",
    "--ppid",
    String(process.pid),
  ]);
  const browsers = stdout.split("\n").filter((line) => line.includes("--remote-debugging-pipe"));
  const last = browsers.at(-1)?.trim().split(" ", 1)[0];
  if (last === undefined) throw new Error(`no browser among ${stdout}`);
  process.kill(Number(last), "SIGKILL");
}
