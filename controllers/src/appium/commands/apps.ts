import { z } from "zod";
import { type Command, type CommandResult, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { packageShape } from "../../screens/appState.ts";
import { sent } from "../../screens/hand.ts";
import { type AppiumSession, input } from "../session.ts";

type App = z.output<typeof portable.open_app.input>["app"];

/** Names of packages, bundles and activities, so that none is taken for an option. */
const appName = /^[A-Za-z][\w.-]{0,199}$/;
const activityName = /^[.A-Za-z][\w.$]{0,199}$/;
const installMs = 300_000;

const onlyApp = z.strictObject(packageShape);
const installInput = z.strictObject({
  app: z
    .string()
    .min(1)
    .max(2_000)
    .describe("An http address, a path on the Appium server, or a cloud's name."),
});

export function appCommands(session: AppiumSession): Command[] {
  return [
    defineCommand({
      ...portable.open_app,
      run: ({ app, timeout_ms }, signal) => openApp(session, app, timeout_ms, signal),
    }),
    defineCommand({
      ...portable.close_app,
      async run({ app }, signal) {
        const id = appIdOf(app);
        const done = await input(session, () =>
          session.device.mobile("terminateApp", naming(session, id), signal),
        );
        return done === false ? { message: `${id} was not open`, isNews: true } : sent(`closed ${id}`);
      },
    }),
    defineCommand<typeof installInput>({
      name: "install_app",
      description: "Installs an app, or another version of it.",
      effect: "write",
      input: installInput,
      async run({ app }, signal) {
        // What else has a scheme is a cloud's name of an app, such as bs://0123.
        if (/^https?:/i.test(app)) session.context.allowUrl(app);
        const isOfAndroid = session.device.facts().platform === "android";
        const given = isOfAndroid ? { appPath: app } : { app };
        await input(session, () =>
          session.device.mobile("installApp", given, signal, { timeoutMs: installMs }),
        );
        return sent("installed the app");
      },
    }),
    defineCommand<typeof onlyApp>({
      name: "uninstall_app",
      description: "Removes an app with its data.",
      effect: "write",
      input: onlyApp,
      async run(app, signal) {
        const id = appInUse(session, app);
        const done = await input(session, () =>
          session.device.mobile("removeApp", naming(session, id), signal),
        );
        return done === false ? { message: `${id} is not installed`, isNews: true } : sent(`removed ${id}`);
      },
    }),
  ];
}

/** The app that a caller named, else the app in use. Throws INVALID_PARAMS where there is none. */
export const appInUse = (
  { context }: Pick<AppiumSession, "context">,
  app: { package?: string | undefined },
) => appIdOf({ package: app.package ?? context.app()?.package });

/** The package or bundle id of an app. Throws INVALID_PARAMS where it has none, or one that cannot be. */
export function appIdOf({ package: id }: App): string {
  if (id !== undefined && appName.test(id)) return id;
  throw new DeviceError(
    "INVALID_PARAMS",
    id === undefined
      ? "A phone opens apps by package or bundle id. Give the app a package, such as com.apple.Preferences."
      : `${JSON.stringify(id)} is not a package or bundle id. Give one such as com.apple.Preferences.`,
  );
}

/** As the drivers of both systems want an app named. */
export const naming = ({ device }: Pick<AppiumSession, "device">, id: string) =>
  device.facts().platform === "android" ? { appId: id } : { bundleId: id };

async function openApp(
  session: AppiumSession,
  app: App,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CommandResult> {
  const { device } = session;
  const id = appIdOf(app);
  const isOfAndroid = device.facts().platform === "android";
  const open = () =>
    isOfAndroid && app.activity !== undefined
      ? device.mobile("startActivity", { intent: component(id, app.activity), wait: true }, signal, {
          timeoutMs,
        })
      : device.mobile("activateApp", naming(session, id), signal, { timeoutMs });
  try {
    await input(session, open);
    return sent(`opened ${id}`);
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "DEVICE_ERROR") throw error;
    if ((await device.mobile("isAppInstalled", naming(session, id), signal)) !== false) throw error;
    throw new DeviceError(
      "APP_NOT_INSTALLED",
      `${id} is not installed on the device. Install it, or correct the package.`,
    );
  }
}

function component(id: string, activity: string): string {
  if (activityName.test(activity)) return `${id}/${activity}`;
  throw new DeviceError(
    "INVALID_PARAMS",
    `${JSON.stringify(activity)} is not an activity name. Give one such as .MainActivity.`,
  );
}
