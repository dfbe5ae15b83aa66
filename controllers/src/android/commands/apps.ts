import type { z } from "zod";
import { type Command, type CommandResult, defineCommand } from "../../contract.ts";
import { orNearest } from "../../elements/failures.ts";
import { nearest } from "../../elements/nearest.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { sent } from "../../screens/hand.ts";
import { commandLine } from "../adb/quote.ts";
import { listApps } from "../apps.ts";
import { wake } from "../power.ts";
import { processLine, runsIn } from "../processes.ts";
import type { AndroidSession } from "../session.ts";

type App = z.output<typeof portable.open_app.input>["app"];

/** Names of packages and activities as Android allows them, so that none is taken for an option. */
const packageName = /^[A-Za-z][\w.]{0,199}$/;
const activityName = /^[.A-Za-z][\w.$]{0,199}$/;

export function appCommands(session: AndroidSession): Command[] {
  return [
    defineCommand({
      ...portable.open_app,
      run: ({ app, timeout_ms }, signal) => openApp(session, app, timeout_ms, signal),
    }),
    defineCommand({
      ...portable.close_app,
      run: ({ app }, signal) => closeApp(session, packageOf(app), signal),
    }),
  ];
}

/** The package that a caller named, else that of the app in use. Throws INVALID_PARAMS where there is none. */
export const packageInUse = (
  { context }: Pick<AndroidSession, "context">,
  app: { package?: string | undefined },
): string => packageOf({ package: app.package ?? context.app()?.package });

/** The package of an app. Throws INVALID_PARAMS where it has none, or one that cannot be. */
export function packageOf({ package: id }: App): string {
  if (id !== undefined && packageName.test(id)) return id;
  throw new DeviceError(
    "INVALID_PARAMS",
    id === undefined
      ? "An Android device opens apps by package. Give the app one, such as com.android.settings."
      : `${JSON.stringify(id)} is not a package name. Give one such as com.android.settings.`,
  );
}

async function openApp(
  session: AndroidSession,
  app: App,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CommandResult> {
  const id = packageOf(app);
  session.trail.start = undefined;
  await wake(session.device, signal);
  const component =
    app.activity === undefined ? await launcherOf(session, id, signal) : given(id, app.activity);
  try {
    const start = commandLine(["am", "start", "-W", "-n", component]);
    const { code, stdout, stderr } = await session.device.link().script(start, signal, { timeoutMs });
    const said = `${stdout}\n${stderr}`;
    if (/Error type 3|does not exist/.test(said)) throw await noActivity(session, id, component, signal);
    if (code !== 0 || /^Error/m.test(said)) throw notOpened(component, said);
    const ms = Number(/^TotalTime: (\d+)/m.exec(said)?.[1]);
    const state = /^LaunchState: (\w+)/m.exec(said)?.[1];
    session.trail.start = { id, ...(ms > 0 && { ms }), ...(state !== undefined && { state }) };
    const late = /^Status: timeout/m.test(said) ? ", which has not shown its screen yet" : "";
    return { ...sent(`opened ${id}${late}`), isNews: late !== "", ...(ms > 0 && { data: { total_ms: ms } }) };
  } finally {
    session.reader.driven();
  }
}

async function closeApp(
  { device, reader }: AndroidSession,
  id: string,
  signal: AbortSignal,
): Promise<CommandResult> {
  try {
    const lines = [processLine, ["am", "force-stop", id]];
    const { code, stdout, stderr } = await device.link().runAll(lines, signal);
    if (code !== 0) throw notClosed(id, stderr);
    return runsIn(stdout, id) === false
      ? { message: `${id} was not open`, isNews: true }
      : sent(`closed ${id}`);
  } finally {
    reader.driven();
  }
}

const notClosed = (id: string, said: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `${id} was not closed: ${said.trim().slice(0, 300) || "the device said nothing"}. Look at the screen, and go on without it.`,
  );

function given(id: string, activity: string): string {
  if (activityName.test(activity)) return `${id}/${activity}`;
  throw new DeviceError(
    "INVALID_PARAMS",
    `${JSON.stringify(activity)} is not an activity name. Give one such as .MainActivity.`,
  );
}

/**
 * The activity that the launcher starts, the first of several (for which resolve-activity gives Android's chooser); on a TV that
 * of its own launcher first.
 */
async function launcherOf({ device }: AndroidSession, id: string, signal: AbortSignal): Promise<string> {
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
  { device }: AndroidSession,
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
export async function mustBeInstalled(
  device: AndroidSession["device"],
  id: string,
  signal: AbortSignal,
): Promise<void> {
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
