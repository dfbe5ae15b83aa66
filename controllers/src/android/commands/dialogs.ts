import type { Element } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { findKeyCode } from "../../screens/androidKeys.ts";
import { focusOn } from "../../screens/byFocus.ts";
import type { DialogAnswer, DialogHand } from "../../screens/dialogCommands.ts";
import type { OpenDialog } from "../../screens/dialogs.ts";
import type { Point } from "../../screens/pointing.ts";
import type { UiNode } from "../../screens/tree.ts";
import { pressOk, tapAt } from "../hand.ts";
import { type AndroidSession, sendInputs } from "../session.ts";
import { typeBehind } from "./text.ts";
import { demandTypable } from "./unicode.ts";

export const dialogHand = (session: AndroidSession): DialogHand => ({
  give: (answer, dialog, signal) => give(session, answer, dialog, signal),
});

/** A dialog that only one button closes is accepted by it; one without a button to dismiss it goes with the back key. */
async function give(
  session: AndroidSession,
  { accept, prompt_text }: DialogAnswer,
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
