import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ScreenSource } from "@labwright/controllers";
import sharp from "sharp";
import { expect, vi } from "vitest";

const never = new AbortController().signal;

/** The last picture of a video by now, as WebP: behind the heads of its cluster, its time, the block and the frame. */
async function lastPicture(folder: string): Promise<Buffer | undefined> {
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

/** Resolves when the last picture of a recording is what the screen shows. */
export const recordingShows = (folder: string, screen: ScreenSource) =>
  vi.waitFor(
    async () => {
      const [recorded, { bytes }] = [await lastPicture(folder), await screen.capture({}, never)];
      if (recorded === undefined) throw new Error("There is no picture yet.");
      const [one, other] = [await thumbnail(recorded), await thumbnail(bytes)];
      const difference = one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? 0)), 0);
      expect(difference / one.length).toBeLessThan(4);
    },
    { timeout: 20_000, interval: 100 },
  );
