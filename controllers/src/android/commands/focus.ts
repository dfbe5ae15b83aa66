import { type Command, defineCommand } from "../../contract.ts";
import type { Target } from "../../elements/target.ts";
import { moveFocusTo } from "../../focus/command.ts";
import type { FocusMove, FocusRemote, MoveOptions } from "../../focus/moveFocus.ts";
import { findKeyCode } from "../../screens/androidKeys.ts";
import * as byFocus from "../../screens/byFocus.ts";
import type { Seen } from "../../screens/screen.ts";
import { type AndroidSession, sendInputs, sent } from "../session.ts";

export const pressOk = ["input", "keyevent", `${findKeyCode("OK")}`];

export const noFocus = {
  name: moveFocusTo.name,
  reason:
    "A phone is touched and moves no focus by keys. Use click_element, or press_key TAB for a keyboard.",
};

export function focusCommands(session: AndroidSession): Command[] {
  return [
    defineCommand({
      ...moveFocusTo,
      async run({ timeout_ms, ...target }, signal) {
        const { seen, presses } = await focusReady(session, target, timeout_ms, signal);
        return sent(`${session.reader.describe(seen)} has the focus, after ${presses} key presses`);
      },
    }),
  ];
}

/** {@link byFocus.focusReady} by the keys of the device. */
export const focusReady = (
  session: AndroidSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ seen: Seen; presses: number }> => byFocus.focusReady(keysOf(session), target, timeoutMs, signal);

/** {@link byFocus.focusOn} by the keys of the device. */
export const focusOn = (
  session: AndroidSession,
  remote: Pick<FocusRemote, "focus" | "find">,
  options: Omit<MoveOptions, "map">,
  signal: AbortSignal,
): Promise<FocusMove> => byFocus.focusOn(keysOf(session), remote, options, signal);

const keysOf = (session: AndroidSession): byFocus.FocusKeys => ({
  reader: session.reader,
  focusMaps: session.focusMaps,
  press: (keys, signal) =>
    sendInputs(session, [["input", "keyevent", ...keys.map((key) => `${findKeyCode(key)}`)]], signal),
});
