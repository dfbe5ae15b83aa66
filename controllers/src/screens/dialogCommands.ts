import { type Command, defineCommand } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import { findDialog, type OpenDialog } from "./dialogs.ts";
import { sent } from "./hand.ts";
import type { ScreenReader } from "./reader.ts";

export type DialogAnswer = { accept: boolean; prompt_text?: string | undefined };

/** How a driver answers a dialog. `giveSystem` is for what stands in no tree: false where there is no such dialog. */
export type DialogHand = {
  give(answer: DialogAnswer, dialog: OpenDialog, signal: AbortSignal): Promise<void>;
  giveSystem?(answer: DialogAnswer, signal: AbortSignal): Promise<boolean>;
};

export const dialogCommands = (reader: ScreenReader, hand: DialogHand): Command[] => [
  defineCommand({
    ...portable.handle_dialog,
    async run(answer, signal) {
      const what = answer.accept ? "accepted" : "dismissed";
      const dialog = findDialog((await reader.look(signal)).tree);
      if (dialog !== undefined) {
        if (answer.prompt_text !== undefined && dialog.field === undefined) throw noField(dialog);
        await hand.give(answer, dialog, signal);
        return sent(`${what} the dialog ${JSON.stringify(dialog.text)}`);
      }
      if (await hand.giveSystem?.(answer, signal)) return sent(`${what} the dialog of the system`);
      reader.beforeOthers(async ({ tree }, own) => {
        const opened = findDialog(tree);
        if (opened === undefined) return false;
        await hand.give(answer, opened, own);
        return true;
      });
      return { message: `the next dialog will be ${what}`, isNews: true };
    },
  }),
];

const noField = ({ text }: OpenDialog) =>
  new DeviceError(
    "INVALID_PARAMS",
    `The dialog ${JSON.stringify(text)} has no field, so nothing was answered. Leave prompt_text out.`,
  );
