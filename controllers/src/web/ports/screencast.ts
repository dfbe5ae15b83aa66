import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { everyMs, longestSide, Sampler } from "../../video/sampler.ts";
import { endsWithin } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";

/** How long a tab may take to stop being watched; one whose script is busy never does. */
const STOP_MS = 3_000;
const QUALITY = 80;

/**
 * Writes what the current tab shows into a video, whichever tab that is. Every tab is watched, so a switch between tabs
 * that stand still is seen, too; a tab without change costs nothing.
 */
export class Screencast {
  readonly #pictures = new WeakMap<Page, Uint8Array>();
  readonly #watched = new Set<Page>();
  readonly #sampler: Sampler;
  #isEnding = false;

  constructor(
    private readonly tabs: Pick<DrivenSession, "isAlive" | "page" | "pages">,
    options: { path: string; mostBytes: number; full(): void },
  ) {
    this.#sampler = new Sampler({
      ...options,
      latest: () => {
        this.#watchNewTabs();
        const page = this.#current();
        return page && this.#pictures.get(page);
      },
      sizeOf: () => sizeOf(this.#current()),
    });
    this.#watchNewTabs();
  }

  async finish(): ReturnType<Sampler["finish"]> {
    this.#isEnding = true;
    this.#sampler.stop();
    // A tab that did not stop ends with its page.
    await Promise.all([...this.#watched].map((page) => endsWithin(page.screencast.stop(), STOP_MS)));
    return this.#sampler.finish();
  }

  #current(): Page | undefined {
    return this.tabs.isAlive() && this.tabs.pages().length > 0 ? this.tabs.page() : undefined;
  }

  #watchNewTabs(): void {
    // The sampler takes a last picture when all tabs have stopped.
    if (this.#isEnding) return;
    for (const page of this.tabs.pages()) {
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
        await pause(everyMs, undefined, { ref: false });
      },
    });
  }
}

/** The tab's own size, made smaller where it is larger than anyone looks at. */
function sizeOf(page: Page | undefined): { width: number; height: number } {
  const { width, height } = page?.viewportSize() ?? { width: 1_280, height: 720 };
  const scale = Math.min(1, longestSide / Math.max(width, height));
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}
