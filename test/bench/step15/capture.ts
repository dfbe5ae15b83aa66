import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { ffmpegArguments } from "#controllers/av/arguments.ts";
import { avSettingsSchema } from "#controllers/av/settings.ts";
import type { Measurement } from "../rows.ts";

const seconds = 20;
const rounds = 3;
const quiet = ["-nostdin", "-v", "error", "-y"];

/** CPU seconds of one ffmpeg, by its own count. Its pipes are read and their bytes dropped. */
async function cpuOf(args: readonly string[]): Promise<number> {
  const child = spawn("ffmpeg", args, { stdio: ["ignore", ...Array<"pipe">(8).fill("pipe")] });
  let said = "";
  child.stdio.forEach((stream, at) => {
    if (stream instanceof Readable)
      stream.on("data", (bytes: Buffer) => {
        if (at === 2) said += bytes.toString("utf8");
      });
  });
  const [code] = await once(child, "close");
  const times = /bench: utime=([\d.]+)s stime=([\d.]+)s/.exec(said);
  if (code !== 0 || !times) throw new Error(`ffmpeg failed: ${said.slice(-500)}`);
  return Number(times[1]) + Number(times[2]);
}

/** What a capture of 1080p25 H.264 with sound costs: CPU seconds for each second of the stream, decoding included. */
export async function measureCapture(): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), "labwright-capture-"));
  try {
    const clip = join(folder, "clip.ts");
    const made = spawn("ffmpeg", [
      ...[...quiet, "-f", "lavfi", "-i", `testsrc2=s=1920x1080:r=25:d=${seconds}`],
      ...["-f", "lavfi", "-i", `sine=r=48000:d=${seconds}`, "-c:v", "libx264", "-preset", "veryfast"],
      ...["-pix_fmt", "yuv420p", "-g", "50", "-c:a", "aac", clip],
    ]);
    if ((await once(made, "close"))[0] !== 0) throw new Error("ffmpeg made no clip");
    const settings = avSettingsSchema.parse({ args: ["-benchmark", "-threads", "1", "-i", clip] });
    const costs: number[] = [];
    for (let round = 0; round < rounds; round++)
      costs.push((await cpuOf(ffmpegArguments(settings, { hasSound: true, recording: "copy" }))) / seconds);
    return [{ id: "capture.cpu", ours: Math.min(...costs), runs: rounds }];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
