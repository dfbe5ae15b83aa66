import type { App, View } from "./views.ts";
import { button, column, heading, icon, item, list, row, text } from "./views.ts";

/** Heights in dp, as on a phone with three buttons below. */
export const statusBarHeight = 24;
export const navigationBarHeight = 48;

export const systemUi = "com.android.systemui";
export const inputMethod = "com.android.inputmethod.latin";

const key = { back: 4, home: 3, recent: 187, delete: 67, enter: 66 };

export const statusBar = (): View =>
  row([text("12:00", { id: "clock", textSize: 12, weight: 1 })], { id: "status_bar", look: "bar" });

export const navigationBar = (): View =>
  row(
    [
      icon("back", [{ do: "press", code: key.back }], { description: "Back", weight: 1 }),
      icon("home", [{ do: "press", code: key.home }], { description: "Home", weight: 1 }),
      icon("recent_apps", [{ do: "press", code: key.recent }], { description: "Overview", weight: 1 }),
    ],
    { id: "navigation_bar", look: "bar" },
  );

const keys = (letters: string): View[] =>
  [...letters].map((letter) => button(letter, [{ do: "type", text: letter }], { look: "key", weight: 1 }));

/** Its keys write into the field that has the focus. */
export const keyboard = (): View =>
  column(
    [
      row(keys("1234567890"), { weight: 1 }),
      row(keys("qwertyuiop"), { weight: 1 }),
      row(keys("asdfghjkl"), { weight: 1 }),
      row(
        [
          ...keys("zxcvbnm"),
          button("⌫", [{ do: "press", code: key.delete }], { look: "key", weight: 2, description: "Delete" }),
        ],
        { weight: 1 },
      ),
      row(
        [
          ...keys(",@."),
          button(" ", [{ do: "type", text: " " }], { look: "key", weight: 4, description: "Space" }),
          button("↵", [{ do: "press", code: key.enter }], { look: "key", weight: 2, description: "Enter" }),
        ],
        { weight: 1 },
      ),
    ],
    { id: "keyboard_view", look: "bar" },
  );

export const shade = (apps: readonly App[]): View =>
  column(
    [
      heading("Notifications"),
      list(
        "notification_stack_scroller",
        apps.map(({ label, packageName }) => item(`${label} has news`, [{ do: "launch", packageName }])),
      ),
    ],
    { id: "notification_panel", look: "bar", padding: 8 },
  );

export const toastView = (content: string): View =>
  text(content, { id: "android:id/message", look: "toast", className: "android.widget.TextView" });

export const secondScreen = (): View => column([heading("Second display")], { weight: 1 });
