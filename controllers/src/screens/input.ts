import type { CommandResult, Rect, Withheld } from "../contract.ts";
import type { Target } from "../elements/target.ts";
import type { ScreenReader } from "./reader.ts";
import type { Seen } from "./screen.ts";
import type { UiNode } from "./tree.ts";

export type Point = { x: number; y: number };
export type Way = "up" | "down" | "left" | "right";
/** How fast a finger swipes. `rests`: it stops before it leaves, where the driver can do so. */
export type Pace = { ms: number; rests?: boolean };

/**
 * How the screen of a device is driven: `TouchInput` by fingers, `KeyInput` by the keys of a remote that move the focus. A
 * driver chooses one of them once it knows its device. Each throws what sending to the device throws.
 */
export type ScreenInput = {
  readonly reader: ScreenReader;
  /** Commands that this way of input cannot do. */
  readonly withheld: readonly Withheld[];
  /**
   * The element that a target means, once it can be used: a touch screen shows it, a remote has moved the focus to it. Throws
   * ELEMENT_NOT_FOUND, ELEMENT_AMBIGUOUS, STALE_REF, ELEMENT_NOT_ACTIONABLE, and DEVICE_ERROR for a screen that is off.
   */
  reach(target: Target, timeoutMs: number, signal: AbortSignal): Promise<Seen>;
  click(reached: Seen, times: number, signal: AbortSignal): Promise<void>;
  /** Has a field that was reached take what is typed. */
  edit(reached: Seen, signal: AbortSignal): Promise<void>;
  use(part: UiNode, signal: AbortSignal): Promise<void>;
  /** Holds an element or a point; returns what was held. Throws INVALID_PARAMS. */
  hold(place: Place, duration: { ms: number; timeoutMs: number }, signal: AbortSignal): Promise<string>;
  areaAround(target: Target, timeoutMs: number, signal: AbortSignal): Promise<Rect>;
  /** Goes on in an area, once. */
  step(area: Rect, way: Way, pace: Pace, signal: AbortSignal): Promise<void>;
  /** Goes on by about a screen, and says what that did. */
  scroll(area: Rect, way: Way, signal: AbortSignal): Promise<CommandResult>;
  /** Goes on until a target is shown. */
  bring(target: Target, timeoutMs: number, signal: AbortSignal): Promise<Seen>;
  /** Types on the app's own keyboard if the field took nothing. Throws UNICODE_UNSUPPORTED before sending anything. */
  typeOnScreen(field: Seen, text: string, signal: AbortSignal): Promise<void>;
};

/** An element, or a point in pixels of a picture of the screen, as a caller names it. */
export type Place = Target & { x?: number | undefined; y?: number | undefined };

/** A command whose last input has just been taken by the device. */
export const sent = (message: string): CommandResult => ({ message, sentAt: performance.now() });
