import { z } from "zod";
import { type Check, type ControllerContext, defineCheck } from "../contract.ts";
import { firstMatch, matchSchema, matchWords, partNote, relation } from "../elements/match.ts";
import { quoted } from "../elements/quoted.ts";
import { absent, inconclusive, ofPresence, ofSubject } from "../elements/readings.ts";
import { portable } from "../portable.ts";
import { elementChecks } from "../screens/checks.ts";
import { cutScreen } from "../screens/dialogs.ts";
import type { ScreenReader } from "../screens/reader.ts";
import { allNodes } from "../screens/tree.ts";
import { type AppPort, idInUse, packageShape } from "./apps.ts";
import { type Orientation, orientations } from "./system.ts";

/** Questions of a driver to its device, besides its screen. Undefined: the device does not say. */
export type PhoneState = {
  /** The source of the answers, as readings name it. */
  source: "device" | "server";
  front(signal: AbortSignal): Promise<string | undefined>;
  /** `near` are the installed apps with the most similar ids. */
  installed(
    id: string,
    signal: AbortSignal,
  ): Promise<{ holds: boolean; near?: readonly string[] } | undefined>;
  /** Whether it has a process; "absent" where it is not installed. */
  runs(id: string, signal: AbortSignal): Promise<boolean | "absent" | undefined>;
  orientation(signal: AbortSignal): Promise<{ now: Orientation; angle?: number } | undefined>;
  isKeyboardShown(signal: AbortSignal): Promise<boolean | undefined>;
};

type Parts = {
  context: ControllerContext;
  reader: ScreenReader;
  apps: Pick<AppPort, "idOf">;
  state: PhoneState;
};

export const phoneChecks = (parts: Parts): Check[] => [
  ...elementChecks(parts.reader),
  appShown(parts),
  appInstalled(parts),
  appRunning(parts),
  orientationIs(parts),
  keyboardShown(parts),
  toastSeen(parts.reader),
];

const onlyApp = z.strictObject(packageShape);

function appShown({ apps, state }: Parts): Check {
  return defineCheck({
    ...portable.app_shown,
    async read({ app }, signal) {
      const id = apps.idOf(app);
      const expected = `${id} is in front`;
      const front = await state.front(signal);
      if (front === undefined)
        return inconclusive(expected, `the ${state.source} does not say which app is in front`);
      return { holds: front === id, expected, actual: front === "" ? "no app is" : `${front} is` };
    },
  });
}

function appInstalled({ context, apps, state }: Parts): Check {
  return defineCheck<typeof onlyApp>({
    name: "app_installed",
    description: "The app is on the device",
    input: onlyApp,
    judges: ofPresence,
    async read(app, signal) {
      const id = idInUse(context, apps, app);
      const expected = `${id} is installed`;
      const found = await state.installed(id, signal);
      if (found === undefined)
        return inconclusive(expected, `the ${state.source} does not say what is installed`);
      if (found.holds) return { holds: true, expected, actual: "it is" };
      return { ...absent(expected, "it is not"), nearest: found.near ?? [] };
    },
  });
}

function appRunning({ context, apps, state }: Parts): Check {
  return defineCheck<typeof onlyApp>({
    name: "app_running",
    description: "The app has a process, in front or not",
    input: onlyApp,
    judges: ofSubject,
    async read(app, signal) {
      const id = idInUse(context, apps, app);
      const expected = `${id} runs`;
      const runs = await state.runs(id, signal);
      if (runs === undefined)
        return inconclusive(expected, `the ${state.source} does not list its processes`);
      if (runs === "absent") return absent(expected, "the app is not installed");
      return { holds: runs, expected, actual: runs ? "it runs" : "it does not run" };
    },
  });
}

export const orientationCheck = "orientation_is";

function orientationIs({ state }: Parts): Check {
  const input = z.strictObject({ orientation: z.enum(orientations) });
  return defineCheck<typeof input>({
    name: orientationCheck,
    description: "The screen stands upright (portrait) or lies (landscape)",
    input,
    judges: ofSubject,
    async read({ orientation }, signal) {
      const expected = `the screen is in ${orientation}`;
      const found = await state.orientation(signal);
      if (found === undefined)
        return inconclusive(expected, `the ${state.source} does not say how its screen is turned`);
      const { now, angle } = found;
      const at = angle === undefined ? "" : `, at ${angle}°`;
      return { holds: now === orientation, expected, actual: `it is in ${now}${at}` };
    },
  });
}

function keyboardShown({ state }: Parts): Check {
  const input = z.strictObject({});
  return defineCheck<typeof input>({
    name: "keyboard_shown",
    description: "A keyboard is on the screen",
    input,
    judges: ofPresence,
    async read(_input, signal) {
      const expected = "a keyboard is shown";
      const isShown = await state.isKeyboardShown(signal);
      if (isShown === undefined)
        return inconclusive(expected, `the ${state.source} does not say whether a keyboard is shown`);
      return { holds: isShown, expected, actual: isShown ? "it is" : "none is" };
    },
  });
}

export const toastCheck = "toast_seen";
const toastClass = "android.widget.Toast";
/** Checks that are polled together share a dump of at most this age. */
const sharedMs = 200;

/** A dump shows a toast for as long as UiAutomator2 remembers it, some seconds. */
function toastSeen(reader: ScreenReader): Check {
  const input = z.strictObject({ text: z.string().max(1_000), match: matchSchema.default("words") });
  return defineCheck<typeof input>({
    name: toastCheck,
    description: `A toast with this text was shown in the last seconds; ${matchWords}`,
    input,
    judges: ofPresence,
    async read({ text, match }, signal) {
      const { tree } = await reader.recent(signal, sharedMs);
      const toasts = allNodes(tree).flatMap((node) => (node.className === toastClass ? [node.text] : []));
      const expected = `a toast ${relation(match)} ${quoted(text)}`;
      const holds = (await firstMatch(match, text, toasts)) >= 0;
      if (!holds && tree.isCut) return inconclusive(expected, cutScreen);
      if (toasts.length === 0) return absent(expected, "none was shown");
      const said = toasts.map((one) => quoted(one)).join(", ");
      return { holds, expected, actual: `it said ${said}${partNote(match, text, toasts)}` };
    },
  });
}
