import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { type AppPort, idInUse, isWeb, namedApp, packageShape } from "../../phones/apps.ts";
import { sent } from "../../screens/input.ts";
import type { AppiumFacts } from "../facts.ts";
import type { AppiumSession } from "../session.ts";

const installMs = 300_000;
/** Clearing the data of a large app takes longer than other calls. */
const clearMs = 60_000;
const onlyAndroid = "iOS lets no driver do this on a device. Uninstall and install the app.";

export const appIdOf: AppPort["idOf"] = namedApp({
  pattern: /^[A-Za-z][\w.-]{0,199}$/,
  none: "A phone opens apps by package or bundle id. Give the app a package, such as com.apple.Preferences.",
  wrong: "is not a package or bundle id. Give one such as com.apple.Preferences.",
});

export const naming = ({ device }: Pick<AppiumSession, "device">, id: string) =>
  device.facts().platform === "android" ? { appId: id } : { bundleId: id };

/** `schemes` are the schemes of links that the configuration allows besides those of the web. */
export function createAppPort(session: AppiumSession, schemes: readonly string[]): AppPort {
  const { context, device } = session;
  const ask = (name: string, given: object, signal: AbortSignal, timeoutMs?: number) =>
    session.reader.send(() =>
      device.mobile(name, given, signal, timeoutMs === undefined ? {} : { timeoutMs }),
    );
  return {
    idOf: appIdOf,
    links: "http, https, or a scheme of the app that is allowed.",
    async open(id, activity, timeoutMs, signal) {
      const isByActivity = device.facts().platform === "android" && activity !== undefined;
      try {
        await (isByActivity
          ? ask("startActivity", { intent: activity, wait: true }, signal, timeoutMs)
          : ask("activateApp", naming(session, id), signal, timeoutMs));
        return sent(`opened ${id}`);
      } catch (error) {
        if (!(error instanceof DeviceError) || error.code !== "DEVICE_ERROR") throw error;
        if ((await device.mobile("isAppInstalled", naming(session, id), signal)) !== false) throw error;
        throw new DeviceError(
          "APP_NOT_INSTALLED",
          `${id} is not installed on the device. Install it, or correct the package.`,
        );
      }
    },
    close: async (id, signal) => (await ask("terminateApp", naming(session, id), signal)) !== false,
    clear: async (appId, signal) => void (await ask("clearApp", { appId }, signal, clearMs)),
    change: async (action, permissions, appPackage, signal) =>
      void (await ask("changePermissions", { permissions, appPackage, action }, signal)),
    async receiver(scheme, given) {
      const own = context.app()?.deep_link?.toLowerCase();
      const isAllowed = isWeb(scheme) || own?.startsWith(`${scheme}:`) || schemes.includes(scheme);
      const id = given ?? context.app()?.package;
      if (isAllowed) return id && appIdOf({ package: id });
      throw new DeviceError(
        "URL_DENIED",
        `Links of the scheme ${scheme} are not allowed here. Give the app of the userinterface a deep_link of this scheme, or name it in controllers.appium.link_schemes.`,
      );
    },
    async openLink(url, id, timeoutMs, signal) {
      const name = device.facts().platform === "android" ? "package" : "bundleId";
      await ask("deepLink", { url, ...(id !== undefined && { [name]: id }) }, signal, timeoutMs);
      return undefined;
    },
  };
}

export const withheldAppState = ({ platform }: AppiumFacts): Withheld[] =>
  platform === "android"
    ? []
    : ["clear_app", "grant_permission", "revoke_permission"].map((name) => ({ name, reason: onlyAndroid }));

const onlyApp = z.strictObject(packageShape);
const installInput = z.strictObject({
  app: z
    .string()
    .min(1)
    .max(2_000)
    .describe("An http address, a path on the Appium server, or a cloud's name."),
});

export const installCommands = (session: AppiumSession): Command[] => [
  defineCommand<typeof installInput>({
    name: "install_app",
    description: "Installs an app, or another version of it.",
    effect: "write",
    input: installInput,
    async run({ app }, signal) {
      // Any other scheme is a cloud's name of an app, such as bs://0123.
      if (/^https?:/i.test(app)) session.context.allowUrl(app);
      const isOfAndroid = session.device.facts().platform === "android";
      const given = isOfAndroid ? { appPath: app } : { app };
      await session.reader.send(() =>
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
      const id = idInUse(session.context, { idOf: appIdOf }, app);
      const done = await session.reader.send(() =>
        session.device.mobile("removeApp", naming(session, id), signal),
      );
      return done === false ? { message: `${id} is not installed`, isNews: true } : sent(`removed ${id}`);
    },
  }),
];
