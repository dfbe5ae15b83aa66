import type { Frame, ScreenSource, Space } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { ScreenReader } from "../screens/reader.ts";
import { clipped } from "../spaces.ts";
import type { AndroidDevice } from "./device.ts";
import { rotationIn, rotationLine } from "./sensors.ts";

/** Loaded with the first picture: its libraries cost 30 MB. */
const loadSharp = async () => (await import("sharp")).default;

const captureMs = 20_000;
/** A display of 8K. */
const mostBytes = 140_000_000;
const jpegQuality = 85;
/** Sixteen pixels. */
const sampledBytes = 64;
/** Raw: to pack a PNG on the device takes it three times as long (`research/mobile.md`). What follows is how it is turned. */
const captureLine = `screencap; ${rotationLine}`;
/** The focus stands among the displays since Android 10, and among the windows before. */
const secureLine =
  "dumpsys window displays | grep mCurrentFocus=; dumpsys window windows | grep -E 'Window #|mCurrentFocus=|fl=|SECURE'";

type Raw = { width: number; height: number; pixels: Buffer; rest: string };

/** Pictures by `screencap`. Throws SECURE_SCREEN where an app forbids them. */
export function createScreen(device: AndroidDevice, reader: ScreenReader): ScreenSource {
  return {
    async capture({ area, ref, format }, signal) {
      const { screen: natural } = device.facts();
      const raw = await captureRaw(device, signal);
      const rotation = rotationIn(raw.rest) ?? (isTurned(raw, natural) ? 90 : 0);
      const space: Space = { width: raw.width, height: raw.height, rotation };
      const takenAt = new Date().toISOString();
      const wanted = ref === undefined ? area : (await reader.ofRef(ref, signal)).rect;
      const part = wanted && clipped(wanted, space);
      if (wanted !== undefined && part === undefined)
        throw new DeviceError("INVALID_PARAMS", "The area lies beyond the screen. Give one that is on it.");
      const { bytes, width, height } = await encode(raw, part, format);
      const mimeType: Frame["mimeType"] = format === "jpeg" ? "image/jpeg" : "image/png";
      return { mimeType, bytes, width, height, rotation, takenAt };
    },
  };
}

const isTurned = (one: { width: number; height: number }, other: { width: number; height: number }) =>
  one.width > one.height !== other.width > other.height;

async function captureRaw(device: AndroidDevice, signal: AbortSignal): Promise<Raw> {
  const output = await device.link().bytes(captureLine, signal, { timeoutMs: captureMs, mostBytes });
  const raw = parseRaw(output.stdout);
  if (raw !== undefined && !isMostlyBlack(raw.pixels)) return raw;
  if (await isSecure(device, signal)) {
    throw new DeviceError(
      "SECURE_SCREEN",
      "The app in front forbids pictures of its screen (FLAG_SECURE), so there is none. Read its elements with dump_ui_elements.",
    );
  }
  if (raw !== undefined) return raw;
  const said = `${output.stderr} ${output.stdout.subarray(0, 300).toString("latin1")}`.trim();
  throw new DeviceError(
    "DEVICE_ERROR",
    `screencap gave no picture: ${said.slice(0, 300) || "nothing"}. See whether the screen is on.`,
  );
}

/**
 * Width, height and format in 32 bits each, since Android 9 the colour space too, then the pixels row by row: RGBA or RGBX
 * (PixelFormat 1 and 2). Undefined for anything else.
 */
function parseRaw(output: Buffer): Raw | undefined {
  if (output.length < 16) return undefined;
  const [width, height, format] = [output.readUInt32LE(0), output.readUInt32LE(4), output.readUInt32LE(8)];
  if (width === 0 || height === 0 || (format !== 1 && format !== 2)) return undefined;
  const size = width * height * 4;
  for (const header of [16, 12]) {
    const rest = output.subarray(header + size).toString("latin1");
    const isWhole = output.length >= header + size && /^(?:[^\n]*Rotation=[^\n]*\n?)*$/.test(rest);
    if (isWhole) return { width, height, pixels: output.subarray(header, header + size), rest };
  }
  return undefined;
}

/** As a screen is whose app forbids pictures, but for the bars of the system. Every sixteenth pixel is looked at. */
function isMostlyBlack(pixels: Buffer): boolean {
  let black = 0;
  for (let at = 0; at + 2 < pixels.length; at += sampledBytes)
    if (pixels[at] === 0 && pixels[at + 1] === 0 && pixels[at + 2] === 0) black++;
  return black * 2 > pixels.length / sampledBytes;
}

/** Whether the window that has the focus forbids pictures. */
async function isSecure(device: AndroidDevice, signal: AbortSignal): Promise<boolean> {
  const { stdout } = await device.link().script(secureLine, signal);
  const [displays = "", ...windows] = stdout.split(/^\s*(?=Window #)/m);
  const last = windows.at(-1) ?? "";
  const focused = [...`${displays}\n${last}`.matchAll(/mCurrentFocus=Window\{\w+ ([^}\n]+)\}/g)];
  return focused.some(([, name]) =>
    windows.some((text) => text.includes(` ${name}}:`) && /\bSECURE\b/.test(text)),
  );
}

type Area = { x: number; y: number; width: number; height: number };

async function encode(raw: Raw, part: Area | undefined, format: "jpeg" | undefined) {
  const sharp = await loadSharp();
  const { width, height, pixels } = raw;
  const whole = sharp(pixels, { raw: { width, height, channels: 4 } });
  const cut = part === undefined ? whole : whole.extract(inPixels(part));
  const opaque = cut.removeAlpha();
  const packed =
    format === "jpeg" ? opaque.jpeg({ quality: jpegQuality }) : opaque.png({ compressionLevel: 3 });
  const { data, info } = await packed.toBuffer({ resolveWithObject: true });
  return { bytes: data, width: info.width, height: info.height };
}

function inPixels({ x, y, width, height }: Area) {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  return { left, top, width: Math.max(1, Math.floor(width)), height: Math.max(1, Math.floor(height)) };
}
