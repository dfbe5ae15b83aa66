import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launchBrowser, openSeeing, type SeeingPage } from "./seeingPage.ts";

export { launchBrowser, openSeeing, type SeeingPage } from "./seeingPage.ts";

/** A browser for the tests of a file; `ready` gets it and its page before the first. */
export function openForTests(ready: (see: SeeingPage, browser: Browser) => void): void {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
    ready(await openSeeing(browser), browser);
  });
  afterAll(async () => {
    await browser.close();
  });
}
