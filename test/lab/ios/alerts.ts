import type { LabUi, UiNode, UiWindow } from "../android/labUi.ts";
import { centerOf } from "../android/uia2/gestures.ts";
import { WireFailure } from "./wire.ts";

const button = /^android:id\/(?:button\d+|aerr_\w+)$|:id\/permission_\w+_button$/;
const refusing = /deny|aerr_close/;

const nodesOf = (node: UiNode): UiNode[] => [node, ...node.children.flatMap(nodesOf)];
const buttonsOf = ({ root }: UiWindow): UiNode[] =>
  nodesOf(root).filter(({ resourceId = "" }) => button.test(resourceId));

/** A window that asks by buttons; a choice of a list is none. */
export const isAlert = (window: UiWindow): boolean =>
  window.kind === "dialog" && buttonsOf(window).length > 0;

export function alertText(ui: LabUi): string {
  const texts = nodesOf(alertOf(ui).root).filter(
    ({ className, text }) => /\.TextView$/.test(className) && text,
  );
  return texts.map(({ text }) => text).join("\n");
}

export const alertButtons = (ui: LabUi): string[] => buttonsOf(alertOf(ui)).map(({ text = "" }) => text);

/** Taps the button of this label, else the one that is for it. */
export function answerAlert(ui: LabUi, accept: boolean, label?: string): void {
  const buttons = buttonsOf(alertOf(ui));
  const refusal = buttons.find(({ resourceId = "" }) => refusing.test(resourceId)) ?? buttons.at(-1);
  const usual = accept ? (buttons.find((one) => one !== refusal) ?? buttons[0]) : refusal;
  const wanted = label === undefined ? usual : buttons.find(({ text }) => text === label);
  if (wanted === undefined)
    throw new WireFailure("invalid argument", `The alert has no button '${label ?? ""}'`);
  ui.tap(centerOf(wanted));
}

function alertOf(ui: LabUi): UiWindow {
  const window = ui.active();
  if (isAlert(window)) return window;
  throw new WireFailure(
    "no such alert",
    "An attempt was made to operate on a modal dialog when one was not open",
  );
}
