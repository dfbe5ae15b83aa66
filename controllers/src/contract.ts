import type { z } from "zod";
import type {
  ActivitySource,
  AppInUse,
  ControllerFacts,
  ControllerStatus,
  DeviceInput,
  FindingSource,
  FocusSource,
  FrameSource,
  LogSource,
  Moment,
  PersonSource,
  ReferencePicture,
  SensorSource,
  StreamSource,
  Transcriber,
  VideoFrame,
} from "./ports.ts";
import type { Dump, Frame, Rect, Selector } from "./shapes.ts";

/**
 * What a test calls the controllers of a device: five kinds that act, and seven names of their checks. The order is the order in
 * which a command is looked for.
 */
export const controllerKinds = [
  "remote",
  "web",
  "desktop",
  "av",
  "power",
  "verification_image",
  "verification_text",
  "verification_video",
  "verification_audio",
  "verification_adb",
  "verification_appium",
  "verification_web",
] as const;
export type ControllerKind = (typeof controllerKinds)[number];
export type VerificationKind = Extract<ControllerKind, `verification_${string}`>;

export * from "./shapes.ts";

/** HTTP status of the main document that a command led to, and the one that its caller said was right. */
export type DocumentStatus = {
  url: string;
  status: number;
  expected?: number;
  /** How the server asks for a name and password, where it refused for the lack of them. */
  challenge?: string;
};

/** What a command did. `message` is one line; `data` is small, typed by the command's description, and free of secrets. */
export type CommandResult = {
  message: string;
  /** The message says what neither the call nor the screen says: every reply has it. */
  isNews?: boolean;
  data?: Readonly<Record<string, unknown>>;
  document?: DocumentStatus;
  /** When the last input event left for the device; absent where none did, or where that is not known. */
  sentAt?: Moment;
  /** Path of a file that the command made in a {@link ControllerContext.temporaryFolder}. The server keeps it as an artifact. */
  file?: string;
  /** The media type of `file`; bytes of an unknown kind without it. */
  fileType?: "image/png";
};

/** What a command says of itself: all that validation needs. */
export type CommandOffer = Pick<Command, "name" | "description" | "effect" | "input">;
/** What a check says of itself. */
export type CheckOffer = Pick<Check, "name" | "description" | "input" | "byPicture">;
/** `subject`: the check needs the thing that it is about. `presence`: it judges whether there is such a thing at all. */
export type Judges = "subject" | "presence";

/**
 * One self-describing thing a controller can do. Throws {@link DeviceError}. Ends soon after `signal` aborts, and the
 * device has stopped by then. `run` returns when the next command may follow; {@link Controller.untilUsable} when one may
 * look. `fence` is that of the lease by which the command runs; {@link fenced} sees to it, for all commands of a device.
 */
export type Command<Input extends z.ZodObject = z.ZodObject> = {
  name: string;
  description: string;
  effect: "read" | "write";
  input: Input;
  run(input: z.output<Input>, signal: AbortSignal, fence?: number): Promise<CommandResult>;
};

/**
 * How long the screen was watched, from the first action to now, and what still goes on: a few words each. `isHidden`: the
 * screen is being replaced by another one and cannot be looked at yet.
 */
export type Usable = { watchedMs: number; goingOn: readonly string[]; isHidden?: boolean };

/**
 * The result of one reading. `nearest` names up to five candidates when the check does not hold. `missing` says that there is no one
 * thing to judge. `absent`: nothing was found, which a page that is late may look like too. `unclear`: several were found, or
 * it is hidden or still on its way. Without `missing`, what was read is right or wrong.
 */
export type Reading = {
  holds: boolean;
  expected: string;
  actual: string;
  missing?: "absent" | "unclear";
  nearest?: readonly string[];
  /** How like it is, 0..1, where the check measures that. */
  score?: number;
  /** Where it was seen, in the space of the first of `pictures`, else of the latest snapshot. */
  area?: Rect;
  /** What was judged: evidence, stored with the verdict. */
  pictures?: readonly Frame[];
  /** Why it cannot be judged. Then it neither holds nor fails, also when the opposite is asked: `holds` is false and counts for nothing. */
  inconclusive?: string;
};

