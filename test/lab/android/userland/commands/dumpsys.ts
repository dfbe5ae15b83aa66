import type { Rect } from "@labwright/controllers";
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
    // With keys of its own the device has a keyboard, and shows none.
    const hasKeys = ui.faults.hasHardwareKeyboard;
    const method = settings.get("secure")?.get("default_input_method");
    return `Current Input Method Manager state:
  mCurMethodId=${method} mCurSeq=1
  mShowRequested=${shown} mShowExplicitlyRequested=false mShowForced=false mInputShown=${shown || hasKeys}
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
  location: (_, system) => locationDump(system),
  wifi: (_, { settings, parts }) =>
    settings.get("global")?.get("wifi_on") === "0"
      ? "Wi-Fi is disabled\n"
      : parts.persona.outputs["dumpsys wifi"],
  deviceidle: ([action, name = ""], { parts }) =>
    action === "whitelist" ? `Added: ${name.slice(1)}\n` : parts.persona.outputs["dumpsys deviceidle"],
};

/**
 * One part, or all of them. The focus is among the windows until Android 9, and among the displays since Android 10 (appium-adb,
 * dumpWindows), where the display that was used last comes last (MaaAssistantArknights, pull request 11516: display 2 before 0).
 */
function windowDump(part: string | undefined, system: System): string {
  const parts = { windows: windowsPart(system), displays: displaysPart(system), policy: policyPart(system) };
  const only = Object.entries(parts).find(([name]) => name === part)?.[1];
  return only ?? Object.values(parts).join("\n");
}

const firstWithFocusOfDisplays = 29;

function windowsPart(system: System): string {
  const { ui, apiLevel } = system;
  const windows = ui.windows().map(
    (window, index) => `  Window #${index} Window{a0${index} u0 ${window.title}}:
    mDisplayId=${window.display} package=${window.packageName}
    mAttrs=${attributesOf(window, apiLevel)}
    mViewVisibility=0x0 isOnScreen=true isVisible=true
    Frames: frame=${frameOf(window.root.bounds)}
`,
  );
  const focus = apiLevel < firstWithFocusOfDisplays ? focusOf(system) : "";
  return `WINDOW MANAGER WINDOWS (dumpsys window windows)\n${windows.join("")}\n${focus}`;
}

/** Until Android 8.1 flags are a number, in which 0x2000 is FLAG_SECURE. */
function attributesOf(window: UiWindow, apiLevel: number): string {
  if (apiLevel >= 28)
    return `{(0,0)(fillxfill) ty=${typeOf(window)}\n      fl=LAYOUT_IN_SCREEN ${window.isSecure ? "SECURE " : ""}HARDWARE_ACCELERATED\n      pfl=FORCE_DRAW_STATUS_BAR_BACKGROUND}`;
  return `WM.LayoutParams{(0,0)(fillxfill) sim=#20 ty=1 fl=#${window.isSecure ? "81812100" : "81810100"} wanim=0x10302f8}`;
}

function displaysPart(system: System): string {
  const { ui, apiLevel } = system;
  const displays = [...displaysOf(ui)].reverse().map((index) => {
    const { width, height } = ui.space(index);
    const init = index === 0 ? system.parts.persona.screen : { width, height, density: 160 };
    const own = index === 0 ? focusOf(system) : "  mCurrentFocus=null\n  mFocusedApp=null\n";
    return `  Display: mDisplayId=${index}
    init=${init.width}x${init.height} ${init.density}dpi cur=${width}x${height} app=${width}x${height}
    deferred=false mLayoutNeeded=false

${apiLevel < firstWithFocusOfDisplays ? "" : own}`;
  });
  return `WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n${displays.join("")}`;
}

function focusOf(system: System): string {
  const { ui, apiLevel } = system;
  const { packageName, activity } = ui.front();
  const active = ui.active();
  const component = (active.activity ?? activity).startsWith(".") ? `${packageName}${activity}` : activity;
  const name = active.kind === "application" ? `${packageName}/${component}` : active.title;
  const top = topRecord(system);
  const app =
    apiLevel < firstWithFocusOfDisplays ? `AppWindowToken{9b60a9f token=Token{5e51d3e ${top}}}` : top;
  return `  mCurrentFocus=Window{b1f u0 ${name}}\n  mFocusedApp=${app}\n`;
}

