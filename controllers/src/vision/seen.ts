import type { ControllerContext, Reading, ReadOptions } from "../contract.ts";
import { inconclusive } from "../elements/readings.ts";
import { DeviceError } from "../errors.ts";
import { framesOf, latestDelayMs } from "../frames/available.ts";
import type { FrameFormat, Moment, VideoFrame } from "../ports.ts";
import type { Frame, Rect, Space } from "../shapes.ts";

/**
 * Two pictures are alike if the mean of no tile of 4 x 4 pixels differs by more than this, of 255. A picture that stands still
 * differs by 1 to 5 in H.264, and by up to 9 after a keyframe; an i for an l by 10 in the faintest text of 20 pixels that is read.
 */
const tile = 4;
const alikeWithin = 6;

/** Row by row; three bytes a pixel for `rgb`. */
export type Pixels = { bytes: Uint8Array; width: number; height: number };

let pictures = 0;

/** One picture of a device, decoded once for each kind of pixels that is wanted. */
export class Seen {
  readonly space: Space;
  readonly arrivedAt: Moment;
  /** The same for pictures that are the same bytes, as far as that is known. */
  readonly number: number;
  /** Raw pixels, or a file. */
  readonly #pixels: FrameFormat["pixels"] | "png";
  readonly #bytes: Uint8Array;
  readonly #made: Map<"gray" | "rgb", Promise<Pixels>>;

  /** What was made of the picture before is used again if both are the same bytes. */
  constructor(given: VideoFrame | (Frame & { arrivedAt?: Moment }), before?: Seen) {
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
    const isSame = before !== undefined && this.#isSameAs(before);
    this.number = isSame ? before.number : ++pictures;
    this.#made = isSame ? before.#made : new Map();
  }

  gray = (): Promise<Pixels> => this.#as("gray");
  rgb = (): Promise<Pixels> => this.#as("rgb");

  /** Whether this one shows what the other shows, in an area of whole pixels or as a whole. Pictures of other sizes never do. */
  async isLike(other: Seen, area?: Rect): Promise<boolean> {
    if (this.#isSameAs(other)) return true;
    const [one, two] = await Promise.all([this.gray(), other.gray()]);
    if (one.width !== two.width || one.height !== two.height) return false;
    const { x, y, width, height } = area ?? { x: 0, y: 0, width: one.width, height: one.height };
    for (let top = y; top < y + height; top += tile)
      for (let left = x; left < x + width; left += tile) if (!isSameTile(one, two, left, top)) return false;
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

  #isSameAs(other: Seen): boolean {
    const isSameKind = this.#pixels === other.#pixels && this.space.width === other.space.width;
    return isSameKind && Buffer.compare(this.#bytes, other.#bytes) === 0;
  }

  #as(pixels: "gray" | "rgb"): Promise<Pixels> {
    const made = this.#made.get(pixels) ?? this.#convert(pixels);
    this.#made.set(pixels, made);
    return made;
  }

  async #convert(pixels: "gray" | "rgb"): Promise<Pixels> {
    const { width, height } = this.space;
    if (this.#pixels === pixels) return { bytes: this.#bytes, width, height };
    const sharp = await loadSharp();
    const { data, info } = await sharp(this.#bytes, this.#raw())
      .flatten()
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

/** The last picture of each device: checks that run together get the same one, byte by byte. */
const latest = new WeakMap<ControllerContext, Seen>();

/**
 * The picture that a check judges: the one that was given to it, the newest frame, or a screenshot. A frame counts that the device
 * showed since the last input, by the delay of its capture and the error of that. The reason instead where there is none: then the
 * check is inconclusive.
 */
export async function see(
  context: ControllerContext,
  { frame, since = 0 }: ReadOptions,
  signal: AbortSignal,
): Promise<Seen | string> {
  const picture = frame ?? (await pictureOf(context, since, signal));
  if (typeof picture === "string") return picture;
  const seen = new Seen(picture, latest.get(context));
  latest.set(context, seen);
  return seen;
}

async function pictureOf({ device }: ControllerContext, since: Moment, signal: AbortSignal) {
  try {
    const frames = framesOf(device);
    if (!frames) return await device.screen().capture({}, signal);
    const newest = await frames.latest(signal);
    const isStale = newest.arrivedAt - latestDelayMs(device) < since;
    return isStale ? "no frame has come since the last input" : newest;
  } catch (error) {
    if (error instanceof DeviceError && (error.code === "DEVICE_ERROR" || error.code === "NO_SIGNAL"))
      return error.message;
    throw error;
  }
}

/**
 * A reading of the picture that {@link see} gives. Inconclusive without one, and where this machine lacks what judges it or is
 * too slow: the picture is neither right nor wrong then.
 */
export async function judge(
  context: ControllerContext,
  { expected, look, signal }: { expected: string; look: ReadOptions; signal: AbortSignal },
  read: (seen: Seen) => Promise<Reading>,
): Promise<Reading> {
  const seen = await see(context, look, signal);
  if (typeof seen === "string") return inconclusive(expected, seen);
  try {
    return await read(seen);
  } catch (error) {
    if (error instanceof DeviceError && /^(ADDON_|COMMAND_TIMEOUT$)/.test(error.code))
      return inconclusive(expected, error.message);
    throw error;
  }
}

const loadSharp = async () => (await import("sharp")).default;

function isSameTile(one: Pixels, other: Pixels, left: number, top: number): boolean {
  let [difference, count] = [0, 0];
  const [right, bottom] = [Math.min(left + tile, one.width), Math.min(top + tile, one.height)];
  for (let y = top; y < bottom; y++)
    for (let at = y * one.width + left; at < y * one.width + right; at++) {
      difference += (one.bytes[at] ?? 0) - (other.bytes[at] ?? 0);
      count++;
    }
  return Math.abs(difference) <= alikeWithin * count;
}
