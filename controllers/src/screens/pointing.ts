import { setTimeout as delay } from "node:timers/promises";
import type { Rect } from "../contract.ts";
import type { Target } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { noDarkTouch } from "./dialogs.ts";
import type { ScreenReader } from "./reader.ts";
import type { Screen, Seen } from "./screen.ts";

const lookEveryMs = 150;

export type Point = { x: number; y: number };
export type Ready = { seen: Seen; screen: Screen };

/**
 * The element that a target means, once it can be used; a keyboard in front of it is hidden by `hideKeyboard`. Throws ELEMENT_NOT_ACTIONABLE for
 * one that stays disabled or covered, DEVICE_ERROR for a screen that is off, and what `ScreenReader.one` throws.
 */
export async function whenReady(
  reader: ScreenReader,
  target: Target,
  { timeoutMs, hideKeyboard }: { timeoutMs: number; hideKeyboard(): Promise<void> },
  signal: AbortSignal,
): Promise<Ready> {
  const until = performance.now() + timeoutMs;
  for (let hidden = false; ; ) {
    const ready = await reader.one(target, signal, Math.max(0, until - performance.now()));
    if (ready.screen.tree.isDark) throw noDarkTouch();
    const problem = problemOf(ready);
    if (problem === undefined) return ready;
    if (problem === covered && !hidden) {
      hidden = true;
      await hideKeyboard();
      continue;
    }
    if (problem === covered || performance.now() >= until)
      throw new DeviceError("ELEMENT_NOT_ACTIONABLE", `${reader.describe(ready.seen)} ${problem}`);
    await delay(lookEveryMs, undefined, { signal });
    await reader.look(signal);
  }
}

const covered = "is behind the keyboard, which does not go. Scroll it up, or close the keyboard by hand.";

function problemOf(ready: Ready): string | undefined {
  if (isUnderKeyboard(ready)) return covered;
  if (ready.seen.node.enabled) return undefined;
  return "is disabled. Do first what enables it, or wait longer with timeout_ms.";
}

/** A keyboard covers no more than the lower part, and what it covers is listed all the same. */
const isUnderKeyboard = ({ seen, screen }: Ready): boolean =>
  screen.tree.isKeyboardShown && !seen.node.focused && centreOf(seen).y > screen.space.height / 2;

export function centreOf({ element }: Pick<Seen, "element">): Point {
  const { x, y, width, height }: Rect = element.rect ?? { x: 0, y: 0, width: 0, height: 0 };
  return { x: Math.floor(x + width / 2), y: Math.floor(y + height / 2) };
}