/**
 * `ms` is the time that a reading may take; `since` is the moment of the check's first reading or of the last input, whichever is later.
 * `frame` is what a check by picture judges, in place of what the device shows now.
 */
export type ReadOptions = { ms?: number; since?: Moment; frame?: VideoFrame };

/**
 * One thing a controller can judge from a single snapshot. It never acts and never waits: whoever asks polls it to a
 * deadline. A thing that is not there is a reading that does not hold, not an error.
 */
export type Check<Input extends z.ZodObject = z.ZodObject> = {
  name: string;
  description: string;
  input: Input;
  /** Whether the check, or its opposite, may hold while its subject is missing. `passes` in `elements/readings.ts` decides by it. */
  judges(input: z.output<Input>): Judges;
  /**
   * What reports call a block that makes this check: `element` is the element's name, `input` is as the block gives it. Without
   * it, a block is called by the check's name.
   */
  title?(element: string, input: Readonly<Record<string, unknown>>): string;
  /** It judges a picture and nothing else: {@link ReadOptions.frame} where there is one. */
  byPicture?: true;
  read(input: z.output<Input>, signal: AbortSignal, look?: ReadOptions): Promise<Reading>;
};

/** Takes pictures. `area` is in pixels of a picture of the whole screen, or of the full page with `fullPage`; `ref` limits the picture to one element. */
export type ScreenSource = {
  capture(
    /**
     * `format: "jpeg"` allows a JPEG where that is quicker; without it the picture has no loss. `highlight` frames what
     * element_highlight named: for people alone, since checks compare pictures.
     */
    options: { fullPage?: boolean; area?: Rect; ref?: string; format?: "jpeg"; highlight?: boolean },
    signal: AbortSignal,
  ): Promise<Frame>;
};

/** Lists what is on the screen. */
export type ElementSource = {
  dump(options: { interactiveOnly: boolean }, signal: AbortSignal): Promise<Dump>;
  /** Ranked selectors for elements of the latest dump, in the order of `refs`; empty for an element that is gone. */
  selectors(refs: readonly string[], signal: AbortSignal): Promise<readonly (readonly Selector[])[]>;
};

/** `id` is what the device's own commands start it by. */
export type InstalledApp = { id: string; name?: string; version?: string };

/** Lists the apps on the device. */
export type AppSource = {
  installedApps(signal: AbortSignal): Promise<{ apps: readonly InstalledApp[]; simulated?: boolean }>;
};

export type RecordingKind = "video" | "trace";

/** Why a recording ended without being stopped. */
export type RecordingLoss = "device_closed" | "device_lost" | "full";

export type RecordingOptions = {
  /** Of these, what the recorder can. */
  kinds: readonly RecordingKind[];
  /** An empty folder of the server's choosing; every file goes there. */
  folder: string;
  /** No file grows beyond this many bytes. */
  mostBytes: number;
  /** Called at most once, when it ends before `stop`; what there is by then can be had from `stop`. */
  ended(reason: RecordingLoss): void;
};

/** `lost` says in a line each what was to be recorded and is not there. */
export type Recording = {
  files: readonly { kind: RecordingKind; path: string; mimeType: string }[];
  /** Pictures in the video. */
  frames: number;
  lost: readonly string[];
};

/** Records what the device shows while others use it; one recording at a time. */
export type Recorder = {
  readonly kinds: readonly RecordingKind[];
  /** Says whether its video has sound. */
  readonly sound: boolean;
  /** Resolves where the time of the video begins. Throws ACTION_REJECTED while a recording goes on. */
  start(options: RecordingOptions, signal: AbortSignal): Promise<void>;
  /** Ends the recording and gives its files. Throws ACTION_REJECTED when there is none. */
  stop(signal: AbortSignal): Promise<Recording>;
};

/** What a run has that started fresh: nothing of what ran before it, and nothing of it reaches what runs after it. */
export type FreshStart = {
  /** Keeps the cookies and local storage that there are now under a name, as `save_storage_state` does. */
  saveState(name: string): Promise<void>;
  /** Ends the fresh start; the device shows again what it showed before. Never throws. */
  leave(): Promise<void>;
};

