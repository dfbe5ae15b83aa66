import type { InstalledAddons } from "../contract.ts";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import type { DeviceError } from "../errors.ts";
import { adbTooOld, findAdb, installAdb } from "../programs/adb.ts";
import { atMost } from "../waiting/deadlines.ts";
import { type Listed, listDevices } from "./adb/devices.ts";
import { notConnected, offline, unauthorized } from "./adb/failures.ts";
import { otherVersionAt, serverPort } from "./adb/server.ts";
import { whyNotOnNode } from "./driver/place.ts";
import { type AndroidSettings, serialOf } from "./settings.ts";
import { chromedriverAt } from "./ui/webPages.ts";

const answerMs = 3_000;

/** Checks the adb program, its server and the device. Starts and connects nothing. */
export async function diagnoseAndroid(
  settings: AndroidSettings,
  { env, addons, signal }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  const limit = atMost(signal, answerMs);
  const program = await diagnoseProgram(serverPort(settings.adb_port, env), env, limit);
  const driver = [...diagnoseDriver(settings, addons), ...diagnoseChromedriver(settings, env)];
  const devices = await ask(settings, env, signal);
  if (devices === undefined) {
    const detail =
      "the adb server is not running; it starts when the device is used, so this could not be checked";
    return [program, { what: nameOf(settings), status: "ok", detail }, ...driver];
  }
  return [program, diagnoseDevice(settings, devices), ...driver];
}

/** Empty if dumps are configured: then the driver is not used. */
export function diagnoseDriver(
  { backend }: Pick<AndroidSettings, "backend">,
  addons: Pick<InstalledAddons, "state">,
  node = process.versions.node,
): DiagnosisFinding[] {
  if (backend === "dump") return [];
  const what = "UiAutomator2 driver";
  const status = backend === "auto" ? "warning" : "missing";
  const instead = backend === "auto" ? "; elements are read by uiautomator dump, and text is ASCII" : "";
  const tooOld = whyNotOnNode(node);
  if (tooOld !== undefined)
    return [{ what, status, detail: tooOld + instead, fix: "Install a newer Node from https://nodejs.org" }];
  const state = addons.state("android-driver");
  if (state === "installed") return [{ what, status: "ok", detail: "installed" }];
  const detail = state === "missing" ? "not installed" : "installed for another build";
  return [{ what, status, detail: detail + instead, fix: "labwright setup android" }];
}

/** Empty if no chromedriver is configured. Only the device knows which version is right. */
function diagnoseChromedriver(
  { chromedriver }: AndroidSettings,
  env: DiagnosisContext["env"],
): DiagnosisFinding[] {
  if (chromedriver === undefined) return [];
  const path = chromedriverAt(chromedriver, { ...env });
  if (path !== undefined) return [{ what: "chromedriver", status: "ok", detail: path }];
  const detail = `there is no program ${chromedriver}; pages in WebViews are read through accessibility`;
  const fix = "Install the chromedriver of the device's WebView, or correct controllers.android.chromedriver";
  return [{ what: "chromedriver", status: "warning", detail, fix }];
}

const nameOf = (settings: AndroidSettings): string =>
  `Android device ${serialOf(settings) ?? "(the only one)"}`;

async function diagnoseProgram(
  port: number,
  env: DiagnosisContext["env"],
  signal: AbortSignal,
): Promise<DiagnosisFinding> {
  const what = "adb";
  try {
    const adb = await findAdb({ ...env }, signal);
    if (adb === undefined) return { what, status: "missing", detail: "not found", fix: installAdb };
    if (!adb.isFit) return { what, status: "missing", ...parted(adbTooOld(adb.text)) };
    const other = await otherVersionAt(port, adb, signal);
    if (other) return { what, status: "warning", detail: other.why, fix: other.fix };
    return { what, status: "ok", detail: `${adb.text} (${adb.path})` };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { what, status: "missing", detail, fix: installAdb };
  }
}

/** Undefined when no server answers. */
async function ask(
  { adb_port }: AndroidSettings,
  env: DiagnosisContext["env"],
  signal: AbortSignal,
): Promise<Listed[] | undefined> {
  try {
    const limit = atMost(signal, answerMs);
    return await listDevices(serverPort(adb_port, env), limit);
  } catch {
    return undefined;
  }
}

function diagnoseDevice(settings: AndroidSettings, devices: readonly Listed[]): DiagnosisFinding {
  const what = nameOf(settings);
  const serial = serialOf(settings);
  const serials = devices.map((one) => one.serial);
  if (serial === undefined && devices.length > 1) {
    const detail = `adb lists ${serials.join(", ")}`;
    return {
      what,
      status: "missing",
      detail,
      fix: "Set controllers.android.serial of the device to one of them",
    };
  }
  const device = serial === undefined ? devices[0] : devices.find((one) => one.serial === serial);
  if (device === undefined && settings.address !== undefined) {
    const detail = `not connected to ${settings.address} now; it is connected when it is used`;
    return {
      what,
      status: "warning",
      detail,
      fix: `See whether this works: adb connect ${settings.address}`,
    };
  }
  if (device === undefined)
    return { what, status: "missing", ...parted(notConnected(serial ?? "It", serials)) };
  if (device.state === "device") return { what, status: "ok", detail: device.model ?? "connected" };
  if (device.state === "unauthorized")
    return { what, status: "missing", ...parted(unauthorized(device.serial)) };
  return { what, status: "missing", ...parted(offline(device.serial, device.state)) };
}

/** The first sentence of an error says what is wrong, the others how to fix it. */
function parted({ message }: DeviceError): { detail: string; fix: string } {
  const [detail = "", ...fix] = message.split(/(?<=\.) /);
  return { detail, fix: fix.join(" ") };
}
