import type { Frame, Rect, Usable } from "@labwright/controllers";
import type { Params } from "../../domain/index.ts";
import type { OpenDevice } from "./devices.ts";
import type { ArtifactRef } from "./records.ts";

/** The caller: `changes_since` and changes after an action count from that caller's last snapshot. */
type Looking = { caller?: string | undefined };
export type DumpOptions = Looking & {
  find?: string | undefined;
  changes_since?: number | undefined;
  interactive_only: boolean;
  detail: "compact" | "full";
  /** Of the whole reply; 2,000 when left out, 150 for a search. */
  max_tokens?: number | undefined;
  /** What the device did by itself, as far as the caller may know; asked after the snapshot. */
  notices?: () => readonly string[];
};
/** `elements` is one line an element; `items` the same with rects and ranked selectors. */
export type DumpView = {
  generation: number;
  location: string;
  title: string;
  notices?: string[];
  elements: string;
  more: number;
  items?: Params[];
};
export type ShotOptions = Looking & {
  full_page: boolean;
  area?: Rect | undefined;
  ref?: string | undefined;
  marks: boolean;
};
/** A picture as a reply carries it; `scale` is its size over the full one's. */
export type ShownPicture = { bytes: Uint8Array; mimeType: string; scale: number };
/** `shown` is the picture scaled for a model; all else is of the full one. */
export type Shot = {
  artifact: string;
  mimeType: string;
  shown: ShownPicture;
  width: number;
  height: number;
};

export type AnalysisOptions = Looking & { intent: string; max_tokens: number };
/** `stability` is 0..1, what the selector's is; `why` what speaks for and against it. `where` says how equal ones differ. */
export type ActionCandidate = {
  ref: string;
  role: string;
  name: string;
  command?: string;
  selector?: string;
  unique?: boolean;
  stability?: number;
  why?: string;
  where?: string;
};
/** Best first. `ambiguous` is how many of the first are equally good; `left_out` says why others are none. */
export type ActionAnalysis = {
  generation: number;
  location: string;
  notices?: string[];
  candidates: ActionCandidate[];
  ambiguous?: number;
  left_out?: string;
  nearest?: string;
  hint?: string;
  more?: number;
};

export type ScreenAnalyst = {
  /** What on the live screen serves an intent in words, with the command and the selector to use it by. */
  analyze(device: OpenDevice, options: AnalysisOptions, signal: AbortSignal): Promise<ActionAnalysis>;
};

export type ScreenService = {
  /** A picture of the device as evidence of a step, a JPEG, stored; undefined for a device without a screen. */
  capture(
    device: OpenDevice,
    signal: AbortSignal,
  ): Promise<{ frame: Frame; artifact: ArtifactRef } | undefined>;
  /** Why only steps that fail and the last one are to have pictures; undefined where every step may. */
  slowness(deviceId: string): string | undefined;
  store(frame: Frame): Promise<ArtifactRef>;
  screenshot(device: OpenDevice, options: ShotOptions, signal: AbortSignal): Promise<Shot>;
  dump(device: OpenDevice, options: DumpOptions, signal: AbortSignal): Promise<DumpView>;
  /** What changed since the caller's last snapshot, in lines; the whole screen if it is another one or was never seen. */
  changes(
    device: OpenDevice,
    options: { maxTokens: number; usable?: Usable | undefined; caller?: string },
    signal: AbortSignal,
  ): Promise<string | undefined>;
};
