import { type Command, defineCommand } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import { findDialog, type OpenDialog } from "./dialogs.ts";
import { type ScreenInput, sent } from "./input.ts";
import type { UiNode } from "./tree.ts";

type DialogAnswer = { accept: boolean; prompt_text?: string | undefined };

/** What a driver does with dialogs besides touching their buttons. */
export type DialogPort = {
  fill?(field: UiNode, text: string, signal: AbortSignal): Promise<void>;
  /** Dismisses a dialog without a button for that. */
  goBack?(signal: AbortSignal): Promise<void>;
  /** Answers without its buttons a dialog that was seen, or one that stands in no tree. False where that is not possible. */
  answer?(accept: boolean, isSeen: boolean, signal: AbortSignal): Promise<boolean>;
};

export function dialogCommand(input: () => ScreenInput, port: DialogPort): Command {
  /** A dialog that only one button closes is accepted by it; one without a button to dismiss it goes with the back key. */
  const answer = async ({ accept, prompt_text }: DialogAnswer, dialog: OpenDialog, signal: AbortSignal) => {
    if (prompt_text !== undefined && dialog.field !== undefined)
      await port.fill?.(dialog.field, prompt_text, signal);
    if (await port.answer?.(accept, true, signal)) return;
    const button = accept ? dialog.accept : dialog.dismiss;
    if (button !== undefined) await input().use(button, signal);
    else if (accept)
      throw new DeviceError(
        "NO_DIALOG",
        "The dialog has no button that accepts it. Click one of its buttons.",
      );
    else await port.goBack?.(signal);
  };
  return defineCommand({
    ...portable.handle_dialog,
    async run(given, signal) {
      const { reader } = input();
      const what = given.accept ? "accepted" : "dismissed";
      const dialog = findDialog((await reader.look(signal)).tree);
      if (dialog !== undefined) {
        if (given.prompt_text !== undefined && dialog.field === undefined) throw noField(dialog);
        await answer(given, dialog, signal);
        return sent(`${what} the dialog ${JSON.stringify(dialog.text)}`);
      }
      if (await port.answer?.(given.accept, false, signal)) return sent(`${what} the dialog of the system`);
      reader.beforeOthers(async ({ tree }, own) => {
        const opened = findDialog(tree);
        if (opened !== undefined) await answer(given, opened, own);
        return opened !== undefined;
      });
      return { message: `the next dialog will be ${what}`, isNews: true };
    },
  });
}

const noField = ({ text }: OpenDialog) =>
  new DeviceError(
    "INVALID_PARAMS",
    `The dialog ${JSON.stringify(text)} has no field, so nothing was answered. Leave prompt_text out.`,
  );
