import { z } from "zod";
import type { Frame, Rect, ScreenSource, Space } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { Point } from "../screens/pointing.ts";
import type { ScreenReader } from "../screens/reader.ts";
import { clipped } from "../spaces.ts";
import type { AppiumDevice } from "./device.ts";

/** Loaded with the first picture: its libraries cost 30 MB. */
const loadSharp = async () => (await import("sharp")).default;

const captureMs = 60_000;
const jpegQuality = 85;

/** Pictures, and what a pixel of them is in the units of the tree: iOS counts in points. */
export type Pictures = {
  screen: ScreenSource;
  /** A point of a picture of the whole screen, in the units of the tree. */
  inTree(pixel: Point, signal: AbortSignal): Promise<Point>;
};

type Taken = { png: Buffer; space: Space };

/** Pictures by WebDriver's screenshot. Throws SECURE_SCREEN where an app forbids them. */
export function createPictures(device: AppiumDevice, reader: ScreenReader): Pictures {
  /** Pixels of a unit of the tree: the same for as long as it is the same device. */
  let scale: number | undefined;
  const take = async (signal: AbortSignal): Promise<Taken> => {
    const taken = await takePicture(device, signal);
    const { screen } = device.facts();
    const width = taken.space.rotation === 0 ? screen.width : screen.height;
    scale = device.facts().platform === "android" ? 1 : taken.space.width / width;
    return taken;
  };
  return {
    async inTree({ x, y }, signal) {
      if (scale === undefined && device.facts().platform !== "android") await take(signal);
      const by = scale ?? 1;
      return { x: Math.floor(x / by), y: Math.floor(y / by) };
    },
    screen: {
      async capture({ area, ref, format }, signal) {
        const { png, space } = await take(signal);
        const takenAt = new Date().toISOString();
        const element = ref === undefined ? undefined : (await reader.ofRef(ref, signal)).rect;
        const wanted = element ? scaled(element, scale ?? 1) : area;
        const part = wanted && clipped(wanted, space);
        if (wanted !== undefined && part === undefined)
          throw new DeviceError("INVALID_PARAMS", "The area lies beyond the screen. Give one that is on it.");
        const { bytes, width, height } = await encode(png, part, format);
        const mimeType: Frame["mimeType"] = format === "jpeg" ? "image/jpeg" : "image/png";
        return { mimeType, bytes, width, height, rotation: space.rotation, takenAt };
      },
    },
  };
}

async function takePicture(device: AppiumDevice, signal: AbortSignal): Promise<Taken> {
  const base64 = await device.call("takeScreenshot", [], signal, { timeoutMs: captureMs });
  const png = Buffer.from(z.string().parse(base64), "base64");
  const { width, height } = await (await loadSharp())(png).metadata();
  const { screen } = device.facts();
  const isTurned = width > height !== screen.width > screen.height;
  return { png, space: { width, height, rotation: isTurned ? 90 : 0 } };
}

const scaled = ({ x, y, width, height }: Rect, by: number): Rect => ({
  ...{ x: x * by, y: y * by },
  ...{ width: width * by, height: height * by },
});

async function encode(png: Buffer, part: Rect | undefined, format: "jpeg" | undefined) {
  const sharp = await loadSharp();
  const whole = sharp(png).removeAlpha();
  const cut = part === undefined ? whole : whole.extract(inPixels(part));
  const packed = format === "jpeg" ? cut.jpeg({ quality: jpegQuality }) : cut.png({ compressionLevel: 3 });
  const { data, info } = await packed.toBuffer({ resolveWithObject: true });
  return { bytes: data, width: info.width, height: info.height };
}

const inPixels = ({ x, y, width, height }: Rect) => ({
  ...{ left: Math.floor(x), top: Math.floor(y) },
  ...{ width: Math.max(1, Math.floor(width)), height: Math.max(1, Math.floor(height)) },
});
