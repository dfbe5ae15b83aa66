import { z } from "zod";
import type { Withheld } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { findMismatch, nativeContext, notDebuggable, type PagePort } from "../../webviews/webPages.ts";
import type { AppiumDevice } from "../device.ts";
import type { AppiumFacts } from "../facts.ts";
import { answerAs } from "../failures.ts";

/** The server starts its chromedriver, or downloads one. */
const startMs = 60_000;
const backMs = 10_000;
const mostPages = 8;
const names = z.array(z.string().max(1_000)).max(1_000);

/** The pages of WebViews by the contexts of the server, which brings its own chromedriver. */
export function createPagePort(device: Pick<AppiumDevice, "call" | "alone" | "giveUp">): PagePort {
  const contexts = async (signal: AbortSignal) =>
    answerAs(names, "getAppiumContexts", await device.call("getAppiumContexts", [], signal));
  return {
    contexts,
    async read(context, script, signal) {
      try {
        return await device.alone(async (call) => {
          try {
            return await readIn(call, { context, script }, signal);
          } finally {
            await backToScreen(device, call);
          }
        });
      } catch (error) {
        if (!(error instanceof DeviceError) || error.code !== "DEVICE_ERROR") throw error;
        if (/No such context/i.test(error.message)) throw notDebuggable(context, await contexts(signal));
        throw findMismatch(error.message) ?? error;
      }
    },
  };
}

/** Returns to the native context: taps would not work in the page's. */
async function backToScreen(device: Pick<AppiumDevice, "giveUp">, call: AppiumDevice["call"]): Promise<void> {
  try {
    await call("switchAppiumContext", [nativeContext], AbortSignal.timeout(backMs));
  } catch (error) {
    device.giveUp("its session stayed in the page of a WebView");
    throw error;
  }
}

async function readIn(
  call: AppiumDevice["call"],
  { context, script }: { context: string; script: string },
  signal: AbortSignal,
): Promise<unknown[]> {
  await call("switchAppiumContext", [context], signal, { timeoutMs: startMs });
  const handles = answerAs(names, "getWindowHandles", await call("getWindowHandles", [], signal));
  const results: unknown[] = [];
  for (const handle of handles.slice(0, mostPages)) {
    if (handles.length > 1) await call("switchToWindow", [handle], signal);
    results.push(await call("executeScript", [script, []], signal));
  }
  return results;
}

/** iOS names its contexts by numbers, which say nothing of the app, and has its own ways to debug a page. */
export const withheldPages = ({ platform }: AppiumFacts): Withheld[] =>
  platform === "android"
    ? []
    : [
        {
          name: "switch_context",
          reason: "Pages in WebViews are read on Android only. They are read through accessibility.",
        },
      ];
