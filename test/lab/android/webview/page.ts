import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningProgram, startProgram } from "@labwright/controllers";
import type { CDPSession, Page } from "playwright-core";
import type { LabFaults } from "../faults.ts";
import type { LabPage, PageArea, PagePart, Point } from "../labUi.ts";
import { readParts, setPartText } from "./accessibility.ts";
import { html } from "./html.ts";
import { type Relay, startRelay } from "./relay.ts";

export type WebViewOptions = {
  chromium: string;
  faults: LabFaults;
  /** A WebView of this app can be debugged on this port from now on. */
  opened(packageName: string, port: number): void;
};

/** Keys of Android that a page takes, as Playwright names them. */
const keys: ReadonlyMap<number, string> = new Map([
  [19, "ArrowUp"],
  [20, "ArrowDown"],
  [21, "ArrowLeft"],
  [22, "ArrowRight"],
  [61, "Tab"],
  [62, "Space"],
  [66, "Enter"],
  [67, "Backspace"],
  [112, "Delete"],
  [122, "Home"],
  [123, "End"],
]);

type Browser = { program: RunningProgram; folder: string; page: Page; cdp: CDPSession; relay: Relay };

/** A page of a real, headless Chromium, which starts when a WebView is shown first. */
export class ChromiumPage implements LabPage {
  title = "";
  parts: readonly PagePart[] = [];
  hasKeys = false;
  readonly #options: WebViewOptions;
  #area: PageArea | undefined;
  #browser: Promise<Browser> | undefined;
  /** The latest work that was sent. After a failure, all later work fails too. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: WebViewOptions) {
    this.#options = options;
  }

  show(area: PageArea): void {
    const before = this.#area;
    this.#area = area;
    this.#browser ??= startBrowser(this.#options, area);
    const { width, height, scale } = area;
    if (before?.width !== width || before.height !== height) {
      const size = { width: Math.round(width / scale), height: Math.round(height / scale) };
      const metrics = { ...size, deviceScaleFactor: scale, mobile: true };
      this.#then(async ({ cdp }) => void (await cdp.send("Emulation.setDeviceMetricsOverride", metrics)));
    }
    if (before?.key === area.key) return;
    this.hasKeys = false;
    this.#then(async ({ page, relay }) => {
      await page.goto("about:blank");
      await page.setContent(html);
      if (!this.#options.faults.webViewsNotDebuggable) this.#options.opened(area.packageName, relay.port);
    });
  }

  tap(at: Point): void {
    const { x, y } = this.#inPage(at);
    this.#then(({ page }) => page.mouse.click(x, y));
  }

  swipe(from: Point, to: Point): void {
    const [start, end] = [this.#inPage(from), this.#inPage(to)];
    this.#then(async ({ page }) => {
      await page.mouse.move(start.x, start.y);
      await page.mouse.wheel(start.x - end.x, start.y - end.y);
    });
  }

  type(text: string): void {
    this.#then(({ page }) => page.keyboard.type(text));
  }

  press(code: number): boolean {
    const key = keys.get(code);
    if (key !== undefined) this.#then(({ page }) => page.keyboard.press(key));
    return key !== undefined;
  }

  setText(id: number, text: string): void {
    this.#then(({ page }) => page.evaluate(setPartText, { id, text }));
  }

  async settle(): Promise<void> {
    if (this.#browser === undefined) return;
    this.#then(async ({ page }) => {
      // What was scrolled or typed is there with the next frame.
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      this.title = await page.title();
      const scale = this.#area?.scale ?? 1;
      const found = await page.evaluate(readParts);
      this.parts = found.map((part) => ({ ...part, bounds: scaled(part.bounds, scale) }));
    });
    await this.#last;
  }

  async picture(): Promise<Buffer | undefined> {
    if (this.#browser === undefined) return undefined;
    await this.settle();
    return (await this.#browser).page.screenshot({ scale: "device" });
  }

  appEnded(): void {
    this.hasKeys = false;
    this.#then(async ({ relay }) => relay.drop());
  }

  async close(): Promise<void> {
    const browser = await this.#browser?.catch(() => undefined);
    await this.#last.catch(() => undefined);
    if (browser === undefined) return;
    await browser.relay.close();
    await browser.program.end(0);
    await rm(browser.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #inPage({ x, y }: Point): Point {
    const scale = this.#area?.scale ?? 1;
    return { x: x / scale, y: y / scale };
  }

  #then(work: (browser: Browser) => Promise<void>): void {
    this.#last = this.#last.then(async () => {
      if (this.#browser) await work(await this.#browser);
    });
    this.#last.catch(() => undefined);
  }
}

const scaled = ({ x, y, width, height }: PagePart["bounds"], by: number) => ({
  ...{ x: Math.round(x * by), y: Math.round(y * by) },
  ...{ width: Math.round(width * by), height: Math.round(height * by) },
});

async function startBrowser(
  { chromium, faults }: WebViewOptions,
  { packageName }: PageArea,
): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), "labwright-webview-"));
  const own = [`--user-data-dir=${folder}`, "--remote-debugging-port=0", "about:blank"];
  const program = startProgram(chromium, [...flags, ...own]);
  const target = await devToolsPort(program);
  const { chromium: playwright } = await import("playwright-core");
  const context = (await playwright.connectOverCDP(`http://127.0.0.1:${target}`)).contexts()[0];
  const page = context?.pages()[0];
  if (!context || !page) throw new Error(`${chromium} shows no page.`);
  const relay = await startRelay({
    target,
    packageName: () => packageName,
    version: () => faults.webViewVersion,
  });
  return { program, folder, page, cdp: await context.newCDPSession(page), relay };
}

const flags = [
  ...["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
  ...["--no-first-run", "--disable-background-networking", "--disable-component-update", "--mute-audio"],
];

/** It says where it listens as soon as it does. */
async function devToolsPort({ child }: RunningProgram): Promise<number> {
  let said = "";
  child.stdout?.resume();
  const found = new Promise<number>((resolve) => {
    child.stderr?.on("data", (part: Buffer) => {
      said = (said + part.toString()).slice(-4_000);
      const port = /DevTools listening on ws:\/\/[^:]+:(\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
  const port = await Promise.race([found, once(child, "exit")]);
  if (typeof port === "number") return port;
  throw new Error(`Chromium did not start: ${said}`);
}
