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
import { createApps } from "./apps.ts";
import { Changes } from "./changes.ts";
import { androidChecks } from "./checks.ts";
import { appChecks } from "./checksOfApps.ts";
import { deviceChecks, withheldToasts } from "./checksOfDevice.ts";
import { Clipboard } from "./clipboard.ts";
import { appStateCommands } from "./commands/appState.ts";
import { appCommands, packageOf } from "./commands/apps.ts";
import { chordCommands, withheldChords } from "./commands/chords.ts";
import { clipboardCommands } from "./commands/clipboard.ts";
import { dialogHand } from "./commands/dialogs.ts";
import { fileCommands } from "./commands/files.ts";
import { installCommands } from "./commands/installing.ts";
import { keyCommands } from "./commands/keys.ts";
import { linkCommands } from "./commands/links.ts";
import { panelCommands, withheldPanels } from "./commands/panels.ts";
import { placeCommands, withheldPlaces } from "./commands/places.ts";
import { rebootCommands } from "./commands/reboot.ts";
import { shellCommandName, shellCommands, shellIsOff } from "./commands/shell.ts";
import { systemCommands, withheldSystem } from "./commands/system.ts";
import { textCommands } from "./commands/text.ts";
import { AndroidDevice } from "./device.ts";
import { diagnoseAndroid } from "./diagnose.ts";
import { discoverAndroid } from "./discover.ts";
import type { AndroidFacts } from "./facts.ts";
import { crashesOf } from "./findings.ts";
import { createHand } from "./hand.ts";
import { createLogs } from "./logcat.ts";
import { logsSinceMark } from "./logsSinceMark.ts";
import { markLog } from "./markLog.ts";
import { picturesOf } from "./recorder.ts";
import { createScreen } from "./screen.ts";
import { createSensors } from "./sensors.ts";
import type { AndroidSession } from "./session.ts";
import { type AndroidSettings, androidSettingsSchema, serialOf } from "./settings.ts";
import { newTrail } from "./trail.ts";
import { UiBackend } from "./ui/backend.ts";

export { pairAndroid } from "./pair.ts";
export { type AndroidRecording, recordAndroid } from "./record.ts";

/** The controllers `remote` and `verification_adb` of one Android device, on one connection. */
function createAndroidControllers(settings: AndroidSettings, context: ControllerContext): DriverController[] {
  const device = new AndroidDevice(settings);
  const backend = new UiBackend(device, settings, context);
  const reader = new ScreenReader(device, backend);
  const session: AndroidSession = {
    device,
    reader,
    backend,
    context,
    hand: createHand({ device, reader, backend, focusMaps: new FocusMaps() }),
    changes: new Changes(device),
    clipboard: new Clipboard(backend),
    trail: newTrail(),
  };
  const screen = createScreen(device, reader);
  const { recorder, close: endRecording } = createRecorder(picturesOf(device, backend, screen));
  device.beforeClose(async () => {
    await endRecording();
    await session.clipboard.clear();
    await backend.close();
  });
  return [
    {
      kind: "remote",
      commands: androidCommands(session),
      checks: [],
      screen,
      recorder,
      elements: reader.elements,
      focus: reader.focus,
      logs: createLogs(device),
      findings: createFindings(crashesOf(device, screen)),
      sensors: createSensors(device),
      apps: createApps(device),
      withheld: () => withheld(session),
      ...session.changes.within(lifeOf(session, "remote")),
      handOver: () => handOver(session),
    },
    {
      kind: "verification_adb",
      commands: [],
      checks: [
        ...androidChecks(session),
        ...appChecks(session),
        ...deviceChecks(session),
        ...logChecks({
          sinceMark: (signal) => logsSinceMark(session, signal),
          appId: (name) => packageOf({ package: name }),
        }),
      ],
      withheld: () => withheldToasts(session),
      ...lifeOf(session, "verification_adb"),
    },
  ];
}

const byDriver = ["pinch", "write_clipboard", "read_clipboard", "switch_context"];
/** Two taps by adb are too slow for one before it; see `tapByDriver`. */
const firstWithDoubleTap = 31;

/** What only the driver does, where it is not used; what is withheld already is not said twice. */
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

function handOver({ reader, changes, clipboard, trail, backend }: AndroidSession): void {
  reader.forget();
  backend.pages.handOver();
  void clipboard.clear();
  changes.handOver();
  Object.assign(trail, newTrail());
}

function withheld(session: AndroidSession): Withheld[] {
  const { context, device, backend } = session;
  const { whyNoPages } = backend;
  const byFacts = [
    ...(device.isAlive() ? withheldBy(device.facts()) : []),
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
  ...withheldTouches(facts),
];

const lifeOf = ({ device, backend }: AndroidSession, kind: string) => ({
  open: (signal: AbortSignal) => device.open(kind, signal),
  close: () => device.close(kind),
  isAlive: () => device.isOpen(kind),
  doubt: () => device.doubt(),
  isDoubted: () => device.isDoubted(),
  facts: () => device.factsForAll(backend.note()),
  status: () => device.status(),
  onStatus: (listener: (status: ControllerStatus) => void) => device.onStatus(listener),
  noticesAfter: () => [],
});

const androidCommands = (session: AndroidSession) => [
  ...touchCommands(session.hand),
  ...textCommands(session),
  ...keyCommands(session),
  ...scrollCommands(session.hand),
  ...waitCommands(session.reader),
  ...appCommands(session),
  ...appStateCommands(session),
  ...linkCommands(session),
  ...clipboardCommands(session),
  ...chordCommands(session),
  ...panelCommands(session),
  ...dialogCommands(session.reader, dialogHand(session)),
  ...installCommands(session),
  ...fileCommands(session),
  ...placeCommands(session),
  ...systemCommands(session),
  ...rebootCommands(session),
  markCommand((signal) => markLog(session, signal)),
  ...shellCommands(session),
  session.backend.pages.command(session.reader),
];

/** Android phones and TVs, through adb. */
export const androidFactory = defineFactory({
  name: "android",
  kinds: ["remote", "verification_adb"],
  settings: androidSettingsSchema,
  // A server that starts, a device on the network that is connected again, and its first answer.
  openMs: 45_000,
  offers: () => createAndroidControllers(androidSettingsSchema.parse({}), nowhere),
  claims: (settings) => [`serial:${serialOf(settings) ?? "the only Android device"}`],
  diagnose: diagnoseAndroid,
  discover: discoverAndroid,
  create: createAndroidControllers,
});
