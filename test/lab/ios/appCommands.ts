import { basename } from "node:path";
import { z } from "zod";
import { parsed, WireFailure } from "../webdriver/wire.ts";
import { bundleIdOf, packageOf } from "./names.ts";
import type { IosSession } from "./session.ts";

type Work = (session: IosSession, given: unknown) => unknown;

const ofApp = z.object({ bundleId: z.string() });
const link = z.object({ url: z.string(), bundleId: z.string().optional() });
/** As XCUITest counts the states of an app. */
const states = { unknown: 0, notRunning: 1, background: 3, foreground: 4 };

const isInstalled = ({ ui }: IosSession, packageName: string): boolean =>
  ui.apps().some((one) => one.packageName === packageName);

export function launch(session: IosSession, bundleId: string): void {
  const packageName = packageOf(bundleId);
  if (!isInstalled(session, packageName))
    throw new WireFailure("unknown error", `App with bundle identifier '${bundleId}' unknown`);
  session.ui.start({ packageName });
}

function stop({ ui }: IosSession, bundleId: string): boolean {
  const packageName = packageOf(bundleId);
  const wasRunning = ui.running().includes(packageName);
  if (wasRunning) ui.stop(packageName);
  return wasRunning;
}

function stateOf(session: IosSession, bundleId: string): number {
  const packageName = packageOf(bundleId);
  const { ui } = session;
  if (!isInstalled(session, packageName)) return states.unknown;
  if (ui.front().packageName === packageName) return states.foreground;
  return ui.running().includes(packageName) ? states.background : states.notRunning;
}

export const appCommands: Readonly<Record<string, Work>> = {
  launchApp: (session, given) => {
    const { bundleId } = parsed(ofApp, given);
    stop(session, bundleId);
    launch(session, bundleId);
  },
  activateApp: (session, given) => launch(session, parsed(ofApp, given).bundleId),
  terminateApp: (session, given) => stop(session, parsed(ofApp, given).bundleId),
  queryAppState: (session, given) => stateOf(session, parsed(ofApp, given).bundleId),
  isAppInstalled: (session, given) => isInstalled(session, packageOf(parsed(ofApp, given).bundleId)),
  activeAppInfo: ({ ui }) => {
    const { packageName } = ui.front();
    const bundleId = bundleIdOf(packageName);
    const name = ui.apps().find((one) => one.packageName === packageName)?.label ?? "";
    return {
      bundleId,
      name,
      pid: 100 + ui.running().indexOf(packageName),
      processArguments: { args: [], env: {} },
    };
  },
  /** The name of the file is the bundle id of what it holds. */
  installApp: ({ ui }, given) => {
    const { app } = parsed(z.object({ app: z.string() }), given);
    const bundleId = basename(app).replace(/\.(?:ipa|app|zip)$/, "");
    if (bundleId === basename(app))
      throw new WireFailure(
        "unknown error",
        `The application at '${app}' does not exist or is not accessible`,
      );
    ui.install(packageOf(bundleId), bundleId);
  },
  removeApp: (session, given) => {
    const { bundleId } = parsed(ofApp, given);
    const packageName = packageOf(bundleId);
    if (!isInstalled(session, packageName)) return false;
    session.ui.uninstall(packageName);
    return true;
  },
  /** As the installation proxy of iOS lists them. */
  listApps: ({ ui }, given) => {
    const { applicationType } = parsed(z.object({ applicationType: z.enum(["User", "System"]) }), given);
    const listed = ui.apps().map(({ packageName, label }) => {
      const CFBundleIdentifier = bundleIdOf(packageName);
      const names = { CFBundleDisplayName: label, CFBundleName: label };
      return { CFBundleIdentifier, ...names, CFBundleShortVersionString: "1.0", CFBundleVersion: "7" };
    });
    const isWanted = (id: string) => id.startsWith("com.apple.") === (applicationType === "System");
    const wanted = listed.filter(({ CFBundleIdentifier: id }) => isWanted(id));
    return Object.fromEntries(wanted.map((one) => [one.CFBundleIdentifier, one]));
  },
  deepLink: (session, given) => {
    const { url } = parsed(link, given);
    if (session.ui.open(url) === undefined)
      throw new WireFailure("unknown error", `Could not open the URL '${url}': no app is registered for it`);
  },
};
