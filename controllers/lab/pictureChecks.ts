import { z } from "zod";
import {
  type Check,
  type ControllerContext,
  DeviceError,
  defineCheck,
  type Frame,
  type Rect,
  type ReferencePicture,
  rectIn,
  type Space,
  type VideoFrame,
} from "../src/index.ts";

/** Both pictures are compared in this many pixels, so that what compresses or scales them does not count. */
const compared = 64;

/** A picture whatever it came as. */
type Judged = { bytes: Uint8Array; space: Space; raw?: 1 | 3 };

/** Checks of what a viewer sees, by the pictures of whichever controller of the device gives them. */
export function pictureChecks(context: ControllerContext): Check[] {
  return [
    defineCheck({
      name: "picture_shown",
      description: "The screen shows a reference where it was saved, as like as score says (0 to 1)",
      byPicture: true,
      input: z.strictObject({
        reference: z.string().min(1).max(200),
        score: z.number().min(0).max(1).default(0.95),
      }),
      async read({ reference, score: least }, signal, { frame } = {}) {
        const expected = `the screen shows "${reference}" by ${least} or more`;
        const wanted = await context.reference(reference, signal);
        const seen = await pictureOf(context, frame, signal);
        if (typeof seen === "string")
          return { holds: false, expected, actual: "no picture", inconclusive: seen };
        const area = areaOf(wanted, seen.judged.space);
        const score = likeness(await grayOf(seen.judged, area), await grayOf(judgedOf(wanted.picture)));
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

/** The picture to judge, or why there is none: then nobody can tell what the screen shows. */
async function pictureOf(
  context: ControllerContext,
  frame: VideoFrame | undefined,
  signal: AbortSignal,
): Promise<{ judged: Judged; frame?: Frame } | string> {
  if (frame) {
    const raw = { gray: 1, rgb: 3, jpeg: undefined } as const;
    const channels = raw[frame.pixels];
    return { judged: { bytes: frame.bytes, space: frame.space, ...(channels && { raw: channels }) } };
  }
  try {
    const latest = await context.device.frames().latest(signal);
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

/** Where the reference stands in a picture of the screen now. Throws SPACE_MISMATCH. */
function areaOf({ area, space }: ReferencePicture, now: Space): Rect {
  const whole = { x: 0, y: 0, width: now.width, height: now.height };
  if (!area) return whole;
  return space ? rectIn(now, area, { ...space, rotation: now.rotation }) : area;
}

async function grayOf({ bytes, space, raw }: Judged, area?: Rect): Promise<Uint8Array> {
  const { default: sharp } = await import("sharp");
  const { width, height } = space;
  const picture = sharp(bytes, raw && { raw: { width, height, channels: raw } });
  if (area) picture.extract(wholePixels(area));
  return picture.resize(compared, compared, { fit: "fill" }).removeAlpha().grayscale().raw().toBuffer();
}

const wholePixels = ({ x, y, width, height }: Rect) => ({
  left: Math.round(x),
  top: Math.round(y),
  width: Math.round(width),
  height: Math.round(height),
});

/** 1 for the same, 0 for black beside white, in thousandths. */
function likeness(one: Uint8Array, other: Uint8Array): number {
  const squares = one.reduce((sum, value, at) => sum + (value - (other[at] ?? 0)) ** 2, 0);
  return Math.round(1_000 * (1 - Math.sqrt(squares / one.length) / 255)) / 1_000;
}
