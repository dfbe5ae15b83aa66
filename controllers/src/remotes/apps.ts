import {
  type AppSource,
  type Command,
  type CommandResult,
  defineCommand,
  type InstalledApp,
} from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import type { Moment } from "../ports.ts";
import { poll } from "../waiting/deadlines.ts";
import type { Use } from "./remote.ts";

/** The apps of a TV. `id` is what the TV starts an app by. */
export type Apps = {
  open(id: string, signal: AbortSignal): Promise<Moment>;
  /** The id of the app that is shown. */
  front(signal: AbortSignal): Promise<string | undefined>;
  close(id: string, signal: AbortSignal): Promise<CommandResult>;
  list(signal: AbortSignal): Promise<readonly InstalledApp[]>;
};

const lookEveryMs = 200;

/** Throws INVALID_PARAMS with `hint`, a sentence that says what an id looks like. */
export function appId({ package: id }: { package?: string | undefined }, hint: string): string {
  if (id !== undefined && /^[\w.-]{1,200}$/.test(id)) return id;
  throw new DeviceError("INVALID_PARAMS", `${hint} Give it as app.package.`);
}

/** `open_app`, which waits until the app is in front, and `close_app`. */
export const appCommands = (use: Use<{ apps: Apps }>, hint: string): Command[] => [
  defineCommand({
    ...portable.open_app,
    async run({ app, timeout_ms }, signal) {
      const id = appId(app, hint);
      const sentAt = await sendInput(() => use(({ apps }) => apps.open(id, signal)));
      const isShown = () => use(async ({ apps }) => (await apps.front(signal)) === id);
      if (await poll(isShown, { everyMs: lookEveryMs, ms: timeout_ms, signal }))
        return { message: `opened the app ${id}`, sentAt };
      throw new DeviceError(
        "COMMAND_TIMEOUT",
        `The app ${id} was not in front within ${timeout_ms} ms. Look at the screen, or raise timeout_ms.`,
      );
    },
  }),
  defineCommand({
    ...portable.close_app,
    run: ({ app }, signal) => use(({ apps }) => apps.close(appId(app, hint), signal)),
  }),
];

export const appSource = (use: Use<{ apps: Apps }>): AppSource => ({
  installedApps: async (signal) => ({ apps: await use(({ apps }) => apps.list(signal)) }),
});
