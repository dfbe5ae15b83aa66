import type { CDPSession, Frame, Page, Request } from "playwright-core";
import { agentSource } from "./inpage.ts";
import { isMainDocument, type Requests, watchRequests } from "./requests.ts";

/** Navigations, windows and requests of a tab since it was opened. */
export type PageSignals = {
  /** How many documents and in-page addresses the main frame has had. */
  navigations(): number;
  /** The same for all frames, plus frames that went away. */
  commits(): number;
  /** How many windows the tab has asked for (always 0 outside Chromium). */
  windowsAsked(): number;
  /** True from the request for a new main document until its DOM is ready or the navigation has failed. */
  isNavigating(): boolean;
  /** Address of the main document that is loading. */
  navigatingTo(): string | undefined;
  /** Address of the last request for a main document, if it failed. */
  failedNavigation(): string | undefined;
  hasCrashed(): boolean;
  /** Resolves when {@link isNavigating} has become false. */
  settled(): Promise<void>;
  /** {@link markReady} was called for the current document. */
  isReady(): boolean;
  /** Notes that the DOM of the current document is complete. */
  markReady(): void;
  /** Ends when the tab's queued tasks have run and been reported here; true if the tab has asked to be closed. */
  flush(signal: AbortSignal): Promise<boolean>;
  readonly requests: Requests;
  /** Stops loading; never fails. */
  stop(): Promise<void>;
  /** The tab's own DevTools session; undefined outside Chromium. */
  cdp(): Promise<CDPSession | undefined>;
};

/** Resolves in a task after the queued ones. Not a timer, since pages replace timers. */
const nextTask =
  "() => new Promise((done) => { const { port1, port2 } = new MessageChannel();" +
  " port1.onmessage = () => { port1.close(); done(0); }; port2.postMessage(0); })";

const timersDue = "globalThis.__labwrightRest?.untilTimersDue()";

const STOP_MS = 1_000;

const sessions = new WeakMap<Page, CDPSession>();

/** Playwright's name of its isolated world. */
const apartWorld = /^__playwright_utility_world_/;
const worldsApart = new WeakMap<Page, () => number | undefined>();

/**
 * Returns a function that evaluates in Playwright's isolated world and awaits a promise. Undefined for child frames, outside
 * Chromium, and while the document is not known yet.
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

/** Tracks the isolated world of the main frame's document, and puts our agent into it in new documents. */
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
      // Ends in a boolean, whatever the page has made of its promises.
      const expression = `(async () => { await ${timersDue}; await (${nextTask})(); return window.closed === true; })()`;
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
  let crashed = false;
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
  // A document may change its address before its DOM is ready.
  page.on("load", () => {
    if (navigations > navigationsBefore) settle();
  });
  // "No content" and a download end a navigation with a failed request.
  page.on("requestfailed", (request) => {
    if (request !== pending) return;
    failed = request.url();
    settle();
  });
  page.on("download", settle);
  page.on("crash", () => {
    crashed = true;
    settle();
  });
  page.on("close", settle);
  return {
    settle,
    navigations: () => navigations,
    isNavigating: () => pending !== undefined,
    navigatingTo: () => pending?.url(),
    failedNavigation: () => failed,
    hasCrashed: () => crashed,
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
