import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { findKeyCode } from "../../screens/androidKeys.ts";
import { focusReady } from "../../screens/byFocus.ts";
import { confirmText, demandFocus, onlyField, seenAgain } from "../../screens/fields.ts";
import { locateReady, sent } from "../../screens/hand.ts";
import { centreOf } from "../../screens/pointing.ts";
import type { Seen } from "../../screens/screen.ts";
import { tapAt } from "../hand.ts";
import { readKeyboard } from "../keyboard.ts";
import { type AndroidSession, sendInputs } from "../session.ts";
import { presses } from "./keys.ts";
import { hasScreenKeys, typeByScreenKeys } from "./screenKeys.ts";
import { demandTypable, isBeyondKeys, writeByDriver } from "./unicode.ts";

/** One `input text` of more would take longer than the shell allows. */
const piece = 400;
const msPerCharacter = 30;

const clearInput = z.strictObject({ ...targetShape, ...timeoutShape });

export function textCommands(session: AndroidSession): Command[] {
  return [
    defineCommand({
      ...portable.input_text,
      async run(input, signal) {
        return sent(`typed into ${session.reader.describe(await replaceText(session, input, signal))}`);
      },
    }),
    defineCommand<typeof clearInput>({
      name: "clear_text",
      description: "Empties a field.",
      effect: "write",
      input: clearInput,
      async run(input, signal) {
        const seen = await replaceText(session, { ...input, text: "" }, signal);
        return sent(`emptied ${session.reader.describe(seen)}`);
      },
    }),
    defineCommand({
      ...portable.type_text,
      async run({ text, timeout_ms, ...target }, signal) {
        demandTypable(session, text);
        if (!hasTarget(target)) {
          // What an app draws itself may take a text without being a field; then it shows a keyboard.
          if ((await readKeyboard(session.device, signal)) !== true)
            await demandFocus(session.reader, signal);
          await typeBehind(session, { text, before: [] }, signal);
          return sent("typed where the focus is");
        }
        const seen = await fieldReady(session, target, timeout_ms, signal);
        const toEnd = ["input", "keyevent", `${findKeyCode("END")}`];
        await typeBehind(session, { text, before: [...focusing(seen), toEnd] }, signal);
        return sent(`typed into ${session.reader.describe(seen)}`);
      },
    }),
  ];
}

/** The field that a target means; on a TV, it has the focus. */
async function fieldReady(
  session: AndroidSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Seen> {
  const ready = session.hand.isTv() ? focusReady : locateReady;
  const { seen } = await ready(session.hand, target, timeoutMs, signal);
  onlyField(session.reader, seen);
  return seen;
}

/**
 * On a TV, a field that nothing of the text reached is filled by the keyboard that the app shows. False where that is not so.
 * Throws INPUT_NOT_TAKEN, UNICODE_UNSUPPORTED.
 */
async function isTypedByScreenKeys(
  session: AndroidSession,
  before: Seen,
  text: string,
  signal: AbortSignal,
): Promise<boolean> {
  const value = before.element.value ?? "";
  if (!session.device.facts().isTv || text === value) return false;
  const held = seenAgain(await session.reader.look(signal), before)?.element.value;
  if (held !== value || !(await hasScreenKeys(session, signal))) return false;
  await typeByScreenKeys(session, { text, deletions: [...value].length }, signal);
  await confirmText(session.reader, before, text, signal);
  return true;
}

/** Replaces what a field holds and reads it back. */
async function replaceText(
  session: AndroidSession,
  { text, timeout_ms, ...target }: Target & { text: string; timeout_ms: number },
  signal: AbortSignal,
): Promise<Seen> {
  demandTypable(session, text);
  const seen = await fieldReady(session, target, timeout_ms, signal);
  if (isBeyondKeys(text)) {
    await sendInputs(session, focusing(seen), signal);
    await writeByDriver(session, { text, replace: true }, signal);
    await confirmText(session.reader, seen, text, signal);
    return seen;
  }
  const inputs = [...focusing(seen), ...clearing(seen), ...typing(text)];
  await sendInputs(session, inputs, signal, forText(text));
  if (!(await isTypedByScreenKeys(session, seen, text, signal)))
    await confirmText(session.reader, seen, text, signal);
  return seen;
}

/** Types a text behind what is there, after other inputs. */
export async function typeBehind(
  session: AndroidSession,
  { text, before }: { text: string; before: readonly string[][] },
  signal: AbortSignal,
): Promise<void> {
  if (!isBeyondKeys(text)) return sendInputs(session, [...before, ...typing(text)], signal, forText(text));
  await sendInputs(session, before, signal);
  await writeByDriver(session, { text, replace: false }, signal);
}

const forText = (text: string) => ({ timeoutMs: 15_000 + text.length * msPerCharacter });

const focusing = (seen: Seen): string[][] => (seen.node.focused ? [] : [tapAt(centreOf(seen))]);

/** To the end of what is there, and that backwards. */
function clearing({ node }: Seen): string[][] {
  const count = [...node.text].length;
  if (count === 0) return [];
  return [["input", "keyevent", `${findKeyCode("END")}`], ...presses(findKeyCode("BACKSPACE") ?? 0, count)];
}

/**
 * The inputs that type a text as it stands. `input text` reads `%s` as a blank, so these two are never in one piece, and it
 * knows nothing but the keys of a plain keyboard. Throws UNICODE_UNSUPPORTED for anything else.
 */
export function typing(text: string): string[][] {
  const plain = text.replaceAll("\r\n", "\n");
  if (/[^\x20-\x7e\n\t]/.test(plain)) {
    throw new DeviceError(
      "UNICODE_UNSUPPORTED",
      "The text has characters that adb alone cannot type: it types ASCII only. Choose ASCII characters.",
    );
  }
  return plain.split(/(?<=%)(?=s)|([\n\t])/).flatMap((part) => {
    if (part === undefined || part === "") return [];
    if (part === "\n") return [["input", "keyevent", `${findKeyCode("ENTER")}`]];
    if (part === "\t") return [["input", "keyevent", `${findKeyCode("TAB")}`]];
    return piecesOf(part).map((one) => ["input", "text", one]);
  });
}

function piecesOf(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / piece) }, (_, at) =>
    text.slice(at * piece, (at + 1) * piece),
  );
}
