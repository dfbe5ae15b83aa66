import { DeviceError } from "../../errors.ts";
import { findProgram, isProgram } from "../../programs/run.ts";
import { findMismatch, notDebuggable, type PagePort } from "../../webviews/webPages.ts";
import type { DriverSession } from "../driver/session.ts";

/** The file of chromedriver that the setting names; undefined where there is none. */
export function chromedriverAt(setting: string, env?: NodeJS.ProcessEnv): string | undefined {
  if (!setting.includes("/")) return findProgram(setting, env);
  return isProgram(setting) ? setting : undefined;
}

export function createPagePort(
  session: (signal: AbortSignal) => Promise<DriverSession>,
  chromedriver: string,
): PagePort {
  return {
    async contexts(signal) {
      return (await session(signal)).contexts({ signal });
    },
    async read(context, script, signal) {
      if (chromedriverAt(chromedriver) === undefined) throw noProgram(chromedriver);
      const answer = await (await session(signal)).pages(context, script, { signal });
      if ("snapshots" in answer) return answer.snapshots;
      if ("contexts" in answer) throw notDebuggable(context, answer.contexts);
      throw findMismatch(answer.problem) ?? unread(answer.problem);
    },
  };
}

function unread(said: string): DeviceError {
  const words = said.replace(/\s+/g, " ").slice(0, 300);
  return new DeviceError("DEVICE_ERROR", `Its page could not be read: ${words}. Look again.`);
}

const noProgram = (name: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `There is no program ${name}. Install chromedriver, or correct controllers.android.chromedriver.`,
    { program: name },
  );
