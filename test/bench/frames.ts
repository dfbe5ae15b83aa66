import { setTimeout as pause } from "node:timers/promises";
import { FrameHub, type VideoFrame } from "@labwright/controllers";
import sharp from "sharp";
import type { Measurement } from "./rows.ts";

const perSecond = 25;
const seconds = 10;
const space = { width: 1280, height: 720, rotation: 0 } as const;
/** So many different pictures, one after the other. */
const pictures = 10;

/** One with noise, since a plain one costs little to encode and to decode. */
async function jpeg(n: number): Promise<Uint8Array> {
  const noise = { type: "gaussian" as const, mean: 40 + n * 15, sigma: 20 };
  const { width, height } = space;
  return sharp({ create: { width, height, channels: 3, background: "#000", noise } })
    .jpeg({ quality: 80 })
    .toBuffer();
}

/** 25 frames a second of JPEG to three readers: as JPEG in full size, and as gray of 320x180 to two. */
export async function measureFrames(note: (line: string) => void): Promise<Measurement[]> {
  const sources = await Promise.all(Array.from({ length: pictures }, (_, n) => jpeg(n)));
  const hub = new FrameHub({ perSecond });
  const lateMs: number[] = [];
  const readers = [
    { ...space, pixels: "jpeg" },
    { width: 320, height: 180, pixels: "gray" },
    { width: 320, height: 180, pixels: "gray" },
  ] as const;
  const got = readers.map(() => new Set<number>());
  const subscriptions = readers.map((format, index) =>
    hub.subscribe({ ...format, perSecond }, (frame: VideoFrame) => {
      got[index]?.add(frame.number);
      lateMs.push(performance.now() - frame.arrivedAt);
    }),
  );
  const cpu = process.cpuUsage();
  const frames = perSecond * seconds;
  const started = performance.now();
  for (let n = 0; n < frames; n++) {
    await pause(Math.max(0, started + (n * 1_000) / perSecond - performance.now()));
    const bytes = sources[n % pictures] ?? new Uint8Array();
    hub.push({ bytes, pixels: "jpeg", space, presentedMs: (n * 1_000) / perSecond });
  }
  await pause(1_000);
  const used = process.cpuUsage(cpu);
  const dropped = subscriptions.reduce((sum, subscription) => sum + subscription.dropped, 0);
  hub.end();
  const lost = frames * readers.length - got.reduce((sum, numbers) => sum + numbers.size, 0);
  const cpuMs = (used.user + used.system) / 1_000 / frames;
  note(
    `frames: ${frames} to ${readers.length} readers; ${dropped} dropped, at most ${Math.round(Math.max(...lateMs))} ms late, ${cpuMs.toFixed(1)} ms of processor for each`,
  );
  return [
    { id: "frames.lost", ours: lost, runs: frames },
    { id: "frames.decoded", ours: hub.decoded / frames, runs: frames },
  ];
}
