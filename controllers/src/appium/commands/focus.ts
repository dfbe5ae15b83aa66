import { type Command, defineCommand } from "../../contract.ts";
import type { Target } from "../../elements/target.ts";
import { moveFocusTo } from "../../focus/command.ts";
import * as byFocus from "../../screens/byFocus.ts";
import { type AppiumSession, sent } from "../session.ts";
import { pressKey } from "./keys.ts";

export const noFocus = {
  name: moveFocusTo.name,
  reason: "A phone is touched and moves no focus by keys. Use click_element.",
};

export function focusCommands(session: AppiumSession): Command[] {
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

export const focusReady = (session: AppiumSession, target: Target, timeoutMs: number, signal: AbortSignal) =>
  byFocus.focusReady(keysOf(session), target, timeoutMs, signal);

const keysOf = (session: AppiumSession): byFocus.FocusKeys => ({
  reader: session.reader,
  focusMaps: session.focusMaps,
  async press(keys, signal) {
    for (const key of keys) await pressKey(session, key, 1, signal);
  },
});
