import { type LabUi, nodesBelow, type UiNode, type UiWindow } from "../android/labUi.ts";
import { WireFailure } from "../webdriver/wire.ts";

const button = /^android:id\/(?:button\d+|aerr_\w+)$|:id\/permission_\w+_button$/;
const refusing = /deny|aerr_close/;

const buttonsOf = ({ root }: UiWindow): UiNode[] =>
  nodesBelow(root).filter(({ resourceId = "" }) => button.test(resourceId));

/** A dialog with buttons is an alert; a choice from a list is not. */
export const isAlert = (window: UiWindow): boolean =>
  window.kind === "dialog" && buttonsOf(window).length > 0;

/** Taps the button that accepts, or the one that refuses. */
export function answerAlert(ui: LabUi, accept: boolean): void {
  const buttons = buttonsOf(alertOf(ui));
  const refusal = buttons.find(({ resourceId = "" }) => refusing.test(resourceId)) ?? buttons.at(-1);
  const wanted = accept ? (buttons.find((one) => one !== refusal) ?? buttons[0]) : refusal;
  if (wanted === undefined) throw new WireFailure("invalid argument", "The alert has no button");
  const { x, y, width, height } = wanted.bounds;
  ui.tap({ x: Math.round(x + width / 2), y: Math.round(y + height / 2) });
}

function alertOf(ui: LabUi): UiWindow {
  const window = ui.active();
  if (isAlert(window)) return window;
  throw new WireFailure(
    "no such alert",
    "An attempt was made to operate on a modal dialog when one was not open",
  );
}