/** Starts fresh and keeps what is open, with a saved storage state if one is named. Fresh starts nest. */
export type Isolation = {
  enter(options: { storageState?: string | undefined }, signal: AbortSignal): Promise<FreshStart>;
};

/** What a cloud of devices shows of the session in which a device is driven. */
export type CloudSession = {
  /** Where a person finds the session: an https address without any secret. Undefined while there is no session. */
  link(): string | undefined;
  /**
   * Reports to the cloud how a run ended. A session in which one failed stays failed, and one that a test has marked by a command
   * stays as it is. Does nothing for a cloud that takes no verdicts.
   */
  reportVerdict(verdict: { status: "passed" | "failed"; reason: string }, signal: AbortSignal): Promise<void>;
};

type PageNotice = "dialog" | "tab" | "download" | "page_error" | "console_error" | "http_error";
type NoticeKind = PageNotice | "url_denied" | "restarted";

/** Something the device did by itself. `seq` counts up from 1 for as long as the controller lives. */
export type DeviceNotice = {
  seq: number;
  kind: NoticeKind;
  text: string;
  at: string;
  /** A page of the holder did it, while a run that started fresh drove another one. */
  background?: true;
};

/** What around a step that failed speaks against the app, the page or the machine. */
export type Health = {
  /** An address of the app whose last request in the time was not answered by any server. */
  unreachable?: { url: string; reason: string };
  /** The longest that a blank page next to the app's took to answer, in milliseconds; absent when none was asked. */
  blankMs?: number;
};

/** Watches what is around a step while it runs. Costs nothing to a step that is soon over. */
export type HealthSource = {
  watch(): {
    /** What was seen so far. Asks the device once more, and waits up to `patienceMs` for its answer. Never throws. */
    ask(patienceMs: number): Promise<Health>;
    end(): void;
  };
};

/** Something that the factory declares and this device does not offer: why, as what to do about it. */
export type Withheld = { name: string; reason: string };

/** A driver of one facet of a device. What a device can do is derived from these lists and nothing else. */
export type Controller = {
  readonly kind: ControllerKind;
  /** What a test may call its checks by; no controller of its own. */
  readonly verification?: VerificationKind;
  /** Name of the factory that made it; {@link defineFactory} sets it. */
  readonly driver: string;
  readonly commands: readonly Command[];
  readonly checks: readonly Check[];
  readonly screen?: ScreenSource;
  readonly elements?: ElementSource;
  readonly sensors?: SensorSource;
  readonly apps?: AppSource;
  readonly recorder?: Recorder;
  readonly person?: PersonSource;
  readonly health?: HealthSource;
  readonly isolation?: Isolation;
  readonly frames?: FrameSource;
  readonly stream?: StreamSource;
  readonly transcriber?: Transcriber;
  readonly logs?: LogSource;
  readonly focus?: FocusSource;
  readonly findings?: FindingSource;
  readonly activity?: ActivitySource;
  readonly cloud?: CloudSession;
  /**
   * Waits until the screen shows what the commands so far led to, for at most 2 s, with no fixed settle time. Throws
   * INPUT_NOT_TAKEN where the app has taken back an input meanwhile, by itself.
   */
  untilUsable?(signal: AbortSignal): Promise<Usable>;
  /** What of its lists this device does not offer; known once it is open. */
  withheld?(): readonly Withheld[];
  /** Empty while it is not open. */
  facts?(): ControllerFacts;
  /** Without it, a controller that is alive is online. */
  status?(): ControllerStatus;
  /** Reports each change of `status` until the function that it returns is called. */
  onStatus?(listener: (status: ControllerStatus) => void): () => void;
  /** Opens what is not open, and makes anew what does not answer any more. */
  open(signal: AbortSignal): Promise<void>;
  /** Ends everything it started. Safe to call twice and on a controller that never opened. */
  close(): Promise<void>;
  /** True while it can act; false after its browser or connection died, until `open` is called again. */
  isAlive(): boolean;
  /** Has the next `open` look whether the device still answers, however alive it seems. */
  doubt?(): void;
  /**
   * Another client drives from here on: the next `open` looks whether the device still answers, and undoes what the one before
   * had set of it (the network, the size of the page, the answer to a dialog).
   */
  handOver?(): void;
  /** True when something speaks against its health and `open` has not looked at it since. */
  isDoubted?(): boolean;
  /** True while it must not be closed for being idle: it records, or a person looks at it. */
  isKept?(): boolean;
  /** The notices behind `seq` that are kept, oldest first. Reading takes none away: each reader has a place of its own. */
  noticesAfter(seq: number): readonly DeviceNotice[];
};

