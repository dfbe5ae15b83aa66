import { randomBytes } from "node:crypto";
import type { BrowserContext } from "playwright-core";
import type { EngineBody } from "./agent/engine.ts";
import { expression as agentModule } from "./agent/engine.ts?script";
import type { HookNames } from "./agent/tree/hooks.ts";
import { expression as hooksModule } from "./agent/tree/hooks.ts?script";
import { playwright } from "./playwright.ts";

/** A page cannot guess these names, so it cannot listen to the events. */
const secret = randomBytes(8).toString("hex");
const names: HookNames = {
  ask: `labwright-ask-${secret}`,
  listens: `labwright-listens-${secret}`,
  doubled: `labwright-doubled-${secret}`,
  closed: `labwright-closed-${secret}`,
};
const named = JSON.stringify(names);

/** An expression whose value is the document's agent, which it creates if needed. */
export const agentSource = `${agentModule}.agentOf(${named})`;

const hooksSource = `${hooksModule}.installHooks(${named})`;

let registered: Promise<void> | undefined;

/**
 * Registers the selector engine `labwright=` with Playwright. Await it before opening a browser: a context that is created during
 * the registration never gets the engine.
 */
export async function registerEngine(): Promise<void> {
  const engine = `${agentModule}.createEngine(${named})`;
  registered ??= playwright().selectors.register("labwright", engine, { contentScript: true });
  await registered;
}

/**
 * Installs the hooks that note listeners in every document of the context. To be called before its first page: earlier listeners
 * of a page, such as a tab found over CDP, stay unknown.
 */
export async function installInpage(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: hooksSource });
  const frames = context.pages().flatMap((page) => page.frames());
  await Promise.all(frames.map((frame) => frame.evaluate(hooksSource).catch(() => undefined)));
}

export function engineSelector(body: EngineBody): string {
  // Playwright interprets quotes in a selector, and `encodeURIComponent` does not escape this one.
  return `labwright=${encodeURIComponent(JSON.stringify(body)).replaceAll("'", "%27")}`;
}
