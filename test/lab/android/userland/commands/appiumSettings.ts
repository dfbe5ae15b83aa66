import type { System } from "../system.ts";
import type { Intent } from "./intent.ts";

/** The helper app of the UiAutomator2 driver, by what it answers to broadcasts. The app itself does not run here. */
const packageName = "io.appium.settings";

/** What a receiver of the app answers; undefined for what it has no receiver for, or while it is not installed. */
export function answerOf(intent: Intent, system: System): string | undefined {
  const action = intent.action?.startsWith(`${packageName}.`)
    ? intent.action.slice(packageName.length + 1)
    : "";
  const answer = answers[action];
  return system.packages.find(packageName) ? answer?.(intent, system) : undefined;
}

const answers: Readonly<Record<string, (intent: Intent, system: System) => string>> = {
  "clipboard.get": (_, { ui }) => dataOf(Buffer.from(ui.clipboard).toString("base64")),
  location: (_, { location }) => dataOf(`${location.latitude} ${location.longitude} ${location.altitude}`),
  locale: ({ extras }, { ui, properties }) => {
    const locale = [extras.get("lang") ?? "en", extras.get("country") ?? ""]
      .filter((part) => part !== "")
      .join("-");
    properties.set("persist.sys.locale", locale);
    ui.configure({ locale });
    return "result=-1";
  },
  notifications: () => dataOf(JSON.stringify({ statusBarNotifications: [] })),
  "sms.read": () => dataOf(JSON.stringify({ items: [], total: 0 })),
  animation: ({ extras }, { settings }) => {
    const scale = extras.get("setstatus") === "enable" ? "1.0" : "0.0";
    for (const name of ["animator_duration", "transition_animation", "window_animation"]) {
      settings.get("global")?.set(`${name}_scale`, scale);
    }
    return "result=-1";
  },
  scan_media: () => "result=-1",
};

const dataOf = (data: string) => `result=-1, data="${data}"`;

/** The app leaves the screen at once when it is started, and goes on as a service. */
export function startHelper(name: string, { processes }: System): boolean {
  if (name !== packageName) return false;
  processes.startService(packageName);
  return true;
}

/** The service of the app that pretends to be elsewhere. */
export function mockLocation({ component, extras }: Intent, system: System): void {
  if (component !== `${packageName}/.LocationService`) return;
  const number = (name: string) => Number(extras.get(name) ?? 0);
  system.location = {
    latitude: number("latitude"),
    longitude: number("longitude"),
    altitude: number("altitude"),
  };
}
