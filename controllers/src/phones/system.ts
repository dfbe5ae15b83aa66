import { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { shortened } from "../elements/quoted.ts";
import { sent } from "../screens/input.ts";

export const orientations = ["portrait", "landscape"] as const;
export type Orientation = (typeof orientations)[number];

export const noTurning = "A TV does not turn. Use a phone for what depends on rotation.";

/** As every driver of a phone offers it; a driver adds optional parameters of its own. */
export const rotateOffer = {
  name: "rotate",
  description: "Turns the screen. An app may fix its own rotation; the answer says how the screen stands.",
  effect: "write",
  input: z.strictObject({
    to: z.enum(orientations).describe("portrait: it stands upright; landscape: it lies."),
  }),
} as const;

/** What `rotate` replies. */
export const turned = (to: Orientation, now: Orientation | undefined): string =>
  now === to
    ? `the screen is in ${to}`
    : `the screen stays in ${now ?? "an unknown position"}: the app in front keeps its own rotation`;

const nothing = z.strictObject({});

export type KeyboardPort = {
  isShown(signal: AbortSignal): Promise<boolean>;
  /** Throws where it stays. */
  hide(signal: AbortSignal): Promise<void>;
};

export const keyboardCommand = (keyboard: KeyboardPort): Command =>
  defineCommand<typeof nothing>({
    name: "hide_keyboard",
    description: "Hides the keyboard on the screen; does nothing if none is shown.",
    effect: "write",
    input: nothing,
    async run(_input, signal) {
      if (!(await keyboard.isShown(signal))) return { message: "no keyboard is shown", isNews: true };
      await keyboard.hide(signal);
      return { ...sent("hid the keyboard"), isNews: true };
    },
  });

const mostOnClipboard = 100_000;

export type ClipboardPort = {
  /** A note on reading it, for the command's description. */
  note: string;
  /** In base64. Returns the reply. */
  write(base64: string, text: string, signal: AbortSignal): Promise<string>;
  read(signal: AbortSignal): Promise<string>;
};

export function clipboardCommands(clipboard: ClipboardPort): Command[] {
  const input = z.strictObject({ text: z.string().max(mostOnClipboard) });
  return [
    defineCommand<typeof input>({
      name: "write_clipboard",
      description: "Puts a text on the clipboard of the device.",
      effect: "write",
      input,
      async run({ text }, signal) {
        return sent(await clipboard.write(Buffer.from(text).toString("base64"), text, signal));
      },
    }),
    defineCommand<typeof nothing>({
      name: "read_clipboard",
      description: `Gives the text on the clipboard of the device as value.${clipboard.note}`,
      effect: "read",
      input: nothing,
      async run(_input, signal) {
        const text = Buffer.from(await clipboard.read(signal), "base64").toString("utf8");
        const value = shortened(text, mostOnClipboard);
        const cut = value.length < text.length ? `; value has the first ${mostOnClipboard}` : "";
        const message = `the clipboard holds ${text.length} characters${cut}`;
        return { message, isNews: cut !== "", data: { value } };
      },
    }),
  ];
}
