import type { Rect } from "../../../../src/index.ts";
import type { UiWindow } from "../../labUi.ts";
import { meminfo, packageDump } from "../dumps.ts";
import type { Process } from "../processes.ts";
import type { Command, System } from "../system.ts";
import { topRecord } from "./activity.ts";
import { fail, print } from "./reply.ts";
import { displaysOf, physicalDisplays } from "./screen.ts";

/** `dumpsys`: what the screen and the apps change is made here, the rest is text of the persona. */
export const dumpsys: Command = (args, context) => {
  const [service = "", ...rest] = args[0] === "-t" ? args.slice(2) : args;
  const { system } = context;
  const text =
    services[service]?.(rest, system) ??
    system.parts.persona.outputs[`dumpsys ${[service, ...rest].join(" ")}`];
  if (text !== undefined) return print(context, text);
  system.unknown.push(`dumpsys ${args.join(" ")}`);
  return fail(context, `Can't find service: ${service}`, 0);
};

type Service = (args: readonly string[], system: System) => string | undefined;

const services: Readonly<Record<string, Service>> = {
  package: ([name = ""], system) => {
    const found = system.packages.find(name);
    return found ? packageDump(found, system) : `Unable to find package: ${name}\n`;
  },
  window: ([part], system) => windowDump(part, system),
  activity: activityDump,
  // As UiAutomationManager writes it: one line for the one program that reads elements.
  accessibility: (_, { automation }) =>
    `ACCESSIBILITY MANAGER (dumpsys accessibility)\n\n${automation.size > 0 ? "Ui Automation[eventTypes=TYPES_ALL_MASK, notificationTimeout=0]\n" : ""}`,
  input_method: (_, { ui, settings }) => {
    const shown = ui.keyboardShown();
    const method = settings.get("secure")?.get("default_input_method");
    return `Current Input Method Manager state:
  mCurMethodId=${method} mCurSeq=1
  mInputShown=${shown}
  mShowRequested=${shown} mShowExplicitlyRequested=false mShowForced=false
  mIsInputViewShown=${shown}
  mInteractive=${ui.isOn} mScreenOn=${ui.isOn}
`;
  },
  media_session: (_, system) => mediaDump(system),
  display: (_, system) => displayDump(system),
  SurfaceFlinger: (args, { ui }) =>
    args.includes("--display-id")
      ? displaysOf(ui)
          .map(
            (index) =>
              `Display ${physicalDisplays[index]} (HWC display ${index}): port=${index} pnpId=LAB displayName="Lab ${index}"\n`,
          )
          .join("")
      : undefined,
  power: (_, { ui }) => {
    const state = ui.isOn ? "Awake" : "Asleep";
    return `Power Manager State:
  mWakefulness=${state}
  mWakefulnessRaw=${state}
  mIsPowered=true
  mStayOn=false
Display Power: state=${ui.isOn ? "ON" : "OFF"}
mHoldingDisplaySuspendBlocker=${ui.isOn}
`;
  },
  meminfo: ([name], system) => meminfo(name, system),
  location: (_, { settings, location: { latitude, longitude, altitude } }) =>
    `Location Manager State:
  Location Setting: ${settings.get("secure")?.get("location_mode") !== "0"}
  Location Providers:
    gps provider:
      last location=Location[gps ${latitude.toFixed(6)},${longitude.toFixed(6)} hAcc=5.0 et=+1h2m3s4ms alt=${altitude}]
      enabled=true
`,
  wifi: (_, { settings, parts }) =>
    settings.get("global")?.get("wifi_on") === "0"
      ? "Wi-Fi is disabled\n"
      : parts.persona.outputs["dumpsys wifi"],
  deviceidle: ([action, name = ""], { parts }) =>
    action === "whitelist" ? `Added: ${name.slice(1)}\n` : parts.persona.outputs["dumpsys deviceidle"],
};

