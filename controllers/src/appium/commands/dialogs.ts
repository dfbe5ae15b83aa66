import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { findDialog, type OpenDialog } from "../../screens/dialogs.ts";
import { sent } from "../../screens/hand.ts";
import type { UiNode } from "../../screens/tree.ts";
import { type AppiumSession, input } from "../session.ts";
import { pressKey } from "./keys.ts";

type Answer = { accept: boolean; prompt_text?: string | undefined };

export function dialogCommands(session: AppiumSession): Command[] {
  return [
    defineCommand({
      ...portable.handle_dialog,
      async run(answer, signal) {
        const what = answer.accept ? "accepted" : "dismissed";
        const dialog = findDialog((await session.reader.look(signal)).tree);
        if (dialog !== undefined) {
          await give(session, answer, dialog, signal);
          return sent(`${what} the dialog ${JSON.stringify(dialog.text)}`);
        }
        if (await giveSystem(session, answer, signal)) return sent(`${what} the dialog of the system`);
        session.reader.beforeOthers(async ({ tree }, own) => {
          const opened = findDialog(tree);
          if (opened === undefined) return false;
          await give(session, answer, opened, own);
          return true;
        });
        return { message: `the next dialog will be ${what}` };
      },
    }),
  ];
}

async function give(
  session: AppiumSession,
  { accept, prompt_text }: Answer,
  dialog: OpenDialog,
  signal: AbortSignal,
): Promise<void> {
  const { device } = session;
  if (prompt_text !== undefined && dialog.field !== undefined)
    await input(session, () => device.call("sendAlertText", [prompt_text], signal));
  if (device.facts().isTv)
    return void (await input(session, () =>
      device.call(accept ? "acceptAlert" : "dismissAlert", [], signal),
    ));
  const button = accept ? dialog.accept : dialog.dismiss;
  if (button !== undefined) return session.hand.tap(centre(button), 1, signal);
  if (accept)
    throw new DeviceError("NO_DIALOG", "The dialog has no button that accepts it. Click one of its buttons.");
  await pressKey(session, "BACK", 1, signal);
}

/** An alert of iOS itself stands in no app's tree. False where there is none. */
async function giveSystem(session: AppiumSession, { accept }: Answer, signal: AbortSignal): Promise<boolean> {
  const { device } = session;
  if (device.facts().platform === "android") return false;
  try {
    await input(session, () => device.call(accept ? "acceptAlert" : "dismissAlert", [], signal));
    return true;
  } catch (error) {
    if (error instanceof DeviceError && error.details.wire_error === "no such alert") return false;
    throw error;
  }
}

const centre = ({ bounds: { x, y, width, height } }: UiNode) => ({
  x: Math.floor(x + width / 2),
  y: Math.floor(y + height / 2),
});
