import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { appStateOffers, fullPermission } from "../../screens/appState.ts";
import { sent } from "../../screens/hand.ts";
import type { AppiumFacts } from "../facts.ts";
import { type AppiumSession, input } from "../session.ts";
import { appInUse } from "./apps.ts";

/** Clearing the data of a large app takes longer than other calls. */
const clearMs = 60_000;
const onlyAndroid = "iOS lets no driver do this on a device. Uninstall and install the app.";

/** The data and permissions of an app of Android. */
export const appStateCommands = (session: AppiumSession): Command[] => [
  clearApp(session),
  changePermission(session, "grant"),
  changePermission(session, "revoke"),
];

export const withheldAppState = ({ platform }: AppiumFacts): Withheld[] =>
  platform === "android" ? [] : Object.keys(appStateOffers).map((name) => ({ name, reason: onlyAndroid }));

function clearApp(session: AppiumSession): Command {
  return defineCommand({
    ...appStateOffers.clear_app,
    async run(app, signal) {
      const appId = appInUse(session, app);
      await input(session, () =>
        session.device.mobile("clearApp", { appId }, signal, { timeoutMs: clearMs }),
      );
      return sent(`cleared the data of ${appId}`);
    },
  });
}

function changePermission(session: AppiumSession, action: "grant" | "revoke"): Command {
  const done = action === "grant" ? "granted" : "revoked";
  return defineCommand({
    ...appStateOffers[`${action}_permission`],
    async run({ permission, ...app }, signal) {
      const appPackage = appInUse(session, app);
      const full = fullPermission(permission);
      await input(session, () =>
        session.device.mobile("changePermissions", { permissions: full, appPackage, action }, signal),
      );
      return sent(`${done} ${full}`);
    },
  });
}
