import { type Browser, chromium, type FrameLocator, type Locator, type Page } from "playwright-core";
import type { Pattern, UserAction } from "./settlePattern.ts";
import { browserArgs } from "./sides.ts";
import { timed } from "./statistics.ts";

const limitMs = 10_000;

/** Plain Playwright, in a script whose author knows what to wait for. */
export type PlainSide = {
  /** Milliseconds from the action to a snapshot of the outcome. */
  run(pattern: Pattern, url: string): Promise<number>;
  close(): Promise<void>;
};

async function perform(target: Locator, onto: Locator, { command, params = {} }: UserAction): Promise<void> {
  const { text, key, option } = params;
  if (command === "click_element") await target.click();
  else if (command === "hover_element") await target.hover();
  else if (command === "drag_and_drop") await target.dragTo(onto);
  else if (command === "input_text") await target.fill(String(text));
  else if (command === "type_text") await target.pressSequentially(String(text));
  else if (command === "press_key") await target.press(String(key));
  else if (command === "select_option") await target.selectOption(String(option));
  else if (command === "scroll") await target.page().evaluate("scrollTo(0, document.body.scrollHeight)");
  else throw new Error(`Plain Playwright has no line for ${command}.`);
}

/** Where the pattern plays: the tab, or the one frame in it. */
const placeOf = (page: Page, pattern: Pattern): Page | FrameLocator =>
  pattern.place === "frame" ? page.frameLocator("iframe") : page;

async function actAndWait(page: Page, pattern: Pattern): Promise<void> {
  const inFrame = pattern.place === "frame" && pattern.html.startsWith("<h1>Pattern</h1><iframe");
  const at = inFrame ? page.frameLocator("iframe") : page;
  const popup = pattern.place === "popup" ? page.waitForEvent("popup") : Promise.resolve(page);
  await perform(at.locator("#go"), at.locator("#onto"), pattern.action);
  const there = await popup;
  if (pattern.until !== undefined)
    await there.waitForFunction(pattern.until, undefined, { timeout: limitMs });
  else await placeOf(there, pattern).getByText(pattern.outcome).first().waitFor({ timeout: limitMs });
  await there.ariaSnapshot({ mode: "ai" });
}

async function runIn(browser: Browser, pattern: Pattern, url: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    await page.ariaSnapshot({ mode: "ai" });
    return (await timed(() => actAndWait(page, pattern))).ms;
  } finally {
    await context.close();
  }
}

export async function openPlainSide(executablePath: string): Promise<PlainSide> {
  const browser = await chromium.launch({ executablePath, headless: true, args: [...browserArgs] });
  return {
    run: (pattern, url) => runIn(browser, pattern, url),
    close: () => browser.close(),
  };
}
