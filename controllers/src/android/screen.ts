import type { ScreenSource } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { screenSource } from "../phones/pictures.ts";
import type { ScreenReader } from "../screens/reader.ts";
import type { AndroidDevice } from "./device.ts";
import { displayIn, displayLine, type OwnDisplay } from "./ui/screenFacts.ts";

const captureMs = 20_000;
const mostBytes = 140_000_000;
/** Sixteen pixels. */
const sampledBytes = 64;
/** Raw, since encoding a PNG on the device takes three times as long. The rotation of the display follows. */
const captureLine = (display: string) => `screencap${display}; echo ${mark}; ${displayLine}`;
const mark = "--labwright--";
/** The focus stands among the displays since Android 10, and among the windows before. */
const secureLine =
  "dumpsys window displays | grep mCurrentFocus=; dumpsys window windows | grep -E 'Window #|mCurrentFocus=|fl=|SECURE'";

type Raw = { width: number; height: number; pixels: Buffer };
type Capture = { raw: Raw | undefined; display: OwnDisplay | undefined; said: string };

/** Pictures by `screencap`. Throws SECURE_SCREEN where an app forbids them. */
export function createScreen(device: AndroidDevice, reader: ScreenReader): ScreenSource {
  const camera = new Camera(device);
  return screenSource(reader, async (signal) => {
    const { raw, display } = await captureRaw(device, camera, signal);
    const { width, height, pixels } = raw;
    const rotation = display?.rotation ?? (isTurned(raw, device.facts().screen) ? 90 : 0);
    return { bytes: pixels, raw: true, space: { width, height, rotation }, scale: 1 };
  });
}

const isTurned = (one: { width: number; height: number }, other: { width: number; height: number }) =>
  one.width > one.height !== other.width > other.height;

type Taken = Capture & { raw: Raw };

async function captureRaw(device: AndroidDevice, camera: Camera, signal: AbortSignal): Promise<Taken> {
  const { raw, display, said } = await camera.take(signal);
  if (raw !== undefined && !isMostlyBlack(raw.pixels)) return { raw, display, said };
  if (await isSecure(device, signal)) {
    throw new DeviceError(
      "SECURE_SCREEN",
      "The app in front forbids pictures of its screen (FLAG_SECURE), so there is none. Read its elements with dump_ui_elements.",
    );
  }
  if (raw !== undefined) return { raw, display, said };
  throw new DeviceError(
    "DEVICE_ERROR",
    `screencap gave no picture: ${said.slice(0, 300) || "nothing"}. See whether the screen is on.`,
  );
}

/**
 * Takes pictures of the device's own display. With several displays, screencap takes the first, which on a folded phone may be
 * the inner one; newer versions print a warning. Then, and from then on, the own display is requested by its number.
 */
class Camera {
  readonly #device: AndroidDevice;
  #option = "";

  constructor(device: AndroidDevice) {
    this.#device = device;
  }

  async take(signal: AbortSignal): Promise<Capture> {
    const first = await capture(this.#device, this.#option, signal);
    const { raw, display, said } = first;
    const isOwn = raw?.width === display?.width && raw?.height === display?.height;
    const option = display?.id === undefined ? "" : ` -d ${display.id}`;
    if (option === this.#option || (isOwn && !/multiple displays/i.test(said))) return first;
    const own = await capture(this.#device, option, signal);
    if (own.raw === undefined) return first;
    this.#option = option;
    return own;
  }
}

async function capture(device: AndroidDevice, display: string, signal: AbortSignal): Promise<Capture> {
  const { stdout, stderr } = await device
    .link()
    .bytes(captureLine(display), signal, { timeoutMs: captureMs, mostBytes });
  const end = stdout.lastIndexOf(mark);
  const output = stdout.subarray(0, Math.max(0, end));
  const said = `${stderr} ${output.subarray(0, 300).toString("latin1")}`.trim();
  return { raw: parseRaw(output), display: displayIn(stdout.toString("utf8", end)), said };
}

/** Header: width, height, format (32 bits each), since Android 9 the colour space; then RGBA or RGBX rows. */
function parseRaw(output: Buffer): Raw | undefined {
  if (output.length < 16) return undefined;
  const [width, height, format] = [output.readUInt32LE(0), output.readUInt32LE(4), output.readUInt32LE(8)];
  if (width === 0 || height === 0 || (format !== 1 && format !== 2)) return undefined;
  const header = output.length - width * height * 4;
  if (header !== 16 && header !== 12) return undefined;
  return { width, height, pixels: output.subarray(header) };
}

/** Like a screen whose app forbids pictures, apart from the system's bars. Samples every sixteenth pixel. */
function isMostlyBlack(pixels: Buffer): boolean {
  let black = 0;
  for (let at = 0; at + 2 < pixels.length; at += sampledBytes)
    if (pixels[at] === 0 && pixels[at + 1] === 0 && pixels[at + 2] === 0) black++;
  return black * 2 > pixels.length / sampledBytes;
}

/** Whether the window that has the focus forbids pictures. Until Android 8.1 its flags are a number: `fl=#81812100`. */
async function isSecure(device: AndroidDevice, signal: AbortSignal): Promise<boolean> {
  const { stdout } = await device.link().script(secureLine, signal);
  const [displays = "", ...windows] = stdout.split(/^\s*(?=Window #)/m);
  const last = windows.at(-1) ?? "";
  const focused = [...`${displays}\n${last}`.matchAll(/mCurrentFocus=Window\{\w+ ([^}\n]+)\}/g)];
  return focused.some(([, name]) =>
    windows.some((text) => text.includes(` ${name}}:`) && hasSecureFlag(text)),
  );
}

/** WindowManager.LayoutParams.FLAG_SECURE. */
const secureFlag = 0x2000;
const hasSecureFlag = (text: string): boolean =>
  /\bSECURE\b/.test(text) ||
  (Number.parseInt(/\bfl=#([0-9a-f]+)/.exec(text)?.[1] ?? "0", 16) & secureFlag) !== 0;
