import type { ControllerContext, Withheld } from "../contract.ts";
import { type DriverController, defineFactory, nowhere } from "../factory.ts";
import { FocusMaps } from "../focus/focusMaps.ts";
import type { ControllerStatus } from "../ports.ts";
import { ScreenReader } from "../screens/reader.ts";
import { waitCommands } from "../screens/waitFor.ts";
import { createApps } from "./apps.ts";
import { Changes } from "./changes.ts";
import { androidChecks } from "./checks.ts";
import { appChecks } from "./checksOfApps.ts";
import { deviceChecks, withheldToasts } from "./checksOfDevice.ts";
import { logChecks } from "./checksOfLogs.ts";
import { Clipboard } from "./clipboard.ts";
import { appStateCommands } from "./commands/appState.ts";
import { appCommands } from "./commands/apps.ts";
import { chordCommands, withheldChords } from "./commands/chords.ts";
import { clipboardCommands } from "./commands/clipboard.ts";
import { dialogCommands } from "./commands/dialogs.ts";
import { dragCommands } from "./commands/dragging.ts";
import { fileCommands } from "./commands/files.ts";
import { focusCommands, noFocus } from "./commands/focus.ts";
import { installCommands } from "./commands/installing.ts";
import { keyCommands } from "./commands/keys.ts";
import { linkCommands } from "./commands/links.ts";
import { logCommands } from "./commands/logs.ts";
import { panelCommands, withheldPanels } from "./commands/panels.ts";
import { pinchCommands, withheldWithoutDriver } from "./commands/pinch.ts";
import { placeCommands, withheldPlaces } from "./commands/places.ts";
import { pointerCommands, withheldTouches } from "./commands/pointer.ts";
import { rebootCommands } from "./commands/reboot.ts";
import { scrollCommands } from "./commands/scrolling.ts";
import { shellCommandName, shellCommands, shellIsOff } from "./commands/shell.ts";
import { systemCommands, withheldSystem } from "./commands/system.ts";
import { textCommands } from "./commands/text.ts";
import { AndroidDevice } from "./device.ts";
import { diagnoseAndroid } from "./diagnose.ts";
import { discoverAndroid } from "./discover.ts";
import type { AndroidFacts } from "./facts.ts";
import { createFindings } from "./findings.ts";
import { createLogs } from "./logcat.ts";
import { createRecorder } from "./recorder.ts";
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
    focusMaps: new FocusMaps(),
    changes: new Changes(device),
    clipboard: new Clipboard(backend),
    trail: newTrail(),
  };
  const screen = createScreen(device, reader);
  const { recorder, close: endRecording } = createRecorder({ device, backend, screen });
  device.beforeClose(async () => {
    await endRecording();
    await session.clipboard.clear();
    await backend.close();
  });
  const picture = (signal: AbortSignal) => screen.capture({ format: "jpeg" }, signal);
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
      findings: createFindings(device, picture),
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
        ...logChecks(session),
      ],
      withheld: () => withheldToasts(session),
      ...lifeOf(session, "verification_adb"),
    },
  ];
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
  ...(facts.isTv ? [] : [noFocus]),
];

const lifeOf = ({ device, backend }: AndroidSession, kind: string) => ({
  open: (signal: AbortSignal) => device.open(kind, signal),
  close: () => device.close(kind),
  isAlive: () => device.isOpen(kind),
  doubt: () => device.doubt(),
  isDoubted: () => device.isDoubted(),
  facts: () => device.factsForAll(backend.whyNoSession()),
  status: () => device.status(),
  onStatus: (listener: (status: ControllerStatus) => void) => device.onStatus(listener),
  noticesAfter: () => [],
});

const androidCommands = (session: AndroidSession) => [
  ...pointerCommands(session),
  ...textCommands(session),
  ...keyCommands(session),
  ...focusCommands(session),
  ...scrollCommands(session),
  ...waitCommands(session.reader),
  ...appCommands(session),
  ...appStateCommands(session),
  ...linkCommands(session),
  ...dragCommands(session),
  ...pinchCommands(session),
  ...clipboardCommands(session),
  ...chordCommands(session),
  ...panelCommands(session),
  ...dialogCommands(session),
  ...installCommands(session),
  ...fileCommands(session),
  ...placeCommands(session),
  ...systemCommands(session),
  ...rebootCommands(session),
  ...logCommands(session),
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
