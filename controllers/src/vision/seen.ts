import type { ControllerContext, ReadOptions } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { framesOf, latestDelayMs } from "../frames/available.ts";
import type { FrameFormat, Moment, VideoFrame } from "../ports.ts";
import type { Frame, Rect, Space } from "../shapes.ts";
import { clipped } from "../spaces.ts";

/** What is compared: small enough to be quick, and every letter of 20 pixels in 1080p still shows in it. */
const glance = { width: 320, height: 180 };
/** Of 255: noise of a camera or of JPEG stays below. */
const sameWithin = 12;

/** Row by row; three bytes a pixel for `rgb`. */
export type Pixels = { bytes: Uint8Array; width: number; height: number };

/** One picture of a device, decoded once for each kind of pixels that is wanted. */
export class Seen {
  readonly space: Space;
  readonly arrivedAt: Moment;
  /** Raw pixels, or a file. */
  readonly #pixels: FrameFormat["pixels"] | "png";
  readonly #bytes: Uint8Array;
  readonly #made = new Map<string, Promise<Pixels>>();

  constructor(given: VideoFrame | (Frame & { arrivedAt?: Moment })) {
    this.#bytes = given.bytes;
    this.arrivedAt = given.arrivedAt ?? performance.now();
    if ("space" in given) {
      this.space = given.space;
      this.#pixels = given.pixels;
    } else {
      const { width, height, rotation } = given;
      this.space = { width, height, rotation };
      this.#pixels = given.mimeType === "image/png" ? "png" : "jpeg";
    }
  }

  gray = (): Promise<Pixels> => this.#as("gray");
  rgb = (): Promise<Pixels> => this.#as("rgb");

  /** Whether both are the same bytes. */
  isIdentical(other: Seen): boolean {
    return this.#pixels === other.#pixels && Buffer.compare(this.#bytes, other.#bytes) === 0;
  }

  /** Whether this one shows what the other shows, in an area or as a whole. Pictures of other sizes never do. */
  async isLike(other: Seen, area?: Rect): Promise<boolean> {
    const { width, height } = this.space;
    if (width !== other.space.width || height !== other.space.height) return false;
    const [one, two] = await Promise.all([this.#as("gray", glance), other.#as("gray", glance)]);
    const part = area ? clipped(scaled(area, one.width / width, one.height / height), one) : wholeOf(one);
    if (!part) return true;
    const [left, right] = [Math.floor(part.x), Math.min(one.width, Math.ceil(part.x + part.width))];
    const bottom = Math.min(one.height, Math.ceil(part.y + part.height));
    for (let y = Math.floor(part.y); y < bottom; y++)
      for (let at = y * one.width + left; at < y * one.width + right; at++)
        if (Math.abs((one.bytes[at] ?? 0) - (two.bytes[at] ?? 0)) > sameWithin) return false;
    return true;
  }

  /** A file for people and reports. */
  async frame(): Promise<Frame> {
    const { width, height, rotation } = this.space;
    const takenAt = new Date(performance.timeOrigin + this.arrivedAt).toISOString();
    const of = { width, height, rotation, takenAt };
    if (this.#pixels === "png") return { ...of, mimeType: "image/png", bytes: this.#bytes };
    if (this.#pixels === "jpeg") return { ...of, mimeType: "image/jpeg", bytes: this.#bytes };
    const sharp = await loadSharp();
    return { ...of, mimeType: "image/png", bytes: await sharp(this.#bytes, this.#raw()).png().toBuffer() };
  }

  #as(pixels: "gray" | "rgb", within?: { width: number; height: number }): Promise<Pixels> {
    const key = `${pixels} ${within?.width ?? ""}`;
    const made = this.#made.get(key) ?? this.#convert(pixels, within);
    this.#made.set(key, made);
    return made;
  }

  async #convert(pixels: "gray" | "rgb", within?: { width: number; height: number }): Promise<Pixels> {
    const { width, height } = this.space;
    if (!within && this.#pixels === pixels) return { bytes: this.#bytes, width, height };
    const sharp = await loadSharp();
    const picture = sharp(this.#bytes, this.#raw()).flatten();
    if (within) picture.resize({ ...within, fit: "inside", withoutEnlargement: true });
    const { data, info } = await picture
      .toColourspace(pixels === "gray" ? "b-w" : "srgb")
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { bytes: data, width: info.width, height: info.height };
  }

  #raw() {
    if (this.#pixels !== "gray" && this.#pixels !== "rgb") return {};
    const { width, height } = this.space;
    return { raw: { width, height, channels: this.#pixels === "gray" ? (1 as const) : (3 as const) } };
  }
}

/**
 * The picture that a check judges: the one that was given to it, the newest frame, or a screenshot. A frame counts that the device
 * showed since the last input, by the delay of its capture and the error of that. The reason instead where there is none: then the check is inconclusive.
 */
export async function see(
  context: ControllerContext,
  { frame, since = 0 }: ReadOptions,
  signal: AbortSignal,
): Promise<Seen | string> {
  if (frame) return new Seen(frame);
  try {
    const frames = framesOf(context.device);
    if (!frames) return new Seen(await context.device.screen().capture({}, signal));
    const latest = await frames.latest(signal);
    const isStale = latest.arrivedAt - latestDelayMs(context.device) < since;
    return isStale ? "no frame has come since the last input" : new Seen(latest);
  } catch (error) {
    if (error instanceof DeviceError && (error.code === "DEVICE_ERROR" || error.code === "NO_SIGNAL"))
      return error.message;
    throw error;
  }
}

const loadSharp = async () => (await import("sharp")).default;
const wholeOf = ({ width, height }: Pixels): Rect => ({ x: 0, y: 0, width, height });
const scaled = ({ x, y, width, height }: Rect, byX: number, byY: number): Rect => ({
  x: x * byX,
  y: y * byY,
  width: width * byX,
  height: height * byY,
});
