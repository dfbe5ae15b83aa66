import type { ControllerContext } from "../contract.ts";
import { type DriverController, defineFactory, nowhere } from "../factory.ts";
import { Actions } from "./acting/action.ts";
import { diagnoseBrowser } from "./browser/diagnose.ts";
import { LiveSession } from "./browser/liveSession.ts";
import {
  isOverBidi,
  type WebSettings,
  webSettingsSchema,
  withBrowser,
  withheldByBidi,
} from "./browser/settings.ts";
import { webChecks } from "./checks/checks.ts";
import { webCommands } from "./commands/commands.ts";
import { createActivity } from "./ports/activity.ts";
import { createHealth } from "./ports/health.ts";
import { createLook } from "./ports/look.ts";
import { createPerson } from "./ports/person/person.ts";
import { createRecorder } from "./ports/recorder.ts";
import { createScreen } from "./ports/screen.ts";
import { createSensors } from "./ports/sensors.ts";

export { resolveHost } from "../proxy/names.ts";
export { type FoundBrowser, findBrowser } from "./browser/findBrowser.ts";
export { browserNames, type WebSettings, webSettingsSchema } from "./browser/settings.ts";

/** The controller of one browser with one isolated context, which opens and closes with it. */
export function createWebController(settings: WebSettings, context: ControllerContext): DriverController {
  const session = new LiveSession(settings, context);
  const { recorder, isRecording, nameStep } = createRecorder(session);
  const { person, isWatched } = createPerson(session);
  const actions = new Actions(session);
  return {
    kind: "web",
    verification: "verification_web",
    commands: webCommands(actions, nameStep),
    checks: webChecks(session),
    screen: createScreen(session),
    elements: createLook(session),
    sensors: createSensors(session),
    recorder,
    person,
    isolation: { enter: ({ storageState }, signal) => session.enter(storageState, signal) },
    untilUsable: (signal) => actions.untilUsable(signal),
    health: createHealth(session),
    activity: createActivity(session),
    facts: () => session.facts(),
    noticesAfter: (seq) => session.notices.after(seq),
    open: (signal) => session.open(signal),
    close: () => session.close(),
    isAlive: () => session.isOpen(),
    doubt: () => session.doubt(),
    handOver: () => session.handOver(),
    isDoubted: () => session.isDoubted(),
    withheld: () => (isOverBidi(settings) ? withheldByBidi : []),
    isKept: () => !settings.headless || isRecording() || isWatched(),
  };
}

/** Browsers, through Playwright. */
export const webFactory = defineFactory({
  name: "web",
  kinds: ["web", "verification_web"],
  settings: webSettingsSchema,
  diagnose: diagnoseBrowser,
  // Its own deadlines are for a browser that starts, one that replaces it, and its first tab.
  openMs: 120_000,
  offers: () => [createWebController(webSettingsSchema.parse({}), nowhere)],
  copy(settings, { headed, browser, display, cdp }) {
    if (cdp !== undefined) return { ...settings, browser: "chromium" as const, connect: undefined, cdp };
    // A browser that runs already: the one of `cdp` is shared, and that of `connect` is what it is, elsewhere.
    const isElsewhere = settings.connect !== undefined && (headed || browser !== undefined);
    if (settings.cdp !== undefined || isElsewhere) return undefined;
    const wished = browser === undefined ? settings : withBrowser(settings, browser);
    return wished && headed ? { ...wished, headless: false, ...(display && { display }) } : wished;
  },
  create: (settings, context) => [createWebController(settings, context)],
});
