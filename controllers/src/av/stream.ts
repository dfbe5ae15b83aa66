import { DeviceError } from "../errors.ts";
import { FrameHub } from "../frames/hub.ts";
import type { FrameFormat, FrameSource, Moment, StreamEvent, StreamSource, VideoFrame } from "../ports.ts";
import type { Space } from "../shapes.ts";
import { type Detected, Detector } from "./detector.ts";
import { StreamFindings } from "./findings.ts";
import { sizeOfJpeg, sizeOfPgm } from "./pieces.ts";
import type { Receiver } from "./running.ts";
import type { AvSettings } from "./settings.ts";
import { SoundRing, soundPerSecond } from "./soundRing.ts";
import { StreamClock } from "./streamClock.ts";

const keptMs = 20_000;
const mostEvents = 1_000;
const pictureRing = { seconds: keptMs / 1_000, bytes: 64 * 1024 * 1024 };
/** Readers of the analysis get each frame as it comes. */
const noRing = { seconds: 0, bytes: 0 };
const rateFrames = 50;

/** Everything that is known of a stream, over all programs that read it one after another. */
export class Stream {
  readonly findings: StreamFindings;
  readonly #settings: AvSettings;
  readonly #clock = new StreamClock();
  readonly #sound = new SoundRing();
  #events: StreamEvent[] = [];
  #detector = new Detector((event) => this.#detected(event));
  #pictures: FrameHub;
  #rate = 25;
  #analysis = new FrameHub({ perSecond: this.#rate, ring: noRing });
  #times: number[] = [];
  #size: Space | undefined;
  #lost: StreamEvent | undefined;
  #samples: number | undefined;
  #pictureCount = 0;
  /** How many pictures the programs before sent. */
  #pictureBase = 0;
  /** Of the newest frame's arrival; undefined before the first one of a program. */
  seenAt: Moment | undefined;

