import { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { portable } from "../portable.ts";
import { sent } from "../screens/input.ts";

/** Presses a key by its name `count` times. Throws INVALID_PARAMS for a key that the device lacks. */
export type PressKey = (key: string, count: number, signal: AbortSignal) => Promise<void>;

const shortcuts = {
  go_back: { key: "BACK", description: "Goes back, as the back button does." },
  go_home: { key: "HOME", description: "Shows the home screen." },
  show_recents: { key: "RECENTS", description: "Shows the apps that were used last." },
} as const;

/** `press_key` with the keys that `input` takes, and commands of one key. */
export const keyCommands = (
  press: PressKey,
  names: readonly (keyof typeof shortcuts)[],
  input = portable.press_key.input,
): Command[] => [
  defineCommand({
    ...portable.press_key,
    input,
    async run({ key, count }, signal) {
      await press(key, count, signal);
      return sent(`pressed ${key}${count > 1 ? ` ${count} times` : ""}`);
    },
  }),
  ...names.map((name) => {
    const { key, description } = shortcuts[name];
    return defineCommand({
      name,
      description,
      effect: "write",
      input: z.strictObject({}),
      async run(_input, signal) {
        await press(key, 1, signal);
        return sent(`pressed ${key}`);
      },
    });
  }),
];
