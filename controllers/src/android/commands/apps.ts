import type { CommandResult } from "../../contract.ts";
import { orNearest } from "../../elements/failures.ts";
import { nearest } from "../../elements/nearest.ts";
import { DeviceError } from "../../errors.ts";
import { type AppPort, idInUse, isWeb, namedApp } from "../../phones/apps.ts";
import { sent } from "../../screens/input.ts";
import { commandLine } from "../adb/quote.ts";
import type { AndroidDevice } from "../device.ts";
import { describePackage, listApps, permissionsIn, processLine, runsIn, schemesIn } from "../packages.ts";
import type { AndroidSession } from "../session.ts";
import { wake } from "../ui/screenFacts.ts";

/** Clearing the data of a large app takes longer than other calls. */
const clearMs = 60_000;

/** The package of an app, as Android allows it, so that none is taken for an option. */
export const packageOf: AppPort["idOf"] = namedApp({
  pattern: /^[A-Za-z][\w.]{0,199}$/,
  none: "An Android device opens apps by package. Give the app one, such as com.android.settings.",
  wrong: "is not a package name. Give one such as com.android.settings.",
});

/** The package that a caller named, else that of the app in use. */
export const packageInUse = (
  { context }: Pick<AndroidSession, "context">,
  app: { package?: string | undefined },
): string => idInUse(context, { idOf: packageOf }, app);

export const createAppPort = (session: AndroidSession): AppPort => ({
  idOf: packageOf,
  links: "http, https, or a scheme that the app declares.",
  open: (id, activity, timeoutMs, signal) => openApp(session, id, { activity, timeoutMs }, signal),
  close: (id, signal) => session.reader.send(() => closeApp(session.device, id, signal)),
  clear: (id, signal) => session.reader.send(() => clearApp(session.device, id, signal)),
  change: (how, permission, id, signal) =>
    session.reader.send(() => changePermission(session.device, { how, permission, id }, signal)),
  receiver: (scheme, given, signal) => receiverOf(session, scheme, given, signal),
  openLink: (url, id, timeoutMs, signal) =>
    session.reader.send(() => openLink(session.device, { url, id, timeoutMs }, signal)),
});

async function openApp(
  session: AndroidSession,
  id: string,
  { activity, timeoutMs }: { activity: string | undefined; timeoutMs: number },
  signal: AbortSignal,
): Promise<CommandResult> {
  const { device, trail } = session;
  trail.start = undefined;
  await wake(device, signal);
  const component = activity ?? (await launcherOf(device, id, signal));
  return session.reader.send(async () => {
    const start = commandLine(["am", "start", "-W", "-n", component]);
    const { code, stdout, stderr } = await device.link().script(start, signal, { timeoutMs });
    const said = `${stdout}\n${stderr}`;
    if (/Error type 3|does not exist/.test(said)) throw await noActivity(device, id, component, signal);
    if (code !== 0 || /^Error/m.test(said)) throw notOpened(component, said);
    const ms = Number(/^TotalTime: (\d+)/m.exec(said)?.[1]);
    const state = /^LaunchState: (\w+)/m.exec(said)?.[1];
    trail.start = { id, ...(ms > 0 && { ms }), ...(state !== undefined && { state }) };
    const late = /^Status: timeout/m.test(said) ? ", which has not shown its screen yet" : "";
    return { ...sent(`opened ${id}${late}`), isNews: late !== "", ...(ms > 0 && { data: { total_ms: ms } }) };
  });
}

/** False where the device says that it had no process. */
async function closeApp(device: AndroidDevice, id: string, signal: AbortSignal): Promise<boolean> {
  const lines = [processLine, ["am", "force-stop", id]];
  const { code, stdout, stderr } = await device.link().runAll(lines, signal);
  if (code === 0) return runsIn(stdout, id) !== false;
  throw new DeviceError(
    "DEVICE_ERROR",
    `${id} was not closed: ${stderr.trim().slice(0, 300) || "the device said nothing"}. Look at the screen, and go on without it.`,
  );
}

async function clearApp(device: AndroidDevice, id: string, signal: AbortSignal): Promise<void> {
  const cleared = await device.link().run(["pm", "clear", id], signal, { timeoutMs: clearMs });
  if (/^Success/m.test(cleared.stdout)) return;
  await mustBeInstalled(device, id, signal);
  throw new DeviceError(
    "DEVICE_ERROR",
    `The data of ${id} was not deleted: ${saidBy(cleared)}. Some makers require "USB debugging (Security settings)" in the developer options; else uninstall and install the app.`,
  );
}

