import { shortened } from "../elements/quoted.ts";
import { DeviceError } from "../errors.ts";
import { allNodes, nodesBelow, type UiNode, type UiTree } from "./tree.ts";

/** Ids of the buttons of Android's own dialogs, the safest first. */
const accepting = [
  "android:id/button1",
  "permission_allow_foreground_only_button",
  "permission_allow_button",
  "permission_allow_one_time_button",
  "android:id/aerr_restart",
  "android:id/aerr_wait",
];
const dismissing = [
  "android:id/button2",
  "permission_deny_button",
  "permission_deny_and_dont_ask_again_button",
  "android:id/aerr_close",
  "android:id/button3",
];
const titles = /(?:^|\/)(?:alertTitle|permission_message)$/;

/** A dialog in front, with what accepts it and what dismisses it, where it has that. */
export type OpenDialog = {
  text: string;
  accept: UiNode | undefined;
  dismiss: UiNode | undefined;
  field: UiNode | undefined;
  /** It says that an app crashed or does not respond. */
  isOfCrash: boolean;
};

export function findDialog(tree: UiTree): OpenDialog | undefined {
  const nodes = allNodes(tree);
  const button = (ids: readonly string[]) => {
    const found = ids.map((id) => nodes.find((node) => node.id === id || node.id?.endsWith(`/${id}`)));
    return found.find((node) => node !== undefined);
  };
  const alert = nodes.find(({ role }) => role === "alertdialog");
  if (alert !== undefined) return alertOf(alert);
  const [accept, dismiss] = [button(accepting), button(dismissing)];
  const title = nodes.find(({ id }) => titles.test(id ?? ""));
  if (accept === undefined && dismiss === undefined) return undefined;
  const message = nodes.find(({ id }) => id === "android:id/message");
  const text = [title?.text, message?.text].filter((one) => one).join(": ");
  return {
    text: shortened(text, 300),
    accept,
    dismiss,
    field: nodes.find(({ role }) => role === "textbox"),
    isOfCrash: nodes.some(({ id }) => id?.startsWith("android:id/aerr_")),
  };
}

/** Refusing buttons, in English. */
const refusing = /^(?:cancel|don.t allow|deny|no|not now|close\b.*|later|dismiss|ask app not to track)$/i;

/** An alert of iOS: its buttons have no ids. The last of two accepts, and a button that refuses by its words does not. */
function alertOf(alert: UiNode): OpenDialog {
  const nodes = [...nodesBelow(alert)].filter((node) => node !== alert);
  const buttons = nodes.filter(({ role }) => role === "button");
  const refusal = buttons.find(({ text }) => refusing.test(text.trim()));
  const others = buttons.filter((one) => one !== refusal);
  const texts = nodes.filter(({ role }) => role === "text").map(({ text }) => text);
  return {
    text: shortened(texts.join(": "), 300) || alert.text,
    accept: refusal === undefined ? others.at(-1) : others[0],
    dismiss: refusal ?? (others.length > 1 ? others[0] : undefined),
    field: nodes.find(({ role }) => role === "textbox"),
    isOfCrash: false,
  };
}

/** Notices for a snapshot, one line each. */
export function noticesOf(tree: UiTree): string[] {
  const busy = "something on the screen always moves: its elements may stand elsewhere by now";
  return [
    ...dialogNotices(tree),
    ...(tree.isDark ? [darkScreen] : []),
    ...(tree.isBusy ? [busy] : []),
    ...(tree.isCut ? [cutScreen] : []),
    ...(tree.notices ?? []),
  ];
}

export const cutScreen =
  "some elements of the screen are not read: whether something is absent cannot be judged";

export const darkScreen = "the screen is off: press_key WAKEUP or POWER switches it on";

export const noDarkTouch = (): DeviceError =>
  new DeviceError(
    "DEVICE_ERROR",
    "The screen is off, so nothing on it can be used. Switch it on with press_key WAKEUP or POWER.",
  );

function dialogNotices(tree: UiTree): string[] {
  const dialog = findDialog(tree);
  if (dialog === undefined) return [];
  const what = dialog.isOfCrash ? "the dialog of an app that crashed or does not respond" : "dialog";
  return [`${what} ${JSON.stringify(dialog.text)} is open; handle_dialog answers it`];
}
