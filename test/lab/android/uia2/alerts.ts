import type { LabUi, UiNode } from "../labUi.ts";
import { Uia2Failure } from "./failure.ts";
import { centerOf } from "./gestures.ts";

const regularButton = /^android:id\/button\d+$/;
const permissionButton = /.+:id\/permission_(\w+)_button$/;

export const alertText = (ui: LabUi): string =>
  nodesOf(alertRoot(ui))
    .filter(({ className, text }) => className === "android.widget.TextView" && text)
    .map(({ text }) => text)
    .join("\n");

/** Taps the button of this label, else the one that is for it: the first to accept, the last to dismiss. */
export function answerAlert(ui: LabUi, accept: boolean, label: string | undefined): void {
  const buttons = nodesOf(alertRoot(ui)).filter(isButton);
  const wanted = label === undefined ? usual(buttons, accept) : buttons.find(({ text }) => text === label);
  if (!wanted) {
    throw new Uia2Failure("invalid element state", "The expected button cannot be detected on the alert");
  }
  ui.tap(centerOf(wanted));
}

function usual(buttons: readonly UiNode[], accept: boolean): UiNode | undefined {
  const word = accept ? "allow" : "deny";
  const ofPermission = buttons.find(({ resourceId = "" }) =>
    permissionButton.exec(resourceId)?.[1]?.startsWith(word),
  );
  return ofPermission ?? (accept ? buttons[0] : buttons.at(-1));
}

const isButton = ({ resourceId = "" }: UiNode) =>
  regularButton.test(resourceId) || permissionButton.test(resourceId);

function alertRoot(ui: LabUi): UiNode {
  const { root, kind } = ui.active();
  if (kind === "dialog" && nodesOf(root).some(isButton)) return root;
  throw new Uia2Failure("no such alert", "No alert is present on the screen");
}

const nodesOf = (node: UiNode): UiNode[] => [node, ...node.children.flatMap(nodesOf)];
