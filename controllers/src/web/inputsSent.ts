import type { CDPSession } from "playwright-core";
import type { Moment } from "../ports.ts";

const world = "labwright";
const binding = "labwrightInput";
const heard = ["pointermove", "pointerup", "touchend", "wheel", "keydown", "keyup", "input"];

/**
 * Runs in a world that the page does not see, before the page's own handlers. An event's timeStamp is when the browser took the
 * input: a page that is busy hears of it later, and its handlers may take long.
 */
const source = `for (const type of ${JSON.stringify(heard)}) addEventListener(type, (event) => {
  if (event.isTrusted) ${binding}(String(performance.now() - event.timeStamp));
}, { capture: true, passive: true });`;

/** Tells of each input event that comes to the tab, with the moment when the browser took it: late by what the message takes. */
export async function listenToInputs(cdp: CDPSession, sent: (at: Moment) => void): Promise<void> {
  cdp.on("Runtime.bindingCalled", ({ name, payload }) => {
    if (name === binding) sent(performance.now() - Number(payload));
  });
  await Promise.all([
    // Without it the binding is not there in the documents that come.
    cdp.send("Runtime.enable"),
    cdp.send("Runtime.addBinding", { name: binding, executionContextName: world }),
    cdp.send("Page.addScriptToEvaluateOnNewDocument", { source, worldName: world, runImmediately: true }),
  ]);
}
