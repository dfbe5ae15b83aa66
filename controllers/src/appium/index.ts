import type { ControllerContext, Withheld } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { type DriverController, defineFactory, nowhere } from "../factory.ts";
import { logChecks } from "../logs/checks.ts";
import { createFindings } from "../logs/crashWatch.ts";
import { markCommand } from "../logs/markCommand.ts";
import { Changes } from "../phones/changes.ts";
import { phoneChecks } from "../phones/checks.ts";
import { phoneCommands } from "../phones/commands.ts";
import { keyCommands } from "../phones/keyCommands.ts";
import { KeyInput } from "../screens/keys.ts";
import { ScreenReader } from "../screens/reader.ts";
import { TouchInput } from "../screens/touch.ts";
import { createRecorder } from "../video/recorder.ts";
import { nativeContext, WebPages } from "../webviews/webPages.ts";
import { createApps } from "./apps.ts";
import { createState, withheldChecks } from "./checks.ts";
import { Cloud, verdictCommands, withheldVerdict } from "./cloud.ts";
import { appIdOf, createAppPort, installCommands, withheldAppState } from "./commands/apps.ts";
import { createFiles } from "./commands/files.ts";
import { pressKey } from "./commands/keys.ts";
import {
  createClipboard,
  createDialogs,
  createKeyboard,
  systemCommands,
  withheldSystem,
} from "./commands/system.ts";
import { createTyping } from "./commands/text.ts";
import { AppiumDevice, openMs } from "./device.ts";
import { diagnoseAppium } from "./diagnose.ts";
import { type AppiumFacts, capability, platformOf } from "./facts.ts";
import { crashesOf } from "./findings.ts";
import { createKeys, createTouch } from "./inputs.ts";
import { DeviceLog } from "./log.ts";
import { createPictures } from "./screen.ts";
import { createSensors } from "./sensors.ts";
import type { AppiumSession } from "./session.ts";
import { type AppiumSettings, appiumSettingsSchema, presetOf } from "./settings.ts";
import { createSource } from "./ui/source.ts";
import { createPagePort, withheldPages } from "./ui/webPages.ts";

const isRefusal = (error: unknown) => error instanceof DeviceError && error.details.wire_error !== undefined;

function createAppiumController(settings: AppiumSettings, context: ControllerContext): DriverController {
  const device = new AppiumDevice(settings, context.addons);
  const pages = new WebPages(createPagePort(device), {
    usual: nativeContext,
    testId: () => context.app()?.testIdAttribute,
  });
  const reader = new ScreenReader(createSource(device, pages));
  const pictures = createPictures(device, reader);
  const log = new DeviceLog(device);
  const changes = new Changes(isRefusal);
  const parts = { device, reader, pictures, context, log, changes };
  const touch = new TouchInput(reader, createTouch(parts));
  const keys = new KeyInput(reader, createKeys(parts));
  const input = () => (device.facts().isTv ? keys : touch);
  const session: AppiumSession = { ...parts, touch, keys, input };
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
  return {
    kind: "remote",
    verification: "verification_appium",
    commands: [...appiumCommands(session, settings), ...verdictCommands(cloud), pages.command(reader)],
    checks: [
      ...phoneChecks({ context, reader, apps: { idOf: appIdOf }, state: createState(session) }),
      ...logChecks({
        sinceMark: (signal) => log.sinceMark(signal),
        appId: (name) => appIdOf({ package: name }),
      }),
    ],
    screen,
    recorder,
    elements: reader.elements,
    focus: reader.focus,
    logs: log.source,
    findings: createFindings(crashesOf(device, log, screen, platformOf(settings.capabilities))),
    sensors: createSensors(device),
    apps: createApps(device),
    cloud,
    withheld: () => {
      const facts = device.findFacts();
      const byFacts = facts ? [...withheldBy(facts), ...input().withheld] : [];
      return [...byFacts, ...withheldVerdict(presetOf(settings))];
    },
    ...changes.within(device.life()),
    handOver,
  };
}

const appiumCommands = (session: AppiumSession, { link_schemes }: AppiumSettings) => [
  ...phoneCommands(session, {
    typing: createTyping(session),
    dialogs: createDialogs(session),
    apps: createAppPort(session, link_schemes),
    files: createFiles(session),
    clipboard: createClipboard(session),
    keyboard: createKeyboard(session),
  }),
  ...keyCommands((...given) => pressKey(session, ...given), ["go_back", "go_home"]),
  ...installCommands(session),
  ...systemCommands(session),
  markCommand((signal) => session.log.mark(signal)),
];

const withheldBy = (facts: AppiumFacts): Withheld[] => [
  ...withheldSystem(facts),
  ...withheldAppState(facts),
  ...withheldPages(facts),
  ...withheldChecks(facts),
];

/** A device that is already on this machine's adb is the same whoever drives it. */
function claims({ capabilities }: AppiumSettings): string[] {
  const udid = capability(capabilities, "udid");
  return typeof udid === "string" ? [`serial:${udid}`] : [];
}

export const appiumFactory = defineFactory({
  name: "appium",
  kinds: ["remote", "verification_appium"],
  settings: appiumSettingsSchema,
  // A server that starts a device, and the end of a session before.
  openMs: openMs + 10_000,
  offers: () => [
    createAppiumController(appiumSettingsSchema.parse({ url: "http://127.0.0.1:4723" }), nowhere),
  ],
  claims,
  diagnose: diagnoseAppium,
  create: (settings, context) => [createAppiumController(settings, context)],
});
