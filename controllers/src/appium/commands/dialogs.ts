import { DeviceError } from "../../errors.ts";
import type { DialogAnswer, DialogHand } from "../../screens/dialogCommands.ts";
import type { OpenDialog } from "../../screens/dialogs.ts";
import type { UiNode } from "../../screens/tree.ts";
import { type AppiumSession, input } from "../session.ts";
import { pressKey } from "./keys.ts";

export const dialogHand = (session: AppiumSession): DialogHand => ({
  give: (answer, dialog, signal) => give(session, answer, dialog, signal),
  giveSystem: (answer, signal) => giveSystem(session, answer, signal),
});

async function give(
  session: AppiumSession,
  { accept, prompt_text }: DialogAnswer,
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
async function giveSystem(
  session: AppiumSession,
  { accept }: DialogAnswer,
  signal: AbortSignal,
): Promise<boolean> {
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
