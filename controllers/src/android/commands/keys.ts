import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { noSuchKey } from "../../elements/keys.ts";
import { portable } from "../../portable.ts";
import { findKeyCode, keyNames } from "../../screens/androidKeys.ts";
import { sent } from "../../screens/hand.ts";
import { type AndroidSession, sendInputs } from "../session.ts";

/** `input keyevent` takes several; the device works them off one by one. */
const mostAtOnce = 50;
const msPerKey = 300;

/** The portable input, of which a test can be told before it runs that the device lacks its key. */
const pressInput = portable.press_key.input.extend({
  key: portable.press_key.input.shape.key.refine((key) => findKeyCode(key) !== undefined, {
    error: ({ input }) => noSuchKey(String(input), keyNames).message,
  }),
});

export function keyCommands(session: AndroidSession): Command[] {
  return [
    defineCommand({
      ...portable.press_key,
      input: pressInput,
      async run({ key, count }, signal) {
        await pressKey(session, findKeyCode(key) ?? 0, count, signal);
        return sent(`pressed ${key}${count > 1 ? ` ${count} times` : ""}`);
      },
    }),
    shortcut(session, { name: "go_back", description: "Goes back, as the back button does.", key: "BACK" }),
    shortcut(session, { name: "go_home", description: "Shows the home screen.", key: "HOME" }),
    shortcut(session, {
      name: "show_recents",
      description: "Shows the apps that were used last.",
      key: "RECENTS",
    }),
  ];
}

function shortcut(
  session: AndroidSession,
  { name, description, key }: { name: string; description: string; key: string },
): Command {
  return defineCommand({
    name,
    description,
    effect: "write",
    input: z.strictObject({}),
    async run(_input, signal) {
      await pressKey(session, findKeyCode(key) ?? 0, 1, signal);
      return sent(`pressed ${key}`);
    },
  });
}

async function pressKey(
  session: AndroidSession,
  code: number,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  await sendInputs(session, presses(code, count), signal, { timeoutMs: 15_000 + count * msPerKey });
}

/** The inputs that press a key so often. */
export function presses(code: number, count: number): string[][] {
  const inputs: string[][] = [];
  for (let left = count; left > 0; left -= mostAtOnce)
    inputs.push(["input", "keyevent", ...Array<string>(Math.min(left, mostAtOnce)).fill(`${code}`)]);
  return inputs;
}
