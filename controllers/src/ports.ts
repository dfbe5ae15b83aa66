import type { Element, Frame, Rect, Selector, Space } from "./shapes.ts";

/** Moments that are compared with each other are readings of `performance.now()`: milliseconds of a clock that is never set. */
export type Moment = number;

/**
 * What a reader wants of a video: frames of at most this size, in their own shape and never enlarged, at most this many a
 * second. `gray` and `rgb` are raw, row by row. Frames are shared by their readers: their bytes are read-only.
 */
export type FrameFormat = {
  width: number;
  height: number;
  perSecond: number;
  pixels: "gray" | "rgb" | "jpeg";
};

/**
 * One picture of a video. `number` counts the source's frames up from 1; a number that is left out was lost or not wanted.
 * `presentedMs` is when the source shows it, on the source's own clock; `arrivedAt` when it came to us.
 */
export type VideoFrame = {
  number: number;
  presentedMs: number;
  arrivedAt: Moment;
  pixels: FrameFormat["pixels"];
  bytes: Uint8Array;
  space: Space;
};

export type FrameSubscription = {
  /** Frames that the reader was too late for. */
  readonly dropped: number;
  /** Resolves when it ends, by `end` or with its source; rejects with what its reader threw, which ends it too. */
  readonly ended: Promise<void>;
  end(): void;
};

/** The frames of a device that sends them by itself. Every frame is decoded once, however many read it. */
export type FrameSource = {
  /** What the source itself sends; undefined until the first frame. */
  space(): Space | undefined;
  readonly perSecond: number;
  /**
   * The newest frame as a picture, without waiting for another; waits up to 2 s for the very first. Throws DEVICE_ERROR when
   * there was none for 2 s, NO_SIGNAL while a capture is without one.
   */
  latest(signal: AbortSignal): Promise<Frame & { number: number; arrivedAt: Moment }>;
  /** What is kept of the last seconds, oldest first: from the first frame that arrived at or after `from`. */
  ring(from: Moment): readonly VideoFrame[];
  /** Each frame in the format, in order, until `end`. A reader that still works on one gets the newest after it. */
  subscribe(format: FrameFormat, reader: (frame: VideoFrame) => void | Promise<void>): FrameSubscription;
};

/** What the picture or sound of a stream did, or what its decoder complained of. */
export const streamEventKinds = [
  "black",
  "freeze",
  "silence",
  "cut",
  "decoder_error",
  "resized",
  "lost",
] as const;
export type StreamEventKind = (typeof streamEventKinds)[number];

/**
 * From when until when, in the time of the picture: the source's own delay is taken off. `until` is absent while it goes on,
 * and equals `from` for what has no length, such as a cut. A black picture is not a freeze as well.
 */
export type StreamEvent = {
  kind: StreamEventKind;
  from: Moment;
  until?: Moment;
  facts?: Readonly<Record<string, string | number>>;
};

/** The sound of about a tenth of a second. `peakDb` is of full scale, `loudness` momentary LUFS; -Infinity for none at all. */
export type SoundLevel = { at: Moment; peakDb: number; loudness: number };

/** Sound as numbers from -1 to 1, one channel. `at` is when the first one was heard. */
export type Sound = { samples: Float32Array; perSecond: number; at: Moment };

/** What a capture knows of its stream besides the frames, of the last 20 s at least. */
export type StreamSource = {
  /** How far its frames and sound come behind the device's own picture, and the error of that. */
  readonly delay: { ms: number; errorMs: number };
  /** Oldest first: what goes on at `from`, or began later. */
  events(from: Moment): readonly StreamEvent[];
  /** Oldest first, from `from`; empty for a source without sound. */
  levels(from: Moment): readonly SoundLevel[];
  /** Undefined until the source was opened. */
  hasSound(): boolean | undefined;
  /** What is heard from now on, at 16,000 samples a second. Throws DEVICE_ERROR for a source without sound, NO_SIGNAL. */
  listen(ms: number, signal: AbortSignal): Promise<Sound>;
};

/** Writes down what is said in a recording. */
export type Transcriber = {
  /**
   * What is said in the sound of a media file, in one line, and the language as two letters where it is known. Throws DEVICE_ERROR for
   * a file without sound and a program that fails, COMMAND_TIMEOUT.
   */
  transcribe(file: string, signal: AbortSignal): Promise<{ text: string; language?: string }>;
};

/** A line that the device wrote. `at` is ISO 8601 UTC. */
export type LogLine = {
  seq: number;
  at: string;
  level: "debug" | "info" | "warning" | "error";
  /** Who wrote it: a tag, a process. */
  source?: string;
  text: string;
};

/** The device's own log, as far back as it is kept. */
export type LogSource = {
  /** The newest `limit` lines behind `after` (a `seq`), oldest first. */
  lines(options: { after?: number; limit: number }, signal: AbortSignal): Promise<readonly LogLine[]>;
};

/** What a device measures of itself. `unit` is absent for a word or a yes or no. */
export type SensorReading = { name: string; value: number | string | boolean; unit?: string };

/** Every sensor is in one of the two lists, under the name that {@link sensorNames} gives it or begins with it. */
export type SensorReport = {
  readings: readonly SensorReading[];
  absent: readonly { name: SensorName; reason: string }[];
  /** The values are made up. */
  simulated?: boolean;
};
export const sensorNames = [
  "battery",
  "network",
  "location",
  "orientation",
  "accelerometer",
  "temperature",
] as const;
export type SensorName = (typeof sensorNames)[number];

/** Reads what the device measures of itself. */
export type SensorSource = { sensors(signal: AbortSignal): Promise<SensorReport> };

