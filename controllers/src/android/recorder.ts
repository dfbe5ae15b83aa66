import { get, type IncomingMessage } from "node:http";
import type { ScreenSource } from "../contract.ts";
import type { PictureSource } from "../video/recorder.ts";
import type { AndroidDevice } from "./device.ts";
import type { UiBackend } from "./ui/backend.ts";

/** In percent of the screen's size, and of JPEG's quality. */
const stream = { mjpegServerFramerate: 10, mjpegScalingFactor: 50, mjpegServerScreenshotQuality: 70 };

export const picturesOf = (
  device: AndroidDevice,
  backend: UiBackend,
  screen: ScreenSource,
): PictureSource => ({
  screen,
  isAlive: () => device.isAlive(),
  async prepare(signal) {
    if (backend.whyNoSession() !== undefined) return;
    try {
      const session = await backend.session(signal);
      await session.ask("POST", "/appium/settings", { settings: stream }, { signal });
    } catch {
      signal.throwIfAborted();
    }
  },
  async stream(seen, signal) {
    const session = backend.findSession();
    return session === undefined ? 0 : await readMjpeg(session.mjpegPort, seen, signal);
  },
});

/** No picture of a screen is larger. */
const mostBytes = 32_000_000;
const headEnd = Buffer.from("\r\n\r\n");
const answerMs = 10_000;

/**
 * Reads the pictures of an MJPEG stream on this machine (multipart/x-mixed-replace, each part with its length) until it ends
 * or `signal` aborts. Returns their count. Never throws: a broken stream counts as ended.
 */
async function readMjpeg(
  port: number,
  onPicture: (jpeg: Buffer) => void,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  try {
    const parts = new Parts((jpeg) => {
      count++;
      onPicture(jpeg);
    });
    for await (const chunk of await answer(port, signal)) if (chunk instanceof Buffer) parts.add(chunk);
  } catch {
    // The device, the stream or its reader is gone.
  }
  return count;
}

function answer(port: number, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port, path: "/", signal, agent: false }, resolve);
    request.setTimeout(answerMs, () => request.destroy(new Error("The stream has stopped.")));
    request.once("error", reject);
    // A forwarded port without a listener closes without an answer.
    request.once("close", () => reject(new Error("The stream was closed.")));
  });
}

class Parts {
  readonly #onPicture: (jpeg: Buffer) => void;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes needed before parsing again. */
  #wanted = 0;

  constructor(onPicture: (jpeg: Buffer) => void) {
    this.#onPicture = onPicture;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#wanted) return;
    let rest = Buffer.concat(this.#chunks);
    for (let part = partOf(rest); ; part = partOf(rest)) {
      this.#wanted = part?.end ?? 0;
      if (part === undefined || part.end > rest.length) break;
      this.#onPicture(Buffer.from(rest.subarray(part.start, part.end)));
      rest = rest.subarray(part.end);
    }
    if (Math.max(rest.length, this.#wanted) > mostBytes) throw new Error("A picture is too large.");
    this.#chunks = [rest];
    this.#size = rest.length;
  }
}

/** The next picture's range; undefined until its header has arrived. */
function partOf(bytes: Buffer): { start: number; end: number } | undefined {
  const headAt = bytes.indexOf(headEnd);
  if (headAt < 0) return undefined;
  const length = /content-length: *(\d+)/i.exec(bytes.toString("latin1", 0, headAt))?.[1];
  if (length === undefined) throw new Error("A part of the stream has no length.");
  const start = headAt + headEnd.length;
  return { start, end: start + Number(length) };
}
