import { randomBytes } from "node:crypto";
import type { BrowserContext } from "playwright-core";
import type { EngineBody } from "./agent/engine.ts";
import { expression as agentModule } from "./agent/engine.ts?script";
import type { HookNames } from "./agent/tree/hooks.ts";
import { expression as hooksModule } from "./agent/tree/hooks.ts?script";
import { playwright } from "./playwright.ts";

/** Names that no page can know, so none hears them. */
const secret = randomBytes(8).toString("hex");
const names: HookNames = {
  ask: `labwright-ask-${secret}`,
  listens: `labwright-listens-${secret}`,
  doubled: `labwright-doubled-${secret}`,
  closed: `labwright-closed-${secret}`,
};
const named = JSON.stringify(names);

/** Expression whose value is the agent of the document; it is made when there is none. */
export const agentSource = `${agentModule}.agentOf(${named})`;

const hooksSource = `${hooksModule}.installHooks(${named})`;

let registered: Promise<void> | undefined;

/**
 * Makes `labwright=` known to Playwright. To be awaited before a browser is opened: a context that begins while an engine
 * is being registered never gets it.
 */
export async function registerEngine(): Promise<void> {
  const engine = `${agentModule}.createEngine(${named})`;
  registered ??= playwright().selectors.register("labwright", engine, { contentScript: true });
  await registered;
}

/**
 * Has every new document of the context note its listeners. To be called on a new context before its first page: of a page
 * that exists, such as a tab found over CDP, the listeners until now stay unknown.
 */
export async function installInpage(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: hooksSource });
  const frames = context.pages().flatMap((page) => page.frames());
  await Promise.all(frames.map((frame) => frame.evaluate(hooksSource).catch(() => undefined)));
}

/** Selector for Playwright that our engine understands. */
export function engineSelector(body: EngineBody): string {
  // Playwright reads quotes in a selector's body; `encodeURIComponent` leaves this one as it is.
  return `labwright=${encodeURIComponent(JSON.stringify(body)).replaceAll("'", "%27")}`;
}
