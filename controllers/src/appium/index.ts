import type { ControllerContext, Withheld } from "../contract.ts";
import { type DriverController, defineFactory, nowhere } from "../factory.ts";
import { FocusMaps } from "../focus/focusMaps.ts";
import { logChecks } from "../logs/checks.ts";
import { createFindings } from "../logs/crashWatch.ts";
import { markCommand } from "../logs/markCommand.ts";
import type { ControllerStatus } from "../ports.ts";
import { dialogCommands } from "../screens/dialogCommands.ts";
import { withheldTouches } from "../screens/hand.ts";
import { ScreenReader } from "../screens/reader.ts";
import { scrollCommands } from "../screens/scrollCommands.ts";
import { touchCommands } from "../screens/touchCommands.ts";
import { waitCommands } from "../screens/waitFor.ts";
import { createRecorder } from "../video/recorder.ts";
import { nativeContext, WebPages } from "../webviews/webPages.ts";
import { createApps } from "./apps.ts";
import { Changes } from "./changes.ts";
import { appiumChecks, withheldChecks } from "./checks.ts";
import { Cloud } from "./cloud.ts";
import { appStateCommands, withheldAppState } from "./commands/appState.ts";
import { appCommands, appIdOf } from "./commands/apps.ts";
import { dialogHand } from "./commands/dialogs.ts";
import { fileCommands } from "./commands/files.ts";
import { keyboardCommands } from "./commands/keyboard.ts";
import { keyCommands } from "./commands/keys.ts";
import { linkCommands } from "./commands/links.ts";
import { systemCommands, withheldSystem } from "./commands/system.ts";
import { textCommands } from "./commands/text.ts";
import { verdictCommands, withheldVerdict } from "./commands/verdict.ts";
import { AppiumDevice, openMs } from "./device.ts";
import { diagnoseAppium } from "./diagnose.ts";
import { type AppiumFacts, capability, platformOf } from "./facts.ts";
import { crashesOf } from "./findings.ts";
import { createHand } from "./hand.ts";
import { DeviceLog } from "./log.ts";
import { createPictures } from "./screen.ts";
import { createSensors } from "./sensors.ts";
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
  const log = new DeviceLog(device);
  const parts = { device, reader, pictures, context, log, focusMaps: new FocusMaps() };
  const session: AppiumSession = { ...parts, hand: createHand(parts) };
  const changes = new Changes();
  const cloud = new Cloud(device, presetOf(settings));
  const { screen } = pictures;
  const { recorder, close: endRecording } = createRecorder({ screen, isAlive: () => device.isAlive() });
  device.beforeClose(endRecording);
  const handOver = () => {
    reader.forget();
    pages.handOver();
    changes.handOver();
    log.forgetMark();
  };
  return [
    {
      kind: "remote",
      commands: [...appiumCommands(session, { changes, cloud, settings }), pages.command(reader)],
      checks: [],
      screen,
      recorder,
      elements: reader.elements,
      focus: reader.focus,
      logs: log.source,
      findings: createFindings(crashesOf(device, log, screen, platformOf(settings.capabilities))),
      sensors: createSensors(device),
      apps: createApps(device),
      cloud,
      withheld: () => [...withheld(device, withheldCommands), ...withheldVerdict(presetOf(settings))],
      ...changes.within(lifeOf(device, "remote")),
      handOver,
    },
    {
      kind: "verification_appium",
      commands: [],
      checks: [
        ...appiumChecks(session),
        ...logChecks({
          sinceMark: (signal) => log.sinceMark(signal),
          appId: (name) => appIdOf({ package: name }),
        }),
      ],
      withheld: () => withheld(device, withheldChecks),
      ...lifeOf(device, "verification_appium"),
    },
  ];
}

const withheld = (device: AppiumDevice, by: (facts: AppiumFacts) => Withheld[]): Withheld[] => {
  const facts = device.findFacts();
  return facts ? by(facts) : [];
};

const withheldCommands = (facts: AppiumFacts): Withheld[] => [
  ...withheldSystem(facts),
  ...withheldAppState(facts),
  ...withheldPages(facts),
  ...withheldTouches(facts),
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

const appiumCommands = (
  session: AppiumSession,
  { changes, cloud, settings }: { changes: Changes; cloud: Cloud; settings: AppiumSettings },
) => [
  ...touchCommands(session.hand),
  ...textCommands(session),
  ...keyCommands(session),
  ...keyboardCommands(session),
  ...scrollCommands(session.hand),
  ...waitCommands(session.reader),
  ...appCommands(session),
  ...appStateCommands(session),
  ...fileCommands(session),
  ...linkCommands(session, settings.link_schemes),
  ...dialogCommands(session.reader, dialogHand(session)),
  ...systemCommands(session, changes),
  markCommand((signal) => session.log.mark(signal)),
  ...verdictCommands(cloud),
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
