import { z } from "zod";
import type { Withheld } from "../contract.ts";
import { orientationCheck, type PhoneState, toastCheck } from "../phones/checks.ts";
import { noTurning } from "../phones/system.ts";
import { naming } from "./commands/apps.ts";
import { readKeyboard, readOrientation } from "./commands/system.ts";
import type { AppiumFacts } from "./facts.ts";
import type { AppiumParts } from "./session.ts";

/** As Appium counts the states of an app. */
const notInstalledState = 0;
const backgroundState = 2;
const front = z.union([z.string(), z.object({ bundleId: z.string() }).transform(({ bundleId }) => bundleId)]);

export const createState = (session: Pick<AppiumParts, "device">): PhoneState => ({
  source: "server",
  async front(signal) {
    const command = session.device.facts().platform === "android" ? "getCurrentPackage" : "activeAppInfo";
    return front.safeParse(await session.device.mobile(command, {}, signal)).data;
  },
  async installed(id, signal) {
    const holds = await session.device.mobile("isAppInstalled", naming(session, id), signal);
    return typeof holds === "boolean" ? { holds } : undefined;
  },
  async runs(id, signal) {
    const state = Number(await session.device.mobile("queryAppState", naming(session, id), signal));
    if (Number.isNaN(state)) return undefined;
    return state === notInstalledState ? "absent" : state >= backgroundState;
  },
  async orientation(signal) {
    const now = await readOrientation(session, signal);
    return now && { now };
  },
  isKeyboardShown: (signal) => readKeyboard(session, signal),
});

export const withheldChecks = ({ platform, isTv }: AppiumFacts): Withheld[] => [
  ...(platform === "android" ? [] : [{ name: toastCheck, reason: "iOS has no toasts." }]),
  ...(isTv ? [{ name: orientationCheck, reason: noTurning }] : []),
];