async function changePermission(
  device: AndroidDevice,
  { how, permission, id }: { how: "grant" | "revoke"; permission: string; id: string },
  signal: AbortSignal,
): Promise<void> {
  const changed = await device.link().run(["pm", how, id, permission], signal);
  const said = saidBy(changed);
  if (changed.code === 0 && !/Exception|Operation not allowed/.test(said)) return;
  await mustBeInstalled(device, id, signal);
  const asked = permissionsIn(await describePackage(device, id, signal)).map((one) => one.name);
  const near = asked.includes(permission) ? "" : orNearest(nearest(permission, asked));
  const done = how === "grant" ? "granted" : "revoked";
  throw new DeviceError(
    "ACTION_REJECTED",
    `${permission} of ${id} was not ${done}: ${said}. Only permissions that the app requests and that a user can give are changed${near}`,
  );
}

const saidBy = ({ stdout, stderr }: { stdout: string; stderr: string }): string =>
  `${stdout}\n${stderr}`.trim().replace(/\s+/g, " ").slice(0, 300) || "the device said nothing";

async function openLink(
  device: AndroidDevice,
  { url, id, timeoutMs }: { url: string; id: string | undefined; timeoutMs: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const start = ["am", "start", "-W", "-a", "android.intent.action.VIEW", "-d", url];
  if (id !== undefined) start.push("-p", id);
  const { code, stdout, stderr } = await device.link().run(start, signal, { timeoutMs });
  if (code === 0 && !/^Error|unable to resolve/m.test(`${stdout}\n${stderr}`))
    return /^Activity: (\S+)/m.exec(stdout)?.[1];
  const who = id === undefined ? "No app opens" : `${id} does not open`;
  throw new DeviceError(
    "ACTIVITY_MISSING",
    `${who} this link. Correct it, or see which links the app declares.`,
  );
}

/** A link of an app's own scheme is opened in that app alone. */
async function receiverOf(
  { context, device }: AndroidSession,
  scheme: string,
  given: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (isWeb(scheme)) return given;
  const inUse = context.app();
  const id = given ?? inUse?.package;
  if (id === undefined)
    throw new DeviceError(
      "INVALID_PARAMS",
      `A link of the scheme ${scheme} is opened only in an app that declares it. Give its package.`,
    );
  packageOf({ package: id });
  const isOfAppInUse = inUse?.package === undefined || inUse.package === id;
  if (isOfAppInUse && inUse?.deep_link?.toLowerCase().startsWith(`${scheme}:`)) return id;
  const declared = schemesIn(await describePackage(device, id, signal));
  if (declared.includes(scheme)) return id;
  await mustBeInstalled(device, id, signal);
  const known = declared.length === 0 ? "none" : declared.slice(0, 20).join(", ");
  throw new DeviceError(
    "URL_DENIED",
    `${id} does not declare links of the scheme ${scheme}; it declares: ${known}. Give one of these, or http or https.`,
  );
}

/** The first activity that a launcher starts (resolve-activity could give Android's chooser); on a TV its own launcher's. */
async function launcherOf(device: AndroidDevice, id: string, signal: AbortSignal): Promise<string> {
  const categories = device.facts().isTv ? ["LEANBACK_LAUNCHER", "LAUNCHER"] : ["LAUNCHER"];
  const query = (category: string) =>
    commandLine([
      ...["cmd", "package", "query-activities", "--brief", "-a", "android.intent.action.MAIN"],
      ...["-c", `android.intent.category.${category}`, id],
    ]);
  const { stdout } = await device.link().script(categories.map(query).join("; "), signal);
  const found = stdout
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line.startsWith(`${id}/`));
  if (found !== undefined) return found;
  await mustBeInstalled(device, id, signal);
  throw new DeviceError(
    "ACTIVITY_MISSING",
    `${id} has no screen that a launcher opens. Give the app an activity, such as .MainActivity.`,
  );
}

async function noActivity(
  device: AndroidDevice,
  id: string,
  component: string,
  signal: AbortSignal,
): Promise<DeviceError> {
  await mustBeInstalled(device, id, signal);
  return new DeviceError(
    "ACTIVITY_MISSING",
    `There is no activity ${component}. Leave activity out to open what the launcher opens, or correct it.`,
  );
}

/** Throws APP_NOT_INSTALLED with the nearest packages. */
export async function mustBeInstalled(device: AndroidDevice, id: string, signal: AbortSignal): Promise<void> {
  const installed = (await listApps(device, signal)).map((app) => app.id);
  if (installed.includes(id)) return;
  const candidates = nearest(id, installed);
  throw new DeviceError(
    "APP_NOT_INSTALLED",
    `${id} is not installed on the device. Install it, or correct the package${orNearest(candidates)}`,
    { nearest: candidates },
  );
}

const notOpened = (component: string, said: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `${component} was not opened: ${said.trim().slice(0, 300)}. An activity that its app does not export can only be opened in the app.`,
  );
