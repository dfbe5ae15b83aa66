import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { VideoFile } from "../../video/videoFile.ts";
import { untilAborted } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";

/** Ten pictures a second show what a person or a program does to a page; encoding each takes 34 ms. */
const EVERY_MS = 100;
/** How long a tab may take to stop being watched; one whose script is busy never does. */
const STOP_MS = 3_000;
const LONGEST_SIDE = 1_280;
const QUALITY = 80;

type Tabs = Pick<DrivenSession, "isAlive" | "page" | "pages">;

/**
 * Writes what the current tab shows into a video, whichever tab that is. Every tab is watched, so a switch between tabs
 * that stand still is seen, too; a tab without change costs nothing.
 */
export class Screencast {
  readonly #tabs: Tabs;
  readonly #path: string;
  readonly #mostBytes: number;
  readonly #full: () => void;
  readonly #startedAt = performance.now();
  readonly #pictures = new WeakMap<Page, Uint8Array>();
  readonly #watched = new Set<Page>();
  readonly #timer: NodeJS.Timeout;
  #video: VideoFile | undefined;
  #shown: Uint8Array | undefined;
  #writing: Promise<void> | undefined;
  #fault: unknown;

  constructor(tabs: Tabs, options: { path: string; mostBytes: number; full: () => void }) {
    this.#tabs = tabs;
    this.#path = options.path;
    this.#mostBytes = options.mostBytes;
    this.#full = options.full;
    this.#timer = setInterval(() => this.#sample(), EVERY_MS).unref();
    this.#watchNewTabs();
  }

  /**
   * Ends the file. `frames` is 0, and there is no file, when no tab gave a picture; `fault` is what ended it early.
   */
  async finish(): Promise<{ frames: number; fault: unknown }> {
    clearInterval(this.#timer);
    await Promise.all([...this.#watched].map((page) => endWithin(STOP_MS, page.screencast.stop())));
    await this.#writing;
    await this.#writeSafely();
    await this.#video?.finish(this.#now());
    return { frames: this.#video?.frames ?? 0, fault: this.#fault };
  }

  #now(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  #sample(): void {
    this.#watchNewTabs();
    this.#writing ??= this.#writeSafely().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeSafely(): Promise<void> {
    if (this.#fault !== undefined) return;
    try {
      await this.#write();
    } catch (error) {
      this.#fault = error;
    }
  }

  #watchNewTabs(): void {
    for (const page of this.#tabs.pages()) {
      if (this.#watched.has(page)) continue;
      this.#watched.add(page);
      page.once("close", () => this.#watched.delete(page));
      this.#watch(page).catch(() => undefined);
    }
  }

  /** Playwright sends the next picture when the last one's promise has settled. */
  async #watch(page: Page): Promise<void> {
    await page.screencast.start({
      size: sizeOf(page),
      quality: QUALITY,
      onFrame: async ({ data }) => {
        this.#pictures.set(page, data);
        await pause(EVERY_MS, undefined, { ref: false });
      },
    });
  }

  async #write(): Promise<void> {
    const page = this.#currentTab();
    const picture = page && this.#pictures.get(page);
    if (page === undefined || picture === undefined || picture === this.#shown) return;
    this.#shown = picture;
    const at = this.#now();
    this.#video ??= await VideoFile.create(this.#path, sizeOf(page));
    await this.#video.add(picture, at);
    if (this.#video.bytes > this.#mostBytes) this.#full();
  }

  #currentTab(): Page | undefined {
    return this.#tabs.isAlive() && this.#tabs.pages().length > 0 ? this.#tabs.page() : undefined;
  }
}

/** Neither late nor a failure: what was not stopped ends with its tab. */
async function endWithin(ms: number, work: Promise<void>): Promise<void> {
  await untilAborted(work, AbortSignal.timeout(ms)).catch(() => undefined);
}

/** The tab's own size, made smaller where it is larger than anyone looks at. */
function sizeOf(page: Page): { width: number; height: number } {
  const { width, height } = page.viewportSize() ?? { width: 1_280, height: 720 };
  const scale = Math.min(1, LONGEST_SIDE / Math.max(width, height));
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}
