import { z } from "zod";
import {
  type ControllerStatus,
  type Frame,
  FrameHub,
  type FrameSource,
  type ScreenSource,
  type Space,
} from "../src/index.ts";
import type { Box } from "./box.ts";
import { burnIn } from "./clock.ts";
import { Connection, switches } from "./connection.ts";
import { draw } from "./picture.ts";

const side = z.int().min(64).max(1_920);

export const captureSettings = z.strictObject({
  ...switches,
  width: side.default(640).describe("Of its pictures, in pixels; the box draws 16 to 9."),
  height: side.default(360),
  frames_per_second: z.int().min(1).max(60).default(5),
  lie_about_size: z.boolean().default(false).describe("Its pictures say another size than they have."),
});
export type CaptureSettings = z.output<typeof captureSettings>;

/** A capture device on the box's screen: frames with the milliseconds since it was opened burnt in. */
export class Capture {
  readonly connection: Connection;
  /** Stays the same while the device lives; its stream is new each time it is opened. */
  readonly frames: FrameSource;
  readonly #box: Box;
  readonly #settings: CaptureSettings;
  #hub: FrameHub;
  #timer: NodeJS.Timeout | undefined;
  #openedAt = 0;
  #drawn: { changes: number; rgb: Uint8Array } | undefined;
  #isDrawing = false;
  #last: Uint8Array | undefined;

  constructor(settings: CaptureSettings, box: Box) {
    this.connection = new Connection(settings);
    this.#box = box;
    this.#settings = settings;
    this.#hub = this.#newHub();
    this.frames = {
      perSecond: settings.frames_per_second,
      space: () => this.#hub.space(),
      latest: (signal) => this.#hub.latest(signal),
      ring: (from) => this.#hub.ring(from),
      subscribe: (format, reader) => this.#hub.subscribe(format, reader),
    };
  }

  async open(signal: AbortSignal): Promise<void> {
    if (this.connection.isAlive()) return;
    await this.connection.open(signal);
    this.#openedAt = performance.now();
    this.#hub = this.#newHub();
    this.#timer = setInterval(() => void this.#tick(), 1_000 / this.#settings.frames_per_second);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#hub.end();
    this.#last = undefined;
    this.#drawn = undefined;
    await this.connection.close();
  }

  status(): ControllerStatus {
    if (!this.connection.isAlive() || !this.#box.has("no_signal")) return this.connection.status();
    return { state: "no_signal", reason: "nothing comes from the box", fix: "Switch the box on." };
  }

  readonly screen: ScreenSource = {
    capture: async (_options, signal): Promise<Frame> => {
      await this.connection.use(signal);
      const bytes = await (await draw(this.#box, this.#size)).png().toBuffer();
      const size = this.#settings.lie_about_size
        ? { ...this.#size, height: this.#size.height + 90 }
        : this.#size;
      return { mimeType: "image/png", bytes, ...size, takenAt: new Date().toISOString() };
    },
  };

  get #size(): Space {
    return { width: this.#settings.width, height: this.#settings.height, rotation: 0 };
  }

  #newHub(): FrameHub {
    return new FrameHub({ perSecond: this.#settings.frames_per_second });
  }

  /** One frame of the box's screen with the time burnt in. A frozen box repeats the last frame; without signal there is none. */
  async #tick(): Promise<void> {
    if (this.#box.has("no_signal")) return;
    const background = await this.#background();
    if (!this.connection.isAlive()) return;
    const presentedMs = Math.round(performance.now() - this.#openedAt);
    if (!this.#box.has("freeze") || !this.#last) {
      const rgb = Uint8Array.from(background);
      burnIn(rgb, this.#settings.width, presentedMs);
      this.#last = rgb;
    }
    this.#hub.push({ bytes: this.#last, pixels: "rgb", space: this.#size, presentedMs });
  }

  /** Drawn anew when the box shows something else. */
  async #background(): Promise<Uint8Array> {
    const { changes } = this.#box;
    if (this.#drawn && (this.#drawn.changes === changes || this.#isDrawing)) return this.#drawn.rgb;
    this.#isDrawing = true;
    try {
      const rgb = await (await draw(this.#box, this.#size)).raw().toBuffer();
      this.#drawn = { changes, rgb };
      return rgb;
    } finally {
      this.#isDrawing = false;
    }
  }
}
