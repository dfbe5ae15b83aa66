import { z } from "zod";
import { ofSubject } from "../src/elements/readings.ts";
import {
  type Check,
  type ControllerContext,
  DeviceError,
  defineCheck,
  type Frame,
  type ReadOptions,
  type Rect,
  type ReferencePicture,
  rectIn,
  type Space,
} from "../src/index.ts";

/** Both pictures are compared at this width, in the shape of the reference, so that compression and scaling count little. */
const comparedWidth = 100;

/** A picture as a file, or as raw pixels of so many channels. */
type Judged = { bytes: Uint8Array; space: Space; raw?: 1 | 3 };

/** Checks of the picture, taken from the device's controller that has frames. */
export function pictureChecks(context: ControllerContext): Check[] {
  return [
    defineCheck({
      name: "picture_shown",
      description: "The screen shows a reference where it was saved, as like as score says (0 to 1)",
      byPicture: true,
      judges: ofSubject,
      input: z.strictObject({
        reference: z.string().min(1).max(200),
        score: z.number().min(0).max(1).default(0.9),
      }),
      async read({ reference, score: least }, signal, look = {}) {
        const expected = `the screen shows "${reference}" by ${least} or more`;
        const wanted = await context.reference(reference, signal);
        const seen = await pictureOf(context, look, signal);
        if (typeof seen === "string")
          return { holds: false, expected, actual: "no picture", inconclusive: seen };
        const area = areaOf(wanted, seen.judged.space);
        const { width, height } = wanted.picture;
        const size = {
          width: comparedWidth,
          height: Math.max(1, Math.round((comparedWidth * height) / width)),
        };
        const saved = await grayOf(judgedOf(wanted.picture), { size });
        const score = likeness(await grayOf(seen.judged, { area, size }), saved);
        const pictures = seen.frame ? [seen.frame] : [];
        return {
          holds: score >= least,
          expected,
          actual: `it is like it by ${score}`,
          score,
          area,
          pictures,
        };
      },
    }),
  ];
}

/** The picture to judge, or the reason why there is none; then the check is inconclusive. */
async function pictureOf(
  context: ControllerContext,
  { frame, since = 0 }: ReadOptions,
  signal: AbortSignal,
): Promise<{ judged: Judged; frame?: Frame } | string> {
  if (frame) {
    const raw = { gray: 1, rgb: 3, jpeg: undefined } as const;
    const channels = raw[frame.pixels];
    return { judged: { bytes: frame.bytes, space: frame.space, ...(channels && { raw: channels }) } };
  }
  try {
    const latest = await context.device.frames().latest(signal);
    if (latest.arrivedAt < since) return "no frame has come since the last input";
    return { judged: judgedOf(latest), frame: latest };
  } catch (error) {
    if (error instanceof DeviceError && error.code === "DEVICE_ERROR") return error.message;
    throw error;
  }
}

const judgedOf = ({ bytes, width, height, rotation }: Frame): Judged => ({
  bytes,
  space: { width, height, rotation },
});

/** The area of the reference in a present picture of the screen. Throws SPACE_MISMATCH. */
function areaOf({ area, space }: ReferencePicture, now: Space): Rect {
  const whole = { x: 0, y: 0, width: now.width, height: now.height };
  if (!area) return whole;
  return space ? rectIn(now, area, { ...space, rotation: now.rotation }) : area;
}

async function grayOf(
  { bytes, space, raw }: Judged,
  { area, size }: { area?: Rect; size: { width: number; height: number } },
): Promise<Uint8Array> {
  const { default: sharp } = await import("sharp");
  const { width, height } = space;
  const picture = sharp(bytes, raw && { raw: { width, height, channels: raw } });
  if (area) picture.extract(wholePixels(area));
  return picture.resize(size.width, size.height, { fit: "fill" }).removeAlpha().grayscale().raw().toBuffer();
}

const wholePixels = ({ x, y, width, height }: Rect) => ({
  left: Math.round(x),
  top: Math.round(y),
  width: Math.round(width),
  height: Math.round(height),
});

/**
 * The correlation of the pixels of two pictures, rounded to thousandths: 1 for equal ones, 0 for unrelated ones. Brightness and
 * contrast do not change it. For pictures without any detail, it is the similarity of their grays.
 */
function likeness(one: Uint8Array, other: Uint8Array): number {
  const [a, b] = [deviations(one), deviations(other)];
  const spread = Math.sqrt(sum(a.of, (value) => value ** 2) * sum(b.of, (value) => value ** 2));
  const score =
    spread === 0
      ? 1 - Math.abs(a.mean - b.mean) / 255
      : sum(a.of, (value, at) => value * (b.of[at] ?? 0)) / spread;
  return Math.round(1_000 * Math.max(0, score)) / 1_000;
}

function deviations(pixels: Uint8Array): { mean: number; of: readonly number[] } {
  const mean = sum(pixels, (value) => value) / pixels.length;
  return { mean, of: Array.from(pixels, (value) => value - mean) };
}

function sum(values: ArrayLike<number>, of: (value: number, at: number) => number): number {
  let total = 0;
  for (let at = 0; at < values.length; at++) total += of(values[at] ?? 0, at);
  return total;
}
