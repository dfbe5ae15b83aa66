import type { CDPSession, Frame, Page, Request } from "playwright-core";
import { agentSource } from "./inpage.ts";
import { isMainDocument, type Requests, watchRequests } from "./requests.ts";

/** What a tab did by itself since it was opened. */
export type PageSignals = {
  /** Documents and in-page addresses that the main frame has had so far. */
  navigations(): number;
  /** The same for the main frame and all others, frames that went away included. */
  commits(): number;
  /** Windows the tab asked for so far (Chromium only; elsewhere new tabs are noticed when they are there). */
  windowsAsked(): number;
  /** True from the request for a new main document until its DOM is ready or the navigation has failed. */
  isNavigating(): boolean;
  /** Address of the main document that is on its way. */
  navigatingTo(): string | undefined;
  /** Address of the last request for a main document, if it failed. */
  failedNavigation(): string | undefined;
  /** Resolves when {@link isNavigating} has become false. */
  settled(): Promise<void>;
  /** True when {@link markReady} was called for the document that is there now. */
  isReady(): boolean;
  /** Notes that the DOM of the document that is there now is complete. */
  markReady(): void;
  /** Ends when all that the tab's scripts had queued has been reported here; true when the tab has asked to be closed. */
  flush(signal: AbortSignal): Promise<boolean>;
  readonly requests: Requests;
  /** Stops loading; never fails. */
  stop(): Promise<void>;
  /** The tab's own DevTools session; undefined outside Chromium. */
  cdp(): Promise<CDPSession | undefined>;
};

/** A task after the queued ones: what a handler has just begun is known by then. Not a timer, since pages replace timers. */
const nextTask =
  "() => new Promise((done) => { const { port1, port2 } = new MessageChannel();" +
  " port1.onmessage = () => { port1.close(); done(0); }; port2.postMessage(0); })";

const timersDue = "globalThis.__labwrightRest?.untilTimersDue()";

const STOP_MS = 1_000;

const sessions = new WeakMap<Page, CDPSession>();

/** How Playwright names the world that it keeps apart from the page's own. */
const apartWorld = /^__playwright_utility_world_/;
const worldsApart = new WeakMap<Page, () => number | undefined>();

/**
 * Evaluates in the world that Playwright keeps apart from the page's scripts, and waits for a promise. Undefined for a frame
 * other than the page's own, outside Chromium, and while the document is not known yet.
 */
export function evaluateApart(frame: Frame): ((expression: string) => Promise<unknown>) | undefined {
  const page = frame.page();
  const cdp = frame === page.mainFrame() ? sessions.get(page) : undefined;
  const contextId = worldsApart.get(page)?.();
  if (!cdp || contextId === undefined) return undefined;
  return async (expression) => {
    const options = { expression, contextId, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await cdp.send("Runtime.evaluate", options);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
}

/** The isolated world of the tab's own frame, while its document lives. New documents have our agent in it from the start. */
async function watchWorlds(cdp: CDPSession): Promise<() => number | undefined> {
  const { frameTree } = await cdp.send("Page.getFrameTree");
  let mainFrame = frameTree.frame.id;
  const worlds = new Map<number, string>();
  cdp.on("Page.frameNavigated", ({ frame }) => {
    if (!frame.parentId) mainFrame = frame.id;
  });
  let isReady = false;
  cdp.on("Runtime.executionContextCreated", ({ context: { id, name, auxData } }) => {
    if (!apartWorld.test(name)) return;
    worlds.set(id, String(auxData?.["frameId"]));
    const script = { source: agentSource, worldName: name };
    if (!isReady) cdp.send("Page.addScriptToEvaluateOnNewDocument", script).catch(() => undefined);
    isReady = true;
  });
  cdp.on("Runtime.executionContextDestroyed", ({ executionContextId }) => worlds.delete(executionContextId));
  cdp.on("Runtime.executionContextsCleared", () => worlds.clear());
  await cdp.send("Runtime.enable");
  return () => [...worlds].findLast(([, frame]) => frame === mainFrame)?.[0];
}

/** The tab's DevTools session, once it is open. */
export const devToolsOf = (page: Page): CDPSession | undefined => sessions.get(page);

export function watchPage(page: Page, chromium: boolean): PageSignals {
  const { settle, ...mainDocument } = watchMainDocument(page);
  let windows = 0;
  const opening = chromium ? openCdp(page, () => windows++) : Promise.resolve(undefined);
  return {
    ...mainDocument,
    commits: countCommits(page),
    windowsAsked: () => windows,
    requests: watchRequests(page),
    cdp: () => opening,
    async flush(signal) {
      const cdp = await opening;
      const expression = `Promise.resolve(${timersDue}).then(${nextTask}).then(() => window.closed)`;
      if (cdp === undefined) return page.evaluate(expression);
      const asked = { expression, awaitPromise: true, returnByValue: true };
      return (await cdp.send("Runtime.evaluate", asked, { signal })).result.value === true;
    },
    async stop() {
      const cdp = await opening;
      const signal = AbortSignal.timeout(STOP_MS);
      await cdp?.send("Page.stopLoading", undefined, { signal }).catch(() => undefined);
      settle();
    },
  };
}

function watchMainDocument(page: Page) {
  let navigations = 0;
  let pending: Request | undefined;
  let navigationsBefore = 0;
  let readyAt = -1;
  let failed: string | undefined;
  let waiting: (() => void)[] = [];

  function settle(): void {
    pending = undefined;
    for (const resolve of waiting) resolve();
    waiting = [];
  }
  page.on("request", (request) => {
    if (!isMainDocument(page, request)) return;
    pending = request;
    failed = undefined;
    navigationsBefore = navigations;
  });
  page.on("framenavigated", (frame) => {
    if (frame === page.mainFrame()) navigations++;
  });
  page.on("domcontentloaded", () => {
    if (pending !== undefined && sameDocument(page.url(), pending.url())) settle();
  });
  // A document may rename itself before its DOM is ready; it has arrived all the same when it has loaded.
  page.on("load", () => {
    if (navigations > navigationsBefore) settle();
  });
  // No content and a download end a navigation as a failed request.
  page.on("requestfailed", (request) => {
    if (request !== pending) return;
    failed = request.url();
    settle();
  });
  page.on("download", settle);
  page.on("crash", settle);
  page.on("close", settle);
  return {
    settle,
    navigations: () => navigations,
    isNavigating: () => pending !== undefined,
    navigatingTo: () => pending?.url(),
    failedNavigation: () => failed,
    settled: () =>
      pending === undefined ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)),
    isReady: () => pending === undefined && readyAt === navigations,
    markReady() {
      readyAt = navigations;
    },
  };
}

function countCommits(page: Page): () => number {
  let commits = 0;
  page.on("framenavigated", () => commits++);
  page.on("framedetached", () => commits++);
  return () => commits;
}

async function openCdp(page: Page, windowAsked: () => void): Promise<CDPSession | undefined> {
  try {
    const cdp = await page.context().newCDPSession(page);
    cdp.on("Page.windowOpen", windowAsked);
    await cdp.send("Page.enable");
    worldsApart.set(page, await watchWorlds(cdp));
    sessions.set(page, cdp);
    return cdp;
  } catch {
    // The tab closed while it opened.
    return undefined;
  }
}

function sameDocument(a: string, b: string): boolean {
  return a.split("#", 1)[0] === b.split("#", 1)[0];
}