/** Where the input of a remote goes. */
export type FocusSource = {
  /** The element that has the focus, and those that could have it; all have a rect in `space`. */
  focus(signal: AbortSignal): Promise<{ focused?: Element; candidates: readonly Element[]; space: Space }>;
};

export const findingKinds = [
  "no_signal",
  "anr",
  "app_crash",
  "blackscreen",
  "freeze",
  "macroblocks",
  "audio_loss",
] as const;
export type FindingKind = (typeof findingKinds)[number];

/** Something wrong that a controller saw begin or end, at a moment, with the picture of it. */
export type DeviceFinding = {
  kind: FindingKind;
  state: "began" | "ended";
  at: Moment;
  frame?: Frame;
  facts?: Readonly<Record<string, string | number | boolean>>;
};

/** Watches for what goes wrong by itself, as long as there are listeners. */
export type FindingSource = {
  readonly kinds: readonly FindingKind[];
  /** Reports each beginning and end from now on, and at once what goes on already. Ends with the function it returns. */
  onFinding(listener: (finding: DeviceFinding) => void): () => void;
};

/** A line of the app's console. `at` is ISO 8601 UTC; `place` is an address, mostly with a line. */
export type ConsoleLine = { at: string; level: string; text: string; place?: string };

/** A request of the app, credentials masked. `ms` is absent while it is under way, `status` if it got no answer. */
export type RequestLine = {
  at: string;
  method: string;
  url: string;
  /** What it was for, such as `fetch`, `document` or `image`. */
  type: string;
  status?: number;
  failure?: string;
  ms?: number;
  /** A mock answered it, or had it fail. */
  mocked?: true;
  /** Bodies as text, cut; of other data, its size and type in brackets. */
  sent?: string;
  answer?: string;
};

/** What the app logged and requested, oldest first. The app and its servers wrote all of its texts. */
export type Activity = { console: readonly ConsoleLine[]; requests: readonly RequestLine[] };

/** Evidence for a step that failed. */
export type ActivitySource = {
  /**
   * What came in the last `ms`: at most 30 lines and 30 requests, faults before others, with the bodies of a few. Takes a second or
   * so at most. Never throws: of a device that does not answer, it is empty.
   */
  recent(ms: number): Promise<Activity>;
};

/** Whether a controller reaches its device. `fix` says what a person can do. */
export type ControllerStatus =
  | { state: "online" }
  | {
      state: "offline" | "unauthorized" | "recovering" | "no_signal";
      reason: string;
      fix?: string;
    };

/** What a controller knows of its device: `version` is of what it drives, such as the browser or the system. */
export type ControllerFacts = {
  make?: string;
  version?: string;
  screen?: { width: number; height: number };
  /** What the user must know of the device before it is trusted with something, in a sentence. */
  note?: string;
};

/** A command with an effect that has ended. `at` is when its last input event left, as far as that is known. */
export type DeviceInput = { command: string; params: Readonly<Record<string, unknown>>; at: Moment };

/** The app in use, as its model names it. A device reads of it what it can use. */
export type AppInUse = {
  name: string;
  url?: string | undefined;
  package?: string | undefined;
  activity?: string | undefined;
  deep_link?: string | undefined;
  /** The attribute that names elements for tests. */
  testIdAttribute?: string | undefined;
};

/** A picture that was saved, and the plane that it was cut from, where that was kept: `area` says where. */
export type ReferencePicture = { picture: Frame; area?: Rect; space?: Space };

/**
 * What a person did to the screen by hand. `did`: the command that does the same; `params` have no target yet. `asked`: they asked to
 * point at an element (true) or no longer (false). `picked`: the element that they pointed at, with its visible text.
 * `at` is when it was heard of. Selectors are ranked, best first, as `ElementSource.selectors` ranks them; empty where a
 * command has no such target.
 */
export type PersonDeed = { at: Moment } & (
  | { kind: "asked"; on: boolean }
  | { kind: "picked"; selectors: readonly Selector[]; role: string; text: string }
  | {
      kind: "did";
      command: string;
      params: Readonly<Record<string, unknown>>;
      selectors: readonly Selector[];
      /** Where something was dropped. */
      onto: readonly Selector[];
      /** Role and name of the element, for people. */
      role: string;
      name: string;
      /** So many clicks right before belong to it: it takes their place. */
      replaces: number;
      /** It must be done before the deed that came last: the answer to a dialog. */
      isBefore: boolean;
      /** Name of the secret that `params` hold as a placeholder. Its value stayed on the device. */
      secret?: string;
    }
);

export type PersonListener = {
  deed(deed: PersonDeed): void;
  /** The device was lost or closed, so there will be no more deeds. */
  lost(): void;
};

/** A person's inputs while they are heard. */
export type PersonWatch = {
  /** From now on a press picks an element in place of acting on it, until one is picked. */
  point(on: boolean): Promise<void>;
  /** Which texts repeat a secret that was typed into a page that is still open. */
  holdSecrets(texts: readonly string[]): Promise<boolean[]>;
  /** Reports what is still being typed, and ends. Safe to call on a device that is gone. */
  end(): Promise<void>;
};

/** Hears what a person does to the device by hand. Inputs that commands send are heard too: their times tell them apart. */
export type PersonSource = {
  /** A person can see and use the device, and it hears that: a browser with a window, which is Chromium. */
  isSeen(): boolean;
  /** Throws ACTION_REJECTED while another watch goes on. */
  watch(listener: PersonListener, signal: AbortSignal): Promise<PersonWatch>;
};