function policyPart({ ui }: System): string {
  return `WINDOW MANAGER POLICY STATE (dumpsys window policy)
  mShowingLockscreen=false mDreamingLockscreen=false
  isStatusBarKeyguard=false isKeyguardShowing=false showing=false
  screenState=SCREEN_STATE_${ui.isOn ? "ON" : "OFF"} interactiveState=INTERACTIVE_STATE_${ui.isOn ? "AWAKE" : "SLEEP"}
`;
}

const frameOf = ({ x, y, width, height }: Rect) => `[${x},${y}][${x + width},${y + height}]`;

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

/** Until Android 10 places are listed by themselves, later with their provider (AOSP, LocationManagerService and LocationProviderManager). */
function locationDump({ settings, location, apiLevel }: System): string {
  const { latitude, longitude, altitude } = location;
  const isOn = settings.get("secure")?.get("location_mode") !== "0";
  const place = `${latitude.toFixed(6)},${longitude.toFixed(6)} hAcc=5.0`;
  const network = `Location[network 0.000000,0.000000 hAcc=900.0 et=+2m3s]`;
  const gps = `Location[gps ${place} et=+1h2m3s4ms alt=${altitude}]`;
  const head = `Location Manager State:\n  Location Setting: ${isOn}\n`;
  if (apiLevel < 30) return `${head}  Last Known Locations:\n    network: ${network}\n    gps: ${gps}\n`;
  return `${head}  Location Providers:
    network provider:
      last location=${network}
      enabled=true
    gps provider:
      last location=${gps}
      enabled=true
`;
}

const serviceRecord = ({ name, pid }: Process) =>
  `  * ServiceRecord{c0 u0 ${name}/.Service}\n    app=ProcessRecord{d0 ${pid}:${name}/u0a100}\n    isForeground=true foregroundId=1\n`;

const playbackStates = { stopped: 1, paused: 2, playing: 3 };

/** By name since Android 12: home-assistant/core, issue 135338. */
const stateOf = (state: keyof typeof playbackStates, apiLevel: number): string =>
  apiLevel >= 31 ? `${state.toUpperCase()}(${playbackStates[state]})` : `${playbackStates[state]}`;

function mediaDump({ ui, apiLevel }: System): string {
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
      state=PlaybackState {state=${stateOf(media.state, apiLevel)}, position=${media.positionMs}, buffered position=0, speed=${media.state === "playing" ? "1.0" : "0.0"}, updated=0, actions=823, custom actions=[], active item id=-1, error=null}
      metadata: size=1, description=${media.title}, null, null
`;
}

function displayDump({ ui, apiLevel }: System): string {
  const displays = displaysOf(ui).map((index) => ({
    index,
    ...ui.space(index),
    id: `local:${physicalDisplays[index]}`,
    kind: index === 0 ? "INTERNAL" : "EXTERNAL",
  }));
  const states = displays.map(
    ({ index, kind, id, width, height, rotation }) => `  Display Id=${index}
  Display State=${ui.isOn ? "ON" : "OFF"}
    DisplayViewport{type=${kind}, valid=true, isActive=${ui.isOn}, displayId=${index}, uniqueId='${id}', physicalPort=${index}, orientation=${rotation / 90}, logicalFrame=Rect(0, 0 - ${width}, ${height}), deviceWidth=${width}, deviceHeight=${height}}
`,
  );
  const logical = displays.map(({ index, kind, id, width, height, rotation }) => {
    const size = `real ${width} x ${height}, largest app ${height} x ${height}, smallest app ${width} x ${width}`;
    const modes = `mode 1, defaultMode 1, modes [{id=1, width=${width}, height=${height}, fps=60.0}], rotation ${rotation / 90}`;
    const head = apiLevel < 29 ? `"Lab ${index}", uniqueId "${id}"` : `"Lab ${index}", displayId ${index}`;
    const tail = apiLevel < 29 ? "" : `, state ON, type ${kind}, uniqueId "${id}"`;
    return `  Display ${index}:
    mDisplayId=${index}
    mLayerStack=${index}
    mBaseDisplayInfo=DisplayInfo{${head}, ${size}, ${modes.replace(/\d$/, "0")}${tail}}
    mOverrideDisplayInfo=DisplayInfo{${head}, ${size}, ${modes}${tail}}
`;
  });
  return `DISPLAY MANAGER (dumpsys display)\n${states.join("")}\nLogical Displays: size=${displays.length}\n${logical.join("")}`;
}
