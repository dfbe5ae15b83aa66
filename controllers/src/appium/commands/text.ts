import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { focusReady } from "../../screens/byFocus.ts";
import { confirmText, onlyField } from "../../screens/fields.ts";
import { locateReady, sent } from "../../screens/hand.ts";
import { centreOf } from "../../screens/pointing.ts";
import type { Seen } from "../../screens/screen.ts";
import { poll } from "../../waiting/deadlines.ts";
import { type AppiumSession, input } from "../session.ts";
import { findActive } from "../source.ts";

const msPerCharacter = 100;
/** A field that was touched has the keyboard by then. */
const focusMs = 3_000;
const lookEveryMs = 100;

const clearInput = z.strictObject({ ...targetShape, ...timeoutShape });

export function textCommands(session: AppiumSession): Command[] {
  return [
    defineCommand({
      ...portable.input_text,
      async run({ text, timeout_ms, ...target }, signal) {
        const seen = await replaceText(session, target, { text, timeoutMs: timeout_ms }, signal);
        return sent(`typed into ${session.reader.describe(seen)}`);
      },
    }),
    defineCommand<typeof clearInput>({
      name: "clear_text",
      description: "Empties a field.",
      effect: "write",
      input: clearInput,
      async run({ timeout_ms, ...target }, signal) {
        const seen = await replaceText(session, target, { text: "", timeoutMs: timeout_ms }, signal);
        return sent(`emptied ${session.reader.describe(seen)}`);
      },
    }),
    defineCommand({
      ...portable.type_text,
      async run({ text, timeout_ms, ...target }, signal) {
        if (!hasTarget(target)) {
          await send(session, await activeField(session, signal), text, signal);
          return sent("typed where the focus is");
        }
        const { seen, field } = await fieldReady(session, target, timeout_ms, signal);
        await send(session, field, text, signal);
        return sent(`typed into ${session.reader.describe(seen)}`);
      },
    }),
  ];
}

/** Replaces what a field holds and reads it back. */
async function replaceText(
  session: AppiumSession,
  target: Target,
  { text, timeoutMs }: { text: string; timeoutMs: number },
  signal: AbortSignal,
): Promise<Seen> {
  const { seen, field } = await fieldReady(session, target, timeoutMs, signal);
  const isEmpty = (seen.element.value ?? "") === "";
  if (!isEmpty) await input(session, () => session.device.call("elementClear", [field], signal));
  if (text !== "") await send(session, field, text, signal);
  await confirmText(session.reader, seen, text, signal);
  return seen;
}

async function send(session: AppiumSession, field: string, text: string, signal: AbortSignal): Promise<void> {
  const plain = text.replaceAll("\r\n", "\n");
  const timeoutMs = 30_000 + plain.length * msPerCharacter;
  await input(session, () => session.device.call("elementSendKeys", [field, plain], signal, { timeoutMs }));
}

/** The field that a target means once it has the keyboard, with its id for the server. */
async function fieldReady(session: AppiumSession, target: Target, timeoutMs: number, signal: AbortSignal) {
  const { hand } = session;
  const ready = hand.isTv() ? focusReady : locateReady;
  const { seen } = await ready(hand, target, timeoutMs, signal);
  onlyField(session.reader, seen);
  if (hand.isTv()) await hand.press(["OK"], signal);
  else if (!seen.node.focused) await hand.tap(centreOf(seen), 1, signal);
  return { seen, field: await activeField(session, signal) };
}

/** Throws ELEMENT_NOT_ACTIONABLE when no field has the keyboard. */
async function activeField({ device }: AppiumSession, signal: AbortSignal): Promise<string> {
  let found: string | undefined;
  const isThere = async () => {
    found = await findActive(device, signal);
    return found !== undefined;
  };
  await poll(isThere, { everyMs: lookEveryMs, ms: focusMs, signal });
  if (found !== undefined) return found;
  throw new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    "No field has the keyboard. Click the field, and see whether something covers it.",
  );
}
