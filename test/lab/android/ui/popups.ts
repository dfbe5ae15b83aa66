import type { WindowState } from "./layout.ts";
import { type Action, button, column, type Dialog, scrollArea, text, type View } from "./views.ts";

/** A window above the app that takes all touches: an alert, a choice, a question of the system. */
export type Popup = {
  key: string;
  packageName: string;
  title: string;
  view: View;
  state: WindowState;
  /** What Back and a touch outside it do; undefined where neither closes it. */
  cancel: readonly Action[] | undefined;
  /** The app that does not respond until this closes. */
  waitsFor?: string;
};
export type NewPopup = Omit<Popup, "key" | "state">;

export const alert = (packageName: string, { title, message, buttons }: Dialog): NewPopup => ({
  packageName,
  title,
  cancel: [],
  view: column(
    [
      text(title, { id: "android:id/alertTitle", look: "title", textSize: 20 }),
      ...(message === undefined ? [] : [text(message, { id: "android:id/message" })]),
      ...buttons.map((one, index) =>
        button(one.text, one.actions, { id: one.id ?? `android:id/button${index + 1}` }),
      ),
    ],
    { look: "dialog", padding: 16 },
  ),
});

export const choice = (
  packageName: string,
  { value, options, chosen }: { value: string; options: readonly string[]; chosen: unknown },
): NewPopup => ({
  packageName,
  title: "",
  cancel: [],
  view: column(
    [
      scrollArea(
        options.map((option) =>
          text(option, {
            className: "android.widget.CheckedTextView",
            id: "android:id/text1",
            height: 48,
            checked: option === chosen,
            onTap: [{ do: "set", value, to: option }],
          }),
        ),
        { className: "android.widget.ListView", weight: 0 },
      ),
    ],
    { look: "dialog", padding: 8 },
  ),
});

const controller = "com.android.permissioncontroller";

export function permissionQuestion(
  label: string,
  permission: string,
  { yes, no }: { yes: readonly Action[]; no: readonly Action[] },
): NewPopup {
  const name = permission.split(".").at(-1)?.toLowerCase().replaceAll("_", " ");
  const id = (end: string) => ({ id: `${controller}:id/permission_${end}` });
  const grant: readonly Action[] = [{ do: "grant", permission }, ...yes];
  return {
    packageName: controller,
    title: "",
    cancel: undefined,
    view: column(
      [
        text(`Allow ${label} to use ${name}?`, id("message")),
        button("While using the app", grant, id("allow_foreground_only_button")),
        button("Only this time", grant, id("allow_one_time_button")),
        button("Don’t allow", [{ do: "deny", permission }, ...no], id("deny_button")),
      ],
      { look: "dialog", padding: 16 },
    ),
  };
}

export const crashed = (packageName: string, label: string): NewPopup => ({
  ...alert("android", {
    title: `${label} has stopped`,
    buttons: [
      { text: "Open app again", id: "android:id/aerr_restart", actions: [{ do: "launch", packageName }] },
      { text: "Close app", id: "android:id/aerr_close", actions: [] },
    ],
  }),
  cancel: undefined,
});

export const notResponding = (packageName: string, label: string): NewPopup => ({
  ...alert("android", {
    title: `${label} isn't responding`,
    buttons: [
      { text: "Close app", id: "android:id/aerr_close", actions: [{ do: "close app", packageName }] },
      { text: "Wait", id: "android:id/aerr_wait", actions: [] },
    ],
  }),
  cancel: undefined,
  waitsFor: packageName,
});
