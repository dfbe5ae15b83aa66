import type { ControllerContext } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { transportLost } from "../adb/failures.ts";
import type { Link } from "../link.ts";
import { versionIn } from "../packages.ts";
import { chromedriverAt } from "../ui/webPages.ts";
import { ownerLine, saysOwner, uiaBusy } from "./failures.ts";
import { driverEnvironment, freePorts, unavailable, whyNotOnNode } from "./place.ts";
import { DriverProgram, DriverRefusal } from "./program.ts";
import { unlessRefused } from "./refused.ts";
import { DriverSession, removeTraces } from "./session.ts";

/** Enough for a slow phone to install and start the server. */
const openMs = 120_000;
/** An installed server that has not answered by then never will. */
const serverMs = 20_000;
const serverPackage = "io.appium.uiautomator2.server";
/** Prints the installed version, the path of its test package, and the owner of UiAutomation. */
const beforeLine = `dumpsys package ${serverPackage} | grep versionName=; pm path ${serverPackage}.test; ${ownerLine}`;

/** Android calls a screen idle when nothing changed for this long (UiDevice.waitForIdle). */
export const restMs = 500;

/** The UiAutomator2 server waits only for idle; we wait for the rest ourselves. */
const settings = {
  waitForIdleTimeout: restMs,
  waitForSelectorTimeout: 0,
  actionAcknowledgmentTimeout: 0,
  scrollAcknowledgmentTimeout: 0,
};

export type DriverPlace = {
  link: Link;
  adbPort: number;
  context: ControllerContext;
  /** Whether another program that reads the device may be ended, as the driver does. */
  mayTakeOver: boolean;
  /** The program that reads pages in WebViews; undefined where none does. */
  chromedriver: string | undefined;
};

/**
 * Starts the driver in a process of its own and opens its session on a device. It starts no app and changes none. Throws
 * ADDON_MISSING, ADDON_UNUSABLE, ADB_MISSING, UIA_BUSY, UIA_UNAVAILABLE, TRANSPORT_LOST.
 */
export async function openSession(place: DriverPlace, signal: AbortSignal): Promise<DriverSession> {
  const { link, adbPort } = place;
  const { program, isInstalled, tookOver } = await startDriver(place, signal);
  try {
    const capabilities = await capabilitiesFor(place, isInstalled);
    const opening = program.call("open", [capabilities, settings], { timeoutMs: openMs, signal });
    await unlessRefused(link, opening, signal);
    const { systemPort: system, mjpegServerPort: mjpeg } = capabilities;
    return new DriverSession({ program, link, adbPort, ports: { system, mjpeg }, tookOver });
  } catch (error) {
    await program.end();
    await removeTraces(link, adbPort);
    signal.throwIfAborted();
    throw whyNot(error, link);
  }
}

/** Starts its process. The device is untouched until a session opens. */
async function startDriver(place: DriverPlace, signal: AbortSignal) {
  const { link, adbPort, context, mayTakeOver } = place;
  const tooOld = whyNotOnNode(process.versions.node);
  if (tooOld !== undefined) throw unavailable(tooOld, "Install a newer Node from https://nodejs.org");
  const addon = context.addons.folder("android-driver");
  const env = await driverEnvironment({ folder: await context.temporaryFolder(), adbPort }, signal);
  const program = new DriverProgram(addon, env);
  try {
    const [{ serverVersion }, { stdout }] = await Promise.all([
      program.ready(signal),
      link.script(beforeLine, signal),
    ]);
    const tookOver = saysOwner(stdout);
    if (tookOver && !mayTakeOver) throw uiaBusy();
    const isInstalled = versionIn(stdout) === serverVersion && /^package:/m.test(stdout);
    return { program, isInstalled, tookOver };
  } catch (error) {
    await program.kill();
    signal.throwIfAborted();
    throw whyNot(error, link);
  }
}

async function capabilitiesFor({ link, adbPort, chromedriver }: DriverPlace, isInstalled: boolean) {
  const [systemPort = 0, mjpegServerPort = 0, webviewDevtoolsPort = 0] = await freePorts(3);
  const chromedriverExecutable = chromedriver === undefined ? undefined : chromedriverAt(chromedriver);
  return {
    automationName: "UiAutomator2",
    udid: link.serial,
    adbPort,
    // Else the driver ends the user's adb server when that is slow.
    suppressKillServer: true,
    systemPort,
    mjpegServerPort,
    // The port of chromedriver itself is a free one unless it is given.
    ...(chromedriverExecutable !== undefined && { chromedriverExecutable, webviewDevtoolsPort }),
    noReset: true,
    autoLaunch: false,
    newCommandTimeout: 0,
    uiautomator2ServerLaunchTimeout: serverMs,
    skipServerInstallation: isInstalled,
    // Its settings app, its own log of the device and its unlocking are for what we do not use.
    skipDeviceInitialization: true,
    skipLogcatCapture: true,
    skipUnlock: true,
  };
}

function whyNot(error: unknown, link: Link): unknown {
  if (!link.isCurrent()) return transportLost(link.serial, error);
  if (error instanceof DeviceError) return error;
  const said = error instanceof DriverRefusal ? error.said : error instanceof Error ? error.message : "";
  const why = said.replace(/\s+/g, " ").replace(/\.$/, "").slice(0, 300);
  return unavailable(
    `its session did not start: ${why}`,
    "See whether the device lets apps be installed over USB, and has space",
    error,
  );
}
