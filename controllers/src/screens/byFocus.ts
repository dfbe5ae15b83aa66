import { setTimeout as delay } from "node:timers/promises";
import type { Element } from "../contract.ts";
import { ambiguous } from "../elements/failures.ts";
import type { Target } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import type { FocusMaps } from "../focus/focusMaps.ts";
import { type FocusMove, type FocusRemote, type MoveOptions, moveFocus } from "../focus/moveFocus.ts";
import { noDarkTouch } from "./dialogs.ts";
import type { ScreenReader } from "./reader.ts";
import type { Seen } from "./screen.ts";

const lookEveryMs = 150;

/** What moves the focus of a device: its screen, what is known of its screens, and its arrow keys. */
export type FocusKeys = { reader: ScreenReader; focusMaps: FocusMaps; press: FocusRemote["press"] };

/**
 * The element that a target means, once it has the focus. Throws what `moveFocus` and `ScreenReader.finder` throw, and
 * ELEMENT_NOT_ACTIONABLE for what no remote can reach, DEVICE_ERROR for a screen that is off.
 */
export async function focusReady(
  keys: FocusKeys,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ seen: Seen; presses: number }> {
  const { reader } = keys;
  const find = reader.finder(target);
  const { ref } = target;
  const wanted = target.selector ?? reader.words(ref ?? "");
  const until = performance.now() + timeoutMs;
  const focus: FocusRemote["focus"] = {
    async focus(own) {
      for (;;) {
        const look = await reader.focus.focus(own);
        if ((await reader.recent(own)).tree.isDark) throw noDarkTouch();
        const problem = await unreachable(reader, target, find(look.candidates), own);
        if (problem === undefined) return look;
        if (!problem.mayPass || performance.now() >= until)
          throw new DeviceError("ELEMENT_NOT_ACTIONABLE", problem.message);
        await delay(lookEveryMs, undefined, { signal: own });
      }
    },
  };
  const { target: found, presses } = await focusOn(
    keys,
    { focus, find: (candidates) => onlyOne(find(candidates), wanted) },
    { wanted, timeoutMs, ...(ref !== undefined && { gone: () => reader.gone(ref) }) },
    signal,
  );
  return { seen: reader.seen(found), presses };
}

/** Moves the focus by the keys of the device, with what is known of the screen. */
export async function focusOn(
  keys: FocusKeys,
  remote: Pick<FocusRemote, "focus" | "find">,
  options: Omit<MoveOptions, "map">,
  signal: AbortSignal,
): Promise<FocusMove> {
  const { packageName, activity } = (await keys.reader.recent(signal)).tree.front;
  const map = keys.focusMaps.of(`${packageName}/${activity}`);
  return moveFocus({ ...remote, press: keys.press }, { ...options, map }, signal);
}

/** A target on the screen that can have no focus: why, and whether that may change. */
async function unreachable(
  reader: ScreenReader,
  target: Target,
  candidates: readonly Element[],
  signal: AbortSignal,
): Promise<{ message: string; mayPass: boolean } | undefined> {
  const [shown] = candidates.length > 0 ? [] : reader.find(target, await reader.recent(signal));
  if (shown === undefined) return undefined;
  const what = reader.describe(shown);
  return shown.node.enabled
    ? {
        message: `${what} takes no focus: a remote cannot reach it. Choose an element that can have the focus.`,
        mayPass: false,
      }
    : {
        message: `${what} is disabled. Do first what enables it, or wait longer with timeout_ms.`,
        mayPass: true,
      };
}

function onlyOne(found: readonly Element[], wanted: string): Element | undefined {
  if (found.length < 2) return found[0];
  const candidates = found.slice(0, 6).map(({ ref, role, name }) => `${ref} ${role} ${JSON.stringify(name)}`);
  throw ambiguous(wanted, found.length, candidates);
}
