import { setTimeout as delay } from "node:timers/promises";
import { type Command, defineCommand, type Element } from "../../contract.ts";
import { ambiguous } from "../../elements/failures.ts";
import type { Target } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { moveFocusTo } from "../../focus/command.ts";
import type { Arrow } from "../../focus/geometry.ts";
import { type FocusMove, type FocusRemote, type MoveOptions, moveFocus } from "../../focus/moveFocus.ts";
import type { Seen } from "../../screens/screen.ts";
import { type AndroidSession, sendInputs, sent } from "../session.ts";
import { findKeyCode } from "./keyCodes.ts";

const lookEveryMs = 150;

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

/**
 * The element that a target means, once it has the focus. Throws what `moveFocus` and `ScreenReader.finder` throw, and
 * ELEMENT_NOT_ACTIONABLE for what no remote can reach.
 */
export async function focusReady(
  session: AndroidSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ seen: Seen; presses: number }> {
  const { reader } = session;
  const find = reader.finder(target);
  const { ref } = target;
  const wanted = target.selector ?? reader.words(ref ?? "");
  const until = performance.now() + timeoutMs;
  const focus: FocusRemote["focus"] = {
    async focus(own) {
      for (;;) {
        const look = await reader.focus.focus(own);
        const problem = await unreachable(session, target, find(look.candidates), own);
        if (problem === undefined) return look;
        if (!problem.mayPass || performance.now() >= until)
          throw new DeviceError("ELEMENT_NOT_ACTIONABLE", problem.message);
        await delay(lookEveryMs, undefined, { signal: own });
      }
    },
  };
  const { target: found, presses } = await focusOn(
    session,
    { focus, find: (candidates) => onlyOne(find(candidates), wanted) },
    { wanted, timeoutMs, ...(ref !== undefined && { gone: () => reader.gone(ref) }) },
    signal,
  );
  return { seen: reader.seen(found), presses };
}

/** Moves the focus by the keys of the device, with what is known of the screen. */
export async function focusOn(
  session: AndroidSession,
  remote: Pick<FocusRemote, "focus" | "find">,
  options: Omit<MoveOptions, "map">,
  signal: AbortSignal,
): Promise<FocusMove> {
  const press = (keys: readonly Arrow[], own: AbortSignal) =>
    sendInputs(session, [["input", "keyevent", ...keys.map((key) => `${findKeyCode(key)}`)]], own);
  const { packageName, activity } = (await session.reader.recent(signal)).tree.front;
  const map = session.focusMaps.of(`${packageName}/${activity}`);
  return moveFocus({ ...remote, press }, { ...options, map }, signal);
}

/** A target on the screen that can have no focus: why, and whether that may change. */
async function unreachable(
  { reader }: AndroidSession,
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
  const candidates = found
    .slice(0, 6)
    .map(({ ref, role, name }) => `${ref} (${role} ${JSON.stringify(name)})`);
  throw ambiguous(wanted, found.length, candidates);
}