  constructor(settings: AvSettings) {
    this.#settings = settings;
    this.#pictures = this.#newPictures();
    this.findings = new StreamFindings((seconds) => this.#shownFrom(seconds));
  }

  /** The device is opened anew: its readers subscribe again. */
  renew(): void {
    this.end();
    this.#pictureCount = 0;
    this.#pictures = this.#newPictures();
    this.#analysis = new FrameHub({ perSecond: this.#rate, ring: noRing });
  }

  /** A program begins to read the source. */
  begin(): void {
    this.#clock.reset();
    this.#detector = new Detector((event) => this.#detected(event));
    this.#times = [];
    this.#pictureBase = this.#pictureCount;
    this.#samples = undefined;
    this.seenAt = undefined;
  }

  /** The program ended. With `lostSince`, the source is lost since that moment, until there is another frame. */
  stop(lostSince: Moment | undefined, error: Error): void {
    this.#detector.stop();
    this.#sound.stop(error);
    this.findings.flush();
    if (lostSince !== undefined && !this.#lost) {
      this.#lost = { kind: "lost", from: lostSince };
      this.#keep(this.#lost, 0);
    }
    this.seenAt = undefined;
  }

  end(): void {
    this.#pictures.end();
    this.#analysis.end();
  }

  space = (): Space | undefined => this.#pictures.space();

  receiver(other: Pick<Receiver, "recorded" | "reconfigured">, first: () => void): Receiver {
    return {
      ...other,
      analysed: (pgm, seconds) => this.#analysed(pgm, seconds),
      pictured: (jpeg, seconds) => {
        this.#pictured(jpeg, seconds);
        first();
      },
      seen: (seconds) => this.#seen(seconds),
      heard: (seconds) => {
        this.#samples ??= Math.max(0, seconds) * soundPerSecond;
        this.#detector.hear(seconds);
        this.#sound.begin(this.#momentOf(seconds), keptMs);
      },
      noted: (key, value, seconds) => {
        this.#detector.note(key, value, seconds);
        this.#sound.note(key, value);
      },
      sounded: (pcm) => {
        const samples = this.#samples ?? 0;
        this.#samples = samples + pcm.length / 2;
        this.#sound.add(pcm, this.#momentOf(samples / soundPerSecond));
      },
      decoderError: () => this.#detector.decoderError(),
    };
  }

  /** `check` throws while there is no signal. */
  frames(check: () => void): FrameSource {
    const perSecond = () => this.#rate;
    return {
      get perSecond() {
        return perSecond();
      },
      space: this.space,
      latest: async (signal) => {
        check();
        return await this.#pictures.latest(signal);
      },
      ring: (from) => this.#pictures.ring(from),
      subscribe: (format, reader) => this.#hubFor(format).subscribe(format, reader),
    };
  }

  source(check: () => void, hasSound: () => boolean | undefined): StreamSource {
    const { capture_delay_ms: ms, capture_delay_error_ms: errorMs } = this.#settings;
    return {
      delay: { ms, errorMs },
      events: (from) => this.#events.filter(({ until = Number.POSITIVE_INFINITY }) => until >= from),
      levels: (from) => this.#sound.levels(from),
      hasSound,
      listen: async (forMs, signal) => {
        check();
        if (hasSound() === false)
          throw new DeviceError(
            "DEVICE_ERROR",
            "The source has no sound; set controllers.av.audio to a sound card that does.",
          );
        return await this.#sound.listen(forMs, signal);
      },
    };
  }

  #newPictures(): FrameHub {
    return new FrameHub({ perSecond: this.#settings.pictures_per_second, ring: pictureRing });
  }

  /** Gray and small comes from the analysis, at the source's own rate. */
  #hubFor({ pixels, width, height }: FrameFormat): FrameHub {
    return pixels === "gray" && width <= 320 && height <= 180 ? this.#analysis : this.#pictures;
  }

  #seen(seconds: number): void {
    this.seenAt = performance.now();
    this.#clock.observe(seconds, this.seenAt);
    this.#times.push(seconds);
    if (this.#times.length > rateFrames) this.#times.shift();
    const span = seconds - (this.#times[0] ?? seconds);
    if (this.#times.length > 5 && span > 0)
      this.#rate = Math.max(1, Math.ceil((this.#times.length - 1) / span - 0.01));
    this.#detector.see(seconds);
    if (!this.#lost) return;
    const event = { ...this.#lost, until: this.#momentOf(seconds) };
    this.#keep(event, seconds);
    this.#lost = undefined;
  }

  #analysed(pgm: Buffer, seconds: number): void {
    const size = sizeOfPgm(pgm);
    if (!size) return;
    const { width, height, header } = size;
    const bytes = pgm.subarray(header);
    this.#analysis.push(this.#framed(bytes, "gray", { width, height, rotation: 0 }, seconds));
  }

  #pictured(jpeg: Buffer, seconds: number): void {
    const size = sizeOfJpeg(jpeg);
    if (!size) return;
    const space: Space = { ...size, rotation: 0 };
    const at = this.#momentOf(seconds);
    const before = this.#size;
    if (before && (before.width !== space.width || before.height !== space.height))
      this.#keep({ kind: "resized", from: at, until: at, facts: size }, seconds);
    this.#size = space;
    // The rest of the chunk that it was cut from is let go.
    this.#pictureCount++;
    this.#pictures.push(this.#framed(Buffer.from(jpeg), "jpeg", space, seconds));
    this.findings.pictured();
  }

  #framed(bytes: Buffer, pixels: VideoFrame["pixels"], space: Space, seconds: number) {
    const now = performance.now();
    this.#clock.observe(seconds, now);
    return { bytes, pixels, space, presentedMs: seconds * 1_000, arrivedAt: this.#clock.momentOf(seconds) };
  }

  /** Of the program that runs; without a time, of earlier ones too. */
  #shownFrom(seconds?: number): readonly VideoFrame[] {
    const pictures = this.#pictures.ring(0);
    if (seconds === undefined) return pictures;
    // ffmpeg prints times in microseconds.
    const from = seconds * 1_000 - 0.01;
    return pictures.filter(({ number, presentedMs }) => number > this.#pictureBase && presentedMs >= from);
  }

  #momentOf(seconds: number): Moment {
    return this.#clock.momentOf(seconds) - this.#settings.capture_delay_ms;
  }

  #detected({ kind, from, until, facts }: Detected): void {
    const event: StreamEvent = {
      kind,
      from: this.#momentOf(from),
      ...(until !== undefined && { until: this.#momentOf(until) }),
      facts: { ...facts, from_ms: ms(from), ...(until !== undefined && { until_ms: ms(until) }) },
    };
    this.#keep(event, until ?? from);
  }

  /** One that ended takes the place of its begin. */
  #keep(event: StreamEvent, seconds: number): void {
    const oldest = performance.now() - keptMs - this.#settings.capture_delay_ms;
    const others = this.#events.filter(({ kind, until }) =>
      until === undefined ? kind !== event.kind : until >= oldest,
    );
    this.#events = [...others, event].slice(-mostEvents);
    this.findings.report(event, seconds);
  }
}

/** On the stream's clock, to the microsecond. */
const ms = (seconds: number) => Math.round(seconds * 1e6) / 1e3;
