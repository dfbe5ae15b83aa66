import type { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { asEnding } from "../elements/failures.ts";
import { partNote } from "../elements/match.ts";
import { shortened } from "../elements/quoted.ts";
import { hasTarget } from "../elements/target.ts";
import { holds } from "../elements/text.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import { poll } from "../waiting/deadlines.ts";
import { noticesOf } from "./dialogs.ts";
import type { ScreenReader } from "./reader.ts";
import type { Screen } from "./screen.ts";

const lookEveryMs = 200;

type Condition = { expected: string; text?: string; holds(screen: Screen): boolean | Promise<boolean> };

export const waitCommand = (reader: ScreenReader): Command =>
  defineCommand({
    ...portable.wait_for,
    async run(input, signal) {
      const conditions = conditionsOf(reader, input);
      const started = performance.now();
      let unmet: Condition | undefined;
      let screen: Screen | undefined;
      const isMet = async () => {
        const now = await reader.look(signal);
        screen = now;
        unmet = await unmetOf(conditions, now);
        return unmet === undefined;
      };
      if (!(await poll(isMet, { everyMs: lookEveryMs, ms: input.timeout_ms, signal })))
        throw tooLate(input.timeout_ms, unmet, screen);
      const elapsed = Math.round(performance.now() - started);
      return { message: `held after ${elapsed} ms`, data: { elapsed_ms: elapsed } };
    },
  });

async function unmetOf(conditions: readonly Condition[], now: Screen): Promise<Condition | undefined> {
  for (const one of conditions) if (now.tree.isDark || !(await one.holds(now))) return one;
  return undefined;
}

/** What `wait_for` waits for; all of it must hold in one snapshot. */
function conditionsOf(
  reader: ScreenReader,
  { state, text, text_gone, timeout_ms: _, ...target }: z.output<typeof portable.wait_for.input>,
): Condition[] {
  const shows = (wanted: string, { texts }: Screen) =>
    texts.some((text) => holds({ match: "words", text: wanted }, text));
  const lacks = (isThere: boolean, { tree }: Screen) => !isThere && !tree.isCut;
  const conditions: Condition[] = [];
  if (hasTarget(target)) {
    const expected = `${target.selector ?? target.ref} is ${state}`;
    const isThere = async (screen: Screen) => (await reader.find(target, screen)).length > 0;
    const isGone = async (screen: Screen) => lacks(await isThere(screen), screen);
    conditions.push({ expected, holds: state === "visible" ? isThere : isGone });
  }
  if (text !== undefined)
    conditions.push({
      expected: `the text ${JSON.stringify(text)}`,
      text,
      holds: (screen) => shows(text, screen),
    });
  if (text_gone !== undefined)
    conditions.push({
      expected: `no text ${JSON.stringify(text_gone)}`,
      holds: (screen) => lacks(shows(text_gone, screen), screen),
    });
  if (conditions.length > 0) return conditions;
  throw new DeviceError("INVALID_PARAMS", "Nothing to wait for. Give ref or selector, text or text_gone.");
}

function tooLate(ms: number, unmet: Condition | undefined, screen: Screen | undefined): DeviceError {
  const shown = shortened((screen?.texts ?? []).slice(0, 30).join(" | "), 1_000);
  const notices = screen ? noticesOf(screen.tree) : [];
  const part = partNote("words", unmet?.text ?? "", screen?.texts ?? []);
  return new DeviceError(
    "COMMAND_TIMEOUT",
    `Waited ${ms} ms for: ${unmet?.expected}; the screen shows: ${shown}${part}${asEnding(notices)}. Look at the screen, or wait longer with timeout_ms.`,
    { expected: unmet?.expected },
  );
}
