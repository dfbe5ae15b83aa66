import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { BlankPage } from "#controllers/web/browser/blankPage.ts";
import { ElementsMemory, type WebSession } from "#controllers/web/browser/session.ts";
import { webChecks } from "#controllers/web/checks/checks.ts";
import { findBrowser } from "#controllers/web/index.ts";
import { registerEngine } from "#controllers/web/page/inpage.ts";
import { createLook } from "#controllers/web/ports/look.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";

/** A browser with one page and the seeing half of the web controller on it, without the rest of the controller. */
export type SeeingPage = {
  page: Page;
  session: WebSession;
  look: ReturnType<typeof createLook>;
  checks: ReturnType<typeof webChecks>;
  dialogs: string[];
  close(): Promise<void>;
};

export async function launchBrowser(...args: string[]): Promise<Browser> {
  await registerEngine();
  const path = findBrowser({ headless: true })?.path;
  return chromium.launch({
    ...(path !== undefined && { executablePath: path }),
    args: ["--no-sandbox", "--disable-background-networking", ...args],
  });
}

export async function openSeeing(browser: Browser): Promise<SeeingPage> {
  const prepares: ((context: BrowserContext) => Promise<void>)[] = [];
  const browserContext = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const dialogs: SeeingPage["dialogs"] = [];
  let current: Page | undefined;
  const session: WebSession = {
    context: controllerContext("test/browser"),
    page: () => current ?? unopened(),
    pages: () => browserContext.pages(),
    dialogs: { history: dialogs, arm: () => undefined },
    downloads: { history: [] },
    memory: new ElementsMemory(),
    browserContext: () => browserContext,
    onNewContext: (prepare) => prepares.push(prepare),
    notify: () => undefined,
    strangeness: () => undefined,
    doubt: () => undefined,
    isAlive: () => browser.isConnected(),
    blank: new BlankPage(() => browser),
  };
  const look = createLook(session);
  for (const prepare of prepares) await prepare(browserContext);
  const page = await browserContext.newPage();
  current = page;
  return { page, session, look, checks: webChecks(session), dialogs, close: () => browserContext.close() };
}

function unopened(): never {
  throw new Error("The page is not open yet");
}
