import type { ControllerContext, Withheld } from "../contract.ts";
import { type DriverController, defineFactory, nowhere } from "../factory.ts";
import { FocusMaps } from "../focus/focusMaps.ts";
import type { ControllerStatus } from "../ports.ts";
import { ScreenReader } from "../screens/reader.ts";
import { waitCommands } from "../screens/waitFor.ts";
import { nativeContext, WebPages } from "../webviews/webPages.ts";
import { Changes } from "./changes.ts";
import { appiumChecks, withheldChecks } from "./checks.ts";
import { appCommands } from "./commands/apps.ts";
import { dialogCommands } from "./commands/dialogs.ts";
import { focusCommands, noFocus } from "./commands/focus.ts";
import { keyboardCommands } from "./commands/keyboard.ts";
import { keyCommands } from "./commands/keys.ts";
import { linkCommands } from "./commands/links.ts";
import { pointerCommands } from "./commands/pointer.ts";
import { scrollCommands } from "./commands/scrolling.ts";
import { systemCommands, withheldSystem } from "./commands/system.ts";
import { textCommands } from "./commands/text.ts";
import { verdictCommands, withheldVerdict } from "./commands/verdict.ts";
import { AppiumDevice, openMs } from "./device.ts";
import { diagnoseAppium } from "./diagnose.ts";
import { type AppiumFacts, capability } from "./facts.ts";
import { createPictures } from "./screen.ts";
import type { AppiumSession } from "./session.ts";
import { type AppiumSettings, appiumSettingsSchema } from "./settings.ts";
import { createSource } from "./source.ts";
import { presetOf } from "./wanted.ts";
import { createPagePort, withheldPages } from "./webPages.ts";

/** The controllers `remote` and `verification_appium` of one device, in one session. */
function createAppiumControllers(settings: AppiumSettings, context: ControllerContext): DriverController[] {
  const device = new AppiumDevice(settings, context.addons);
  const pages = new WebPages(createPagePort(device), {
    usual: nativeContext,
    testId: () => context.app()?.testIdAttribute,
  });
  const reader = new ScreenReader(device, createSource(device, pages));
  const pictures = createPictures(device, reader);
  const session: AppiumSession = { device, reader, pictures, context, focusMaps: new FocusMaps() };
  const changes = new Changes();
  const handOver = () => {
    reader.forget();
    pages.handOver();
    changes.handOver();
  };
  return [
    {
      kind: "remote",
      commands: [...appiumCommands(session, changes, settings), pages.command(reader)],
      checks: [],
      screen: pictures.screen,
      elements: reader.elements,
      focus: reader.focus,
      withheld: () => [...withheld(device, withheldCommands), ...withheldVerdict(presetOf(settings))],
      ...changes.within(lifeOf(device, "remote")),
      handOver,
    },
    {
      kind: "verification_appium",
      commands: [],
      checks: appiumChecks(session),
      withheld: () => withheld(device, withheldChecks),
      ...lifeOf(device, "verification_appium"),
    },
  ];
}

const withheld = (device: AppiumDevice, by: (facts: AppiumFacts) => Withheld[]): Withheld[] => {
  const facts = device.findFacts();
  return facts ? by(facts) : [];
};

const noTouch = "A TV has no touch screen. Use click_element, move_focus_to, scroll or press_key.";

const withheldCommands = (facts: AppiumFacts): Withheld[] => [
  ...withheldSystem(facts),
  ...withheldPages(facts),
  ...(facts.isTv ? ["tap", "swipe", "long_press"].map((name) => ({ name, reason: noTouch })) : [noFocus]),
];

const lifeOf = (device: AppiumDevice, kind: string) => ({
  open: (signal: AbortSignal) => device.open(kind, signal),
  close: () => device.close(kind),
  isAlive: () => device.isOpen(kind),
  doubt: () => device.doubt(),
  isDoubted: () => device.isDoubted(),
  facts: () => device.factsForAll(),
  status: () => device.status(),
  onStatus: (listener: (status: ControllerStatus) => void) => device.onStatus(listener),
  noticesAfter: () => [],
});

const appiumCommands = (session: AppiumSession, changes: Changes, settings: AppiumSettings) => [
  ...pointerCommands(session),
  ...textCommands(session),
  ...keyCommands(session),
  ...keyboardCommands(session),
  ...focusCommands(session),
  ...scrollCommands(session),
  ...waitCommands(session.reader),
  ...appCommands(session),
  ...linkCommands(session, settings.link_schemes),
  ...dialogCommands(session),
  ...systemCommands(session, changes),
  ...verdictCommands(session, presetOf(settings)),
];

/** A device that is already on this machine's adb is the same whoever drives it. */
function claims({ capabilities }: AppiumSettings): string[] {
  const udid = capability(capabilities, "udid");
  return typeof udid === "string" ? [`serial:${udid}`] : [];
}

/** Phones and TVs behind an Appium server or a cloud, by WebdriverIO. */
export const appiumFactory = defineFactory({
  name: "appium",
  kinds: ["remote", "verification_appium"],
  settings: appiumSettingsSchema,
  // A server that starts a device, and the end of a session before.
  openMs: openMs + 10_000,
  offers: () =>
    createAppiumControllers(appiumSettingsSchema.parse({ url: "http://127.0.0.1:4723" }), nowhere),
  claims,
  diagnose: diagnoseAppium,
  create: createAppiumControllers,
});
