import { clipped, type Dump, type Frame, type Rect, rectIn } from "@labwright/controllers";
import type { Clock, OpenDevice, ShownPicture } from "../../ports.ts";
import { findPort } from "../portOf.ts";

/** Loaded when a picture is first worked on: its libraries cost 30 MB. */
export const loadSharp = async () => (await import("sharp")).default;

const jpegQuality = 80;

async function toJpeg(frame: Frame): Promise<Frame> {
  const sharp = await loadSharp();
  const bytes = await sharp(frame.bytes).jpeg({ quality: jpegQuality }).toBuffer();
  return { ...frame, mimeType: "image/jpeg", bytes };
}

const colours = ["#d7263d", "#1b998b", "#2e4bc6", "#b8550a", "#7a28a8"];
/** More marks than this hide the picture. */
const mostMarks = 300;

/** A PNG of the picture with a box and the ref on each element of the dump that lies in it. Throws SPACE_MISMATCH. */
export async function drawMarks(frame: Frame, { elements, space }: Dump): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const { width, height } = frame;
  const marks = elements
    .flatMap(({ ref, rect, interactive }) =>
      rect && interactive ? { ref, rect: rectIn(frame, rect, space) } : [],
    )
    .filter(({ rect }) => clipped(rect, frame))
    .slice(0, mostMarks)
    .map(mark);
  const overlay = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${marks.join("")}</svg>`;
  return sharp(frame.bytes)
    .composite([{ input: Buffer.from(overlay) }])
    .png()
    .toBuffer();
}

function mark({ ref, rect }: { ref: string; rect: Rect }, at: number): string {
  const colour = colours[at % colours.length];
  const labelWidth = ref.length * 7 + 4;
  const x = Math.max(0, rect.x);
  const y = rect.y >= 12 ? rect.y - 12 : Math.max(0, rect.y);
  return (
    `<rect x="${rect.x}" y="${rect.y}" width="${rect.width}" height="${rect.height}" fill="none" stroke="${colour}" stroke-width="2"/>` +
    `<rect x="${x}" y="${y}" width="${labelWidth}" height="12" fill="${colour}"/>` +
    `<text x="${x + 2}" y="${y + 10}" font-family="monospace" font-size="11" fill="#fff">${ref.replace(/[^\w-]/g, "")}</text>`
  );
}

/**
 * A model sees a picture in patches of 28 by 28 pixels. One with more patches is made smaller before some models see it, and
 * the coordinates that they answer with are those of the smaller one. Source: platform.claude.com, Vision.
 */
const patch = 28;
const mostPatches = 1_568;

/** In bytes of base64: hosts cut or refuse a reply with more. */
const mostBase64 = 900 * 1024;
const isFitting = (bytes: Uint8Array) => Math.ceil(bytes.length / 3) * 4 <= mostBase64;
/** How a picture that is too large gets smaller: first its quality, then its size. */
const smaller = [
  { quality: jpegQuality, side: 1 },
  { quality: 50, side: 1 },
  { quality: 50, side: 0.7 },
  { quality: 40, side: 0.5 },
  { quality: 30, side: 0.25 },
];

/** The picture at most `maxSide` pixels on its long side, as every model sees it, and no larger than a reply may be. */
export async function scaleFrame(bytes: Uint8Array, maxSide = 1280): Promise<ShownPicture> {
  const sharp = await loadSharp();
  const { width, height, format } = await sharp(bytes).metadata();
  const longest = Math.max(width, height);
  const side = sideOf({ width, height }, maxSide);
  const resized = (part: number) => {
    const length = Math.max(1, Math.floor(side * part));
    return sharp(bytes).resize({ width: length, height: length, fit: "inside" });
  };
  const own = side === longest ? bytes : await resized(1).toBuffer();
  const shown = { bytes: own, mimeType: `image/${format}`, scale: side / longest };
  for (const { quality, side: part } of smaller) {
    const jpeg = await resized(part).flatten({ background: "#fff" }).jpeg({ quality }).toBuffer();
    if (isFitting(own) && (format !== "png" || own.length <= jpeg.length)) return shown;
    if (isFitting(jpeg))
      return { bytes: jpeg, mimeType: "image/jpeg", scale: Math.floor(side * part) / longest };
  }
  throw new Error(`A picture of ${width} by ${height} does not fit into a reply.`);
}

function sideOf({ width, height }: { width: number; height: number }, maxSide: number): number {
  const longest = Math.max(width, height);
  const patchesAt = (side: number) =>
    [width, height]
      .map((one) => Math.ceil(Math.round((one * side) / longest) / patch))
      .reduce((product, count) => product * count, 1);
  let side = Math.min(longest, maxSide);
  while (patchesAt(side) > mostPatches) side -= 1;
  return side;
}

/** A picture that takes longer holds up the steps that it is the evidence of. */
const slowMs = 300;
/** So many in a row have to be slow: a machine that is busy for a moment does not make a device slow. */
const judged = 3;

export class StepPictures {
  private readonly clock: Pick<Clock, "monotonic">;
  /** By device: what the last ones took, in milliseconds. */
  private readonly took = new Map<string, number[]>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.clock = clock;
  }

  /** A JPEG: the latest frame of a device that sends them, else a new picture. Undefined for a device without a screen. */
  async take(device: OpenDevice, signal: AbortSignal): Promise<Frame | undefined> {
    const frames = await findPort(device, "frames", signal);
    if (frames) return frames.latest(signal);
    const source = await findPort(device, "screen", signal);
    if (!source) return undefined;
    const started = this.clock.monotonic();
    const frame = await source.capture({ format: "jpeg" }, signal);
    const took = [...(this.took.get(device.id) ?? []), this.clock.monotonic() - started];
    this.took.set(device.id, took.slice(-judged));
    return frame.mimeType === "image/jpeg" ? frame : toJpeg(frame);
  }

  /** Why not every step has pictures; undefined for a device that gives them soon. */
  slowness(deviceId: string): string | undefined {
    const took = this.took.get(deviceId) ?? [];
    const least = Math.min(...took);
    if (took.length < judged || least <= slowMs) return undefined;
    return `a picture of this device takes ${Math.round(least)} ms: only steps that fail and the last one have them`;
  }
}
