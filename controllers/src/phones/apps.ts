import { z } from "zod";
import { type Command, type CommandResult, type ControllerContext, defineCommand } from "../contract.ts";
import { waitMs } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { type App, portable } from "../portable.ts";
import { sent } from "../screens/input.ts";

/** How a driver handles apps. Each `id` was returned by {@link idOf}. */
export type AppPort = {
  /** The package or bundle id of an app. Throws INVALID_PARAMS where it has none, or one that cannot be. */
  idOf(app: Pick<App, "package">): string;
  /** `activity` as {@link activityOf} gives it. */
  open(
    id: string,
    activity: string | undefined,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<CommandResult>;
  /** False where it was not open. */
  close(id: string, signal: AbortSignal): Promise<boolean>;
  clear(id: string, signal: AbortSignal): Promise<void>;
  /** `permission` by its full name. */
  change(how: "grant" | "revoke", permission: string, id: string, signal: AbortSignal): Promise<void>;
  /** What `url` of `open_deep_link` may be. */
  links: string;
  /**
   * The app that gets a link of this scheme, where `given` is the one that the caller named; undefined where the system chooses.
   * Throws URL_DENIED for a scheme of an app that may not be opened, INVALID_PARAMS.
   */
  receiver(scheme: string, given: string | undefined, signal: AbortSignal): Promise<string | undefined>;
  /** Returns the app or activity that it opened, where the device says it. */
  openLink(
    url: string,
    id: string | undefined,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<string | undefined>;
};

export const packageShape = {
  package: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Package or bundle id of the app; the app in use if left out."),
};
export const permissionSchema = z
  .string()
  .regex(/^[A-Za-z][\w.]{0,199}$/, "a permission such as android.permission.CAMERA, or CAMERA")
  .describe("android.permission.CAMERA, or CAMERA for short.");

/** Android's own permissions may be given by their last word. */
export const fullPermission = (name: string): string =>
  name.includes(".") ? name : `android.permission.${name}`;

export const isWeb = (scheme: string): boolean => scheme === "http" || scheme === "https";

/** {@link AppPort.idOf} for names of this pattern, so that none is taken for an option. */
export const namedApp =
  ({ pattern, none, wrong }: { pattern: RegExp; none: string; wrong: string }): AppPort["idOf"] =>
  ({ package: id }) => {
    if (id !== undefined && pattern.test(id)) return id;
    throw new DeviceError("INVALID_PARAMS", id === undefined ? none : `${JSON.stringify(id)} ${wrong}`);
  };

/** The app that a caller named, else the app in use. Throws what {@link AppPort.idOf} throws. */
export const idInUse = (
  context: Pick<ControllerContext, "app">,
  apps: Pick<AppPort, "idOf">,
  app: Pick<App, "package">,
): string => apps.idOf({ package: app.package ?? context.app()?.package });

const activityName = /^[.A-Za-z][\w.$]{0,199}$/;

/** `com.example/.Main`. Throws INVALID_PARAMS. */
function activityOf(id: string, activity: string): string {
  if (activityName.test(activity)) return `${id}/${activity}`;
  throw new DeviceError(
    "INVALID_PARAMS",
    `${JSON.stringify(activity)} is not an activity name. Give one such as .MainActivity.`,
  );
}

export const appCommands = (context: ControllerContext, apps: AppPort): Command[] => [
  defineCommand({
    ...portable.open_app,
    async run({ app, timeout_ms }, signal) {
      const id = apps.idOf(app);
      const activity = app.activity === undefined ? undefined : activityOf(id, app.activity);
      return apps.open(id, activity, timeout_ms, signal);
    },
  }),
  defineCommand({
    ...portable.close_app,
    async run({ app }, signal) {
      const id = apps.idOf(app);
      const wasOpen = await apps.close(id, signal);
      return wasOpen ? sent(`closed ${id}`) : { message: `${id} was not open`, isNews: true };
    },
  }),
  clearApp(context, apps),
  changePermission(context, apps, "grant", "Gives an app a permission that it asks for at run time."),
  changePermission(
    context,
    apps,
    "revoke",
    "Takes a permission from an app. Android ends the app if it runs.",
  ),
  openDeepLink(context, apps),
];

function clearApp(context: ControllerContext, apps: AppPort): Command {
  const input = z.strictObject(packageShape);
  return defineCommand<typeof input>({
    name: "clear_app",
    description: "Closes an app and deletes its data, as if it had just been installed.",
    effect: "write",
    input,
    async run(app, signal) {
      const id = idInUse(context, apps, app);
      await apps.clear(id, signal);
      return sent(`cleared the data of ${id}`);
    },
  });
}

function changePermission(
  context: ControllerContext,
  apps: AppPort,
  how: "grant" | "revoke",
  description: string,
): Command {
  const input = z.strictObject({ permission: permissionSchema, ...packageShape });
  return defineCommand<typeof input>({
    name: `${how}_permission`,
    description,
    effect: "write",
    input,
    async run({ permission, ...app }, signal) {
      const name = fullPermission(permission);
      await apps.change(how, name, idInUse(context, apps, app), signal);
      return sent(`${how === "grant" ? "granted" : "revoked"} ${name}`);
    },
  });
}

function openDeepLink(context: ControllerContext, apps: AppPort): Command {
  const input = z.strictObject({
    url: z.string().min(1).max(2_000).describe(apps.links),
    ...packageShape,
    timeout_ms: waitMs.default(30_000),
  });
  return defineCommand<typeof input>({
    name: "open_deep_link",
    description: "Opens a link in an app.",
    effect: "write",
    input,
    async run({ url, timeout_ms, ...app }, signal) {
      const scheme = schemeOf(url);
      if (isWeb(scheme)) context.allowUrl(url);
      const receiver = await apps.receiver(scheme, app.package && apps.idOf(app), signal);
      const opened = await apps.openLink(url, receiver, timeout_ms, signal);
      return sent(`opened the link${opened === undefined ? "" : ` in ${opened}`}`);
    },
  });
}

/** Links that call, write messages, read files, install or run code, whatever an app declares. */
const forbidden: ReadonlySet<string> = new Set([
  ...["tel", "telprompt", "voicemail", "ussd", "sip", "sms", "smsto", "mms", "mmsto"],
  ...["facetime", "facetime-audio", "itms-services", "shortcuts"],
  ...["content", "file", "intent", "android-app", "javascript", "data"],
]);

/** The scheme of a link. Throws INVALID_PARAMS for a text that is not a link, URL_DENIED for a scheme that is never opened. */
function schemeOf(url: string): string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):[^\s\p{Cc}]+$/u.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined)
    throw new DeviceError(
      "INVALID_PARAMS",
      "This is not a link. Give one with its scheme and without blanks, such as https://example.com/a.",
    );
  if (!forbidden.has(scheme)) return scheme;
  throw new DeviceError(
    "URL_DENIED",
    `Links of the scheme ${scheme} are never opened. Give one of http, https, or the app's own scheme.`,
  );
}
