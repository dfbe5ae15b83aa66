import type { Reading } from "@labwright/controllers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
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
export function openForTests(): TestPage {
  let opened: (SeeingPage & { browser: Browser }) | undefined;
  beforeAll(async () => {
    const browser = await launchBrowser();
    opened = { ...(await openSeeing(browser)), browser };
  });
  afterAll(() => opened?.browser.close());
  const see = () => {
    if (!opened) throw new Error("The page is open only while tests run");
    return opened;
  };
  return {
    get browser() {
      return see().browser;
    },
    get page() {
      return see().page;
    },
    get session() {
      return see().session;
    },
    get look() {
      return see().look;
    },
    get checks() {
      return see().checks;
    },
    get dialogs() {
      return see().dialogs;
    },
    async read(name, input) {
      const check = see().checks.find((one) => one.name === name);
      if (!check) throw new Error(`no check ${name}`);
      return check.read(check.input.parse(input), signal);
    },
  };
}
