import { DeviceError } from "../../errors.ts";
import { findProgram, isProgram } from "../../programs/run.ts";
import { notDebuggable, type PagePort, pageProblem } from "../../webviews/webPages.ts";
import type { DriverSession } from "../driver/session.ts";

/** The file of chromedriver that the setting names; undefined where there is none. */
export const chromedriverAt = (setting: string): string | undefined =>
  setting.includes("/") ? (isProgram(setting) ? setting : undefined) : findProgram(setting);

/** The pages of WebViews through the chromedriver of the UiAutomator2 driver. */
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
      if ("looks" in answer) return answer.looks;
      throw "contexts" in answer ? notDebuggable(context, answer.contexts) : pageProblem(answer.problem);
    },
  };
}

const noProgram = (name: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `There is no program ${name}. Install chromedriver, or correct controllers.android.chromedriver.`,
    { program: name },
  );