/**
 * What the controllers of a device lend each other, looked for when it is used: the first that has it, in the order in which
 * they are asked, which may be the one that asks. Each throws CONTROLLER_UNAVAILABLE that names what is missing and what could not be opened.
 * `screen`, `elements` and `focus` wait until their controller is open.
 */
export type DevicePorts = {
  screen(): ScreenSource;
  elements(): ElementSource;
  focus(): FocusSource;
  /** Of a controller that is open. */
  frames(): FrameSource;
  /** Of a controller that is open. */
  stream(): StreamSource;
  /** One reading of a check that a controller of the device offers. Throws CONTROLLER_UNAVAILABLE, INVALID_PARAMS. */
  read(
    check: { name: string; input: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
    look?: ReadOptions,
  ): Promise<Reading>;
  /** Runs `press_key` by the lease of the command that calls it. */
  press(key: string, signal: AbortSignal): Promise<CommandResult>;
};

/** The add-ons that the user has installed; a driver installs none. */
export type InstalledAddons = {
  /** "outdated": the add-on of another build is there. */
  state(name: string): "installed" | "missing" | "outdated";
  /** The folder that an add-on is installed in, for starting a program of it. Throws ADDON_MISSING with the command that installs it. */
  folder(name: string): string;
  /** What the add-on's `main` exports. Throws ADDON_MISSING; ADDON_UNUSABLE when it fails to load. */
  load(name: string): Promise<unknown>;
};

/** What a TV gave when a person accepted this server on it. `certificate` is the SHA-256 fingerprint of the TV's. */
export type Pairing = { token: string; certificate?: string };

/** What the server lends a controller: policy and places, never a service. All drivers of a device get the same object. */
export type ControllerContext = {
  deviceId: string;
  /** Throws `URL_DENIED`. Asked before each navigation, redirect, frame and download, with the address really used. */
  allowUrl(url: string): void;
  /** Throws `URL_DENIED`: an address that a host name resolved to. */
  allowAddress(address: string): void;
  /** Throws `URL_DENIED` where no address of this host and port is allowed, whatever its scheme and path. */
  allowHost(host: string, port: number): void;
  /** The policy has rules on paths: {@link allowHost} cannot decide by them. */
  hasPathRules: boolean;
  /** Resolves a host name in place of the system's resolver. */
  resolve?(host: string): Promise<readonly string[]>;
  /** Resolves a file a caller named inside the uploads folder; throws `PATH_DENIED`. */
  uploadPath(name: string): string;
  /** A file of this server's choosing for a named storage state; throws `PATH_DENIED` on a bad name. */
  storageStatePath(name: string): string;
  /** Settings from `unsafe` in the configuration. */
  unsafe: { javascript: boolean; deviceShell: boolean };
  /** The app that a command or check is for, if its caller works in one. */
  app(): AppInUse | undefined;
  /** What was done to the device since then by commands of all its controllers, oldest first, among the last 20. */
  inputsSince(from: Moment): readonly DeviceInput[];
  device: DevicePorts;
  /** A picture that was saved under this name for the app in use. Throws REFERENCE_NOT_FOUND with the nearest names. */
  reference(name: string, signal: AbortSignal): Promise<ReferencePicture>;
  /** A new, empty folder of this device, as an absolute path; removed when the device is closed. */
  temporaryFolder(): Promise<string>;
  addons: InstalledAddons;
  /** What `labwright tv pair` stored for this device and driver; read anew each time. */
  pairing(driver: string): Promise<Pairing | undefined>;
};

/** Infers the input type of a command; the returned object is the argument. */
export function defineCommand<Input extends z.ZodObject>(command: Command<Input>): Command {
  return command;
}

/** Infers the input type of a check; the returned object is the argument. */
export function defineCheck<Input extends z.ZodObject>(check: Check<Input>): Check {
  return check;
}
