import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { noSuchKey } from "../../elements/keys.ts";
import { DeviceError } from "../../errors.ts";
import { findKeyCode, keyNames } from "../../phones/androidKeys.ts";
import { keyCommands } from "../../phones/keyCommands.ts";
import { portable } from "../../portable.ts";
import { sent } from "../../screens/input.ts";
import type { AndroidFacts } from "../facts.ts";
import { presses } from "../inputs.ts";
import { type AndroidSession, sendInputs } from "../session.ts";

const msPerKey = 300;

/** The portable input, limited to the keys of Android, so that a test with another key is refused before it runs. */
const pressInput = portable.press_key.input.extend({
  key: portable.press_key.input.shape.key.refine((key) => findKeyCode(key) !== undefined, {
    error: ({ input: key }) => noSuchKey(String(key), keyNames).message,
  }),
});

export const androidKeyCommands = (session: AndroidSession): Command[] =>
  keyCommands(
    (key, count, signal) =>
      sendInputs(session, presses(key, count), signal, { timeoutMs: 15_000 + count * msPerKey }),
    ["go_back", "go_home", "show_recents"],
    pressInput,
  );

/** `input keycombination` came with Android 12. */
const firstApi = 31;
const name = "press_keys";
const tooOld =
  "Keys together can be pressed by adb from Android 12 on. Press one key at a time with press_key.";

/** Numbers of android.view.KeyEvent. */
const modifiers: Readonly<Record<string, number>> = { ALT: 57, SHIFT: 59, CTRL: 113, META: 117 };
const letters = Object.fromEntries([..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((key, index) => [key, 29 + index]));
const more: Readonly<Record<string, number>> = { ...modifiers, ...letters };
const names = [...Object.keys(more), ...keyNames];

const codeOf = (key: string): number | undefined => (Object.hasOwn(more, key) ? more[key] : findKeyCode(key));

const keySchema = z
  .string()
  .max(60)
  .refine((key) => codeOf(key) !== undefined, {
    error: ({ input }) => noSuchKey(String(input), names).message,
  });
const input = z.strictObject({
  keys: z
    .array(keySchema)
    .min(2)
    .max(4)
    .describe("CTRL, SHIFT, ALT, META, A to Z and the keys of press_key."),
});

/** Keys that are held together. */
export function chordCommands(session: AndroidSession): Command[] {
  return [
    defineCommand<typeof input>({
      name,
      description: "Presses keys together, such as CTRL and A.",
      effect: "write",
      input,
      async run({ keys }, signal) {
        if (session.device.facts().api < firstApi) throw new DeviceError("DEVICE_ERROR", tooOld);
        const codes = keys.map((key) => `${codeOf(key)}`);
        await sendInputs(session, [["input", "keycombination", ...codes]], signal);
        return sent(`pressed ${keys.join("+")}`);
      },
    }),
  ];
}

export const withheldChords = ({ api }: AndroidFacts): Withheld[] =>
  api < firstApi ? [{ name, reason: tooOld }] : [];
