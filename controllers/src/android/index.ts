import type { Command, ControllerContext, Withheld } from "../contract.ts";
import { type DriverController, defineFactory, nowhere } from "../factory.ts";
import { logChecks } from "../logs/checks.ts";
import { createFindings } from "../logs/crashWatch.ts";
import { markCommand } from "../logs/markCommand.ts";
import { Changes } from "../phones/changes.ts";
import { phoneChecks } from "../phones/checks.ts";
import { phoneCommands } from "../phones/commands.ts";
import { KeyInput } from "../screens/keys.ts";
import { ScreenReader } from "../screens/reader.ts";
import { TouchInput } from "../screens/touch.ts";
import { createRecorder } from "../video/recorder.ts";
import { androidChecks, createState, withheldToasts } from "./checks.ts";
import { createAppPort, packageOf } from "./commands/apps.ts";
import { createClipboard } from "./commands/clipboard.ts";
import { createFiles, mediaCommand } from "./commands/files.ts";
import { installCommands } from "./commands/installing.ts";
import { androidKeyCommands, chordCommands, withheldChords } from "./commands/keys.ts";
import { createKeyboard, notificationCommands, withheldPanels } from "./commands/panels.ts";
import { placeCommands, withheldPlaces } from "./commands/places.ts";
import { rebootCommands } from "./commands/reboot.ts";
import { shellCommandName, shellCommands, shellIsOff } from "./commands/shell.ts";
import { systemCommands, withheldSystem } from "./commands/system.ts";
import { appendText, createTyping } from "./commands/text.ts";
import { demandTypable } from "./commands/unicode.ts";
import { AndroidDevice } from "./device.ts";
import { diagnoseAndroid } from "./diagnose.ts";
import { discoverAndroid } from "./discover.ts";
import type { AndroidFacts } from "./facts.ts";
import { createKeys, createTouch, keyInput } from "./inputs.ts";
import { crashesOf, createLogs, logsSinceMark, markLog } from "./logs.ts";
import { createApps } from "./packages.ts";
import { picturesOf } from "./recorder.ts";
import { createScreen } from "./screen.ts";
import { createSensors } from "./sensors.ts";
import { type AndroidSession, newTrail, sendInputs } from "./session.ts";
import { type AndroidSettings, androidSettingsSchema, serialOf } from "./settings.ts";
import { UiBackend } from "./ui/backend.ts";

export { pairAndroid } from "./reach.ts";
export { type AndroidRecording, recordAndroid } from "./record.ts";

function createAndroidController(settings: AndroidSettings, context: ControllerContext): DriverController {
  const device = new AndroidDevice(settings);
  const backend = new UiBackend(device, settings, context);
  const reader = new ScreenReader(backend);
  const parts = { device, backend, reader };
  const touch = new TouchInput(reader, createTouch(parts));
  const keys = new KeyInput(reader, createKeys(parts));
  const session: AndroidSession = {
    ...{ ...parts, context, touch, keys },
    input: () => (device.facts().isTv ? keys : touch),
    changes: new Changes(),
    trail: newTrail(),
  };
  const screen = createScreen(device, reader);
  const { recorder, close: endRecording } = createRecorder(picturesOf(device, backend, screen));
  device.beforeClose(async () => {
    await endRecording();
    await backend.close();
  });
  return {
    kind: "remote",
    verification: "verification_adb",
    commands: androidCommands(session),
    checks: [
      ...phoneChecks({ context, reader, apps: { idOf: packageOf }, state: createState(session) }),
      ...androidChecks(session),
      ...logChecks({
        sinceMark: (signal) => logsSinceMark(session, signal),
        appId: (name) => packageOf({ package: name }),
      }),
    ],
    screen,
    recorder,
    elements: reader.elements,
    focus: reader.focus,
    logs: createLogs(device),
    findings: createFindings(crashesOf(device, screen)),
    sensors: createSensors(device),
    apps: createApps(device),
    withheld: () => [...withheld(session), ...withheldToasts(session)],
    ...session.changes.within(device.life()),
    facts: () => device.factsForAll(backend.note()),
    handOver: () => handOver(session),
  };
}

const byDriver = ["pinch", "write_clipboard", "read_clipboard", "switch_context"];
/** Before this version, two taps by adb are too slow for a double tap; see `tapByDriver`. */
const firstWithDoubleTap = 31;

/** Commands that need the driver, if it is not used. Skips what is withheld already. */
function withheldWithoutDriver(
  { backend, device }: AndroidSession,
  withheld: readonly Withheld[],
): Withheld[] {
  const reason = backend.whyNoSession();
  if (reason === undefined) return [];
  const { isTv, api } = device.isAlive() ? device.facts() : { isTv: false, api: firstWithDoubleTap };
  return [...byDriver, ...(isTv || api >= firstWithDoubleTap ? [] : ["double_click"])]
    .filter((name) => !withheld.some((one) => one.name === name))
    .map((name) => ({ name, reason }));
}

function handOver({ reader, changes, trail, backend }: AndroidSession): void {
  reader.forget();
  backend.pages.handOver();
  changes.handOver();
  Object.assign(trail, newTrail());
}

function withheld(session: AndroidSession): Withheld[] {
  const { context, device, backend } = session;
  const { whyNoPages } = backend;
  const byFacts = [
    ...(device.isAlive() ? [...withheldBy(device.facts()), ...session.input().withheld] : []),
    ...(whyNoPages === undefined ? [] : [{ name: "switch_context", reason: whyNoPages }]),
  ];
  return [
    ...(context.unsafe.deviceShell ? [] : [{ name: shellCommandName, reason: shellIsOff }]),
    ...byFacts,
    ...withheldWithoutDriver(session, byFacts),
  ];
}

const withheldBy = (facts: AndroidFacts): Withheld[] => [
  ...withheldChords(facts),
  ...withheldPanels(facts),
  ...withheldPlaces(facts),
  ...withheldSystem(facts),
];

function androidCommands(session: AndroidSession): Command[] {
  const { backend, reader } = session;
  return [
    ...phoneCommands(session, {
      typing: createTyping(session),
      dialogs: {
        async fill(field, text, signal) {
          demandTypable(session, text);
          await session.input().use(field, signal);
          await appendText(session, text, [], signal);
        },
        goBack: (signal) => sendInputs(session, [keyInput(["BACK"])], signal),
      },
      apps: createAppPort(session),
      files: createFiles(session),
      clipboard: createClipboard(session),
      keyboard: createKeyboard(session),
    }),
    ...androidKeyCommands(session),
    ...chordCommands(session),
    ...notificationCommands(session),
    ...installCommands(session),
    mediaCommand(session),
    ...placeCommands(session),
    ...systemCommands(session),
    ...rebootCommands(session),
    markCommand((signal) => markLog(session, signal)),
    ...shellCommands(session),
    backend.pages.command(reader),
  ];
}

export const androidFactory = defineFactory({
  name: "android",
  kinds: ["remote", "verification_adb"],
  settings: androidSettingsSchema,
  // A server that starts, a device on the network that is connected again, and its first answer.
  openMs: 45_000,
  offers: () => [createAndroidController(androidSettingsSchema.parse({}), nowhere)],
  claims: (settings) => [`serial:${serialOf(settings) ?? "the only Android device"}`],
  diagnose: diagnoseAndroid,
  discover: discoverAndroid,
  create: (settings, context) => [createAndroidController(settings, context)],
});
