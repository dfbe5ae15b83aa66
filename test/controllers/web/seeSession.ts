import type { Reading } from "@labwright/controllers";
import type { Browser } from "playwright-core";
import { shared } from "../../fixtures/shared.ts";
import { launchBrowser, openSeeing, type SeeingPage } from "./seeingPage.ts";

export { launchBrowser, openSeeing, type SeeingPage } from "./seeingPage.ts";

export const signal: AbortSignal = new AbortController().signal;

/** A page for the tests of a file, there once they run. */
export type TestPage = Omit<SeeingPage, "close"> & {
  readonly browser: Browser;
  /** What a check reads. */
  read(check: string, input: object): Promise<Reading>;
};

/** Opens a browser with a page for the tests of a file. */
export const openForTests = (...args: string[]): TestPage =>
  shared(async () => {
    const browser = await launchBrowser(...args);
    const see = await openSeeing(browser);
    return {
      ...see,
      browser,
      async read(name: string, input: object) {
        const check = see.checks.find((one) => one.name === name);
        if (!check) throw new Error(`no check ${name}`);
        return check.read(check.input.parse(input), signal);
      },
      close: () => browser.close(),
    };
  });
