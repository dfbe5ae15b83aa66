import { type App, button, column, heading, type View } from "../views.ts";

const app = ({ packageName, label }: { packageName: string; label: string }): View =>
  button(label, [{ do: "launch", packageName }], {
    name: packageName,
    className: "android.widget.TextView",
    look: "card",
    height: 88,
    textSize: 13,
    onLongPress: [{ do: "toast", text: label }],
  });

export const launcher: App = {
  packageName: "com.android.launcher3",
  label: "Launcher",
  startMs: { cold: 180, warm: 60 },
  screens: {
    main: {
      activity: ".Main",
      view: ({ apps }) =>
        column(apps.map(app), { id: "workspace", flow: "grid", columns: 4, scrolls: true, weight: 1 }),
    },
    recent: {
      activity: ".Recents",
      view: ({ apps, recent }) =>
        column([
          heading("Recent apps"),
          ...recent.flatMap((packageName) =>
            apps.filter((one) => one.packageName === packageName).map((one) => app(one)),
          ),
        ]),
    },
  },
};
