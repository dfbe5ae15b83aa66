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
};

const dataOf = (data: string) => `result=-1, data="${data}"`;

/** The app leaves the screen at once when it is started, and goes on as a service. */
export function startHelper(name: string, { processes }: System): boolean {
  if (name !== packageName) return false;
  processes.startService(packageName);
  return true;
}
