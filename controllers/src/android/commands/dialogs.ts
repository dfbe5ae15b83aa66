import { type Command, defineCommand, type Element } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { findKeyCode } from "../../screens/androidKeys.ts";
import { focusOn } from "../../screens/byFocus.ts";
import { findDialog, type OpenDialog } from "../../screens/dialogs.ts";
import { sent } from "../../screens/hand.ts";
import type { Point } from "../../screens/pointing.ts";
import type { UiNode } from "../../screens/tree.ts";
import { pressOk, tapAt } from "../hand.ts";
import { type AndroidSession, sendInputs } from "../session.ts";
import { typeBehind } from "./text.ts";
import { demandTypable } from "./unicode.ts";

type Answer = { accept: boolean; prompt_text?: string | undefined };

export function dialogCommands(session: AndroidSession): Command[] {
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

/** A dialog that only one button closes is accepted by it; one without a button to dismiss it goes with the back key. */
async function give(
  session: AndroidSession,
  { accept, prompt_text }: Answer,
  dialog: OpenDialog,
  signal: AbortSignal,
): Promise<void> {
  if (prompt_text !== undefined && dialog.field !== undefined) {
    demandTypable(session, prompt_text);
    const before = [await way(session, dialog.field, signal)];
    await typeBehind(session, { text: prompt_text, before }, signal);
  }
  const button = accept ? dialog.accept : dialog.dismiss;
  if (button !== undefined) return sendInputs(session, [await way(session, button, signal)], signal);
  if (accept)
    throw new DeviceError("NO_DIALOG", "The dialog has no button that accepts it. Click one of its buttons.");
  await sendInputs(session, [["input", "keyevent", `${findKeyCode("BACK")}`]], signal);
}

/** What uses a part of a dialog: a tap, or on a TV OK once it has the focus. */
async function way(session: AndroidSession, part: UiNode, signal: AbortSignal): Promise<string[]> {
  if (!session.device.facts().isTv) return tapAt(centre(part));
  const { reader } = session;
  const find = (candidates: readonly Element[]) =>
    candidates.find((one) => reader.seen(one).node.id === part.id);
  const wanted = part.text || part.id;
  await focusOn(session.hand, { focus: reader.focus, find }, { wanted, timeoutMs: 0 }, signal);
  return pressOk;
}

const centre = ({ bounds: { x, y, width, height } }: UiNode): Point => ({
  x: Math.floor(x + width / 2),
  y: Math.floor(y + height / 2),
});
