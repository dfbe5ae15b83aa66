import { z } from "zod";
import { type Check, defineCheck, type Withheld } from "../contract.ts";
import { absent, ofPresence, ofSubject, untold } from "../elements/readings.ts";
import { portable } from "../portable.ts";
import { packageShape } from "../screens/appState.ts";
import { elementChecks } from "../screens/checks.ts";
import { toastSeen, toastSeenName } from "../screens/toasts.ts";
import { noTurning, orientationOffer } from "../screens/turning.ts";
import { appIdOf, appInUse, naming } from "./commands/apps.ts";
import { readKeyboard } from "./commands/keyboard.ts";
import { readOrientation } from "./commands/system.ts";
import type { AppiumFacts } from "./facts.ts";
import type { AppiumSession } from "./session.ts";

/** As Appium counts the states of an app. */
const notInstalledState = 0;
const backgroundState = 2;

export function appiumChecks(session: AppiumSession): Check[] {
  return [
    ...elementChecks(session.reader),
    appShown(session),
    appInstalled(session),
    appRunning(session),
    orientationIs(session),
    keyboardShown(session),
    toastSeen(session.reader),
  ];
}

export const withheldChecks = ({ platform, isTv }: AppiumFacts): Withheld[] => [
  ...(platform === "android" ? [] : [{ name: toastSeenName, reason: "iOS has no toasts." }]),
  ...(isTv ? [{ name: orientationOffer.name, reason: noTurning }] : []),
];

function appShown({ device }: AppiumSession): Check {
  const front = z.union([
    z.string(),
    z.object({ bundleId: z.string() }).transform(({ bundleId }) => bundleId),
  ]);
  return defineCheck({
    ...portable.app_shown,
    async read({ app }, signal) {
      const id = appIdOf(app);
      const command = device.facts().platform === "android" ? "getCurrentPackage" : "activeAppInfo";
      const found = front.safeParse(await device.mobile(command, {}, signal)).data;
      const expected = `${id} is in front`;
      if (found === undefined) return untold(expected, "the server does not say which app is in front");
      return { holds: found === id, expected, actual: `${found} is` };
    },
  });
}

function appInstalled(session: AppiumSession): Check {
  const input = z.strictObject(packageShape);
  return defineCheck<typeof input>({
    name: "app_installed",
    description: "The app is on the device",
    input,
    judges: ofPresence,
    async read(app, signal) {
      const id = appInUse(session, app);
      const found = await session.device.mobile("isAppInstalled", naming(session, id), signal);
      const expected = `${id} is installed`;
      if (typeof found !== "boolean") return untold(expected, "the server does not say what is installed");
      return { holds: found, expected, actual: found ? "it is" : "it is not" };
    },
  });
}

function appRunning(session: AppiumSession): Check {
  const input = z.strictObject(packageShape);
  return defineCheck<typeof input>({
    name: "app_running",
    description: "The app has a process, in front or not",
    input,
    judges: ofSubject,
    async read(app, signal) {
      const id = appInUse(session, app);
      const state = Number(await session.device.mobile("queryAppState", naming(session, id), signal));
      const holds = state >= backgroundState;
      if (state === notInstalledState) return absent(`${id} runs`, "the app is not installed");
      return { holds, expected: `${id} runs`, actual: holds ? "it runs" : "it does not run" };
    },
  });
}

function orientationIs(session: AppiumSession): Check {
  return defineCheck({
    ...orientationOffer,
    async read({ orientation }, signal) {
      const expected = `the screen is in ${orientation}`;
      const found = await readOrientation(session, signal);
      if (found === undefined) return untold(expected, "the server does not say how the screen is turned");
      return { holds: found === orientation, expected, actual: `it is in ${found}` };
    },
  });
}

function keyboardShown(session: AppiumSession): Check {
  const input = z.strictObject({});
  return defineCheck<typeof input>({
    name: "keyboard_shown",
    description: "A keyboard is on the screen",
    input,
    judges: ofPresence,
    async read(_input, signal) {
      const isShown = await readKeyboard(session, signal);
      return { holds: isShown, expected: "a keyboard is shown", actual: isShown ? "it is" : "none is" };
    },
  });
}