/** Since Android 10 only the part of the displays says what has the focus. */
function windowDump(part: string | undefined, system: System): string {
  const { ui } = system;
  const { packageName, activity } = ui.front();
  const active = ui.active();
  const component = (active.activity ?? activity).startsWith(".") ? `${packageName}${activity}` : activity;
  const name = active.kind === "application" ? `${packageName}/${component}` : active.title;
  const space = ui.space();
  const { screen } = system.parts.persona;
  const windows = ui.windows().map(
    (window, index) => `  Window #${index} Window{a0${index} u0 ${window.title}}:
    mDisplayId=${window.display} package=${window.packageName}
    mAttrs={(0,0)(fillxfill) ty=${typeOf(window)} fl=${window.isSecure ? "SECURE " : ""}LAYOUT_IN_SCREEN}
    mViewVisibility=0x0 isOnScreen=true isVisible=true
    Frames: frame=${frameOf(window.root.bounds)}
`,
  );
  const focus = `  mCurrentFocus=Window{b1f u0 ${name}}\n  mFocusedApp=${topRecord(system)}\n`;
  return `WINDOW MANAGER WINDOWS (dumpsys window windows)
${windows.join("")}
${part === "windows" && system.apiLevel >= 29 ? "" : focus}  mRotation=${space.rotation / 90}
  mShowingLockscreen=false mDreamingLockscreen=false
  isStatusBarKeyguard=false isKeyguardShowing=false showing=false
  screenState=SCREEN_STATE_${ui.isOn ? "ON" : "OFF"} interactiveState=INTERACTIVE_STATE_${ui.isOn ? "AWAKE" : "SLEEP"}
  mDisplayFrozen=false init=${screen.width}x${screen.height} cur=${space.width}x${space.height} app=${space.width}x${space.height}
`;
}

const frameOf = ({ x, y, width, height }: Rect) => `[${x},${y}][${x + width},${y + height}]`;

/** A window's type, as the window manager names it. */
function typeOf({ kind, title }: UiWindow): string {
  if (kind === "application") return "BASE_APPLICATION";
  if (title.startsWith("StatusBar")) return "STATUS_BAR";
  if (title.startsWith("NavigationBar")) return "NAVIGATION_BAR";
  return kind === "keyboard" ? "INPUT_METHOD" : "APPLICATION";
}

function activityDump([what, name = ""]: readonly string[], system: System): string {
  const top = topRecord(system);
  if (what === "services") {
    const [wanted] = name.split("/", 1);
    return system.processes
      .services()
      .filter((one) => name === "" || one.name === wanted)
      .map(serviceRecord)
      .join("");
  }
  if (what === "processes") {
    return system.processes
      .all()
      .map(({ name, pid }) => `  *APP* UID 10100 ProcessRecord{d0 ${pid}:${name}/u0a100}\n`)
      .join("");
  }
  const resumed = system.apiLevel >= 30 ? `topResumedActivity=${top}` : `mResumedActivity: ${top}`;
  return `ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)
Display #0 (activities from top to bottom):
  * Task{e0 #12 type=standard}
    ${resumed}
    * Hist  #0: ${top}
  ResumedActivity: ${top}
  mResumedActivity: ${top}
`;
}

const serviceRecord = ({ name, pid }: Process) =>
  `  * ServiceRecord{c0 u0 ${name}/.Service}\n    app=ProcessRecord{d0 ${pid}:${name}/u0a100}\n    isForeground=true foregroundId=1\n`;

/** States of android.media.session.PlaybackState. */
const playbackStates = { stopped: 1, paused: 2, playing: 3 };

function mediaDump({ ui }: System): string {
  const media = ui.media();
  if (!media)
    return "MEDIA SESSION SERVICE (dumpsys media_session)\n\n0 sessions listeners.\nRecord for full_user=0\n  Sessions Stack - have 0 sessions:\n";
  return `MEDIA SESSION SERVICE (dumpsys media_session)

Record for full_user=0
  Media button session is ${media.packageName}/lab (userId=0)
  Sessions Stack - have 1 sessions:
    lab ${media.packageName}/lab (userId=0)
      package=${media.packageName}
      active=true
      state=PlaybackState {state=${playbackStates[media.state]}, position=${media.positionMs}, buffered position=0, speed=${media.state === "playing" ? "1.0" : "0.0"}, updated=0, actions=823, custom actions=[], active item id=-1, error=null}
      metadata: size=1, description=${media.title}, null, null
`;
}

function displayDump({ ui }: System): string {
  const lines = displaysOf(ui).map((index) => {
    const { width, height, rotation } = ui.space(index);
    const kind = index === 0 ? "INTERNAL" : "EXTERNAL";
    return `  Display Id=${index}
  Display State=${ui.isOn ? "ON" : "OFF"}
    DisplayViewport{type=${kind}, valid=true, isActive=${ui.isOn}, displayId=${index}, uniqueId='local:${physicalDisplays[index]}', physicalPort=${index}, orientation=${rotation / 90}, logicalFrame=Rect(0, 0 - ${width}, ${height}), deviceWidth=${width}, deviceHeight=${height}}
`;
  });
  return `DISPLAY MANAGER (dumpsys display)\n${lines.join("")}`;
}
