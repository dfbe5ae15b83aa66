import type { Browser } from "playwright-core";
import { endsWithin } from "../../waiting/deadlines.ts";

const CLEAR_DEADLINE_MS = 3_000;

/** The clipboard, which a browser has one of for all of its contexts. */
export class Clipboard {
  private isUsed = false;

  constructor(private readonly browserOf: () => Browser | undefined) {}

  used(): void {
    this.isUsed = true;
  }

  /** Empties it if a command has put something there, or in any case: a page can copy by itself. Never throws. */
  async clear(inAnyCase = false): Promise<void> {
    const browser = this.browserOf();
    if (browser === undefined || !(this.isUsed || inAnyCase)) return;
    this.isUsed = false;
    await endsWithin(empty(browser), CLEAR_DEADLINE_MS);
  }
}

/** In a page of its own: one under test would hear of it. An empty page has no right to the clipboard, but it can copy. */
async function empty(browser: Browser): Promise<void> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.evaluate(copyNothing);
  } finally {
    await context.close();
  }
}

// What follows runs in the page.

function copyNothing(): void {
  document.addEventListener("copy", (event) => {
    event.clipboardData?.setData("text/plain", "");
    event.preventDefault();
  });
  document.execCommand("copy");
}
