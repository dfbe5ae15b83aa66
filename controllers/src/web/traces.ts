import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import { firstLines } from "./failures.ts";

/** Playwright traces, one for each browser context that a recording sees: a context that ends takes its trace with it. */
export class Traces {
  readonly files: string[] = [];
  readonly lost: string[] = [];
  readonly #folder: string;
  readonly #screenshots: boolean;

  constructor(folder: string, options: { screenshots: boolean }) {
    this.#folder = folder;
    this.#screenshots = options.screenshots;
  }

  async begin(context: BrowserContext): Promise<void> {
    await context.tracing.start({ snapshots: true, screenshots: this.#screenshots });
  }

  /** Puts what `work` does under a name, since much of it is no call of Playwright's and would not be seen. */
  async group<T>(context: BrowserContext, name: string, work: () => Promise<T>): Promise<T> {
    // A context that goes away takes its groups with it, and says why when it is used.
    await context.tracing.group(name).catch(() => undefined);
    try {
      return await work();
    } finally {
      await context.tracing.groupEnd().catch(() => undefined);
    }
  }

  /** Writes the context's trace, or notes its loss. */
  async end(context: BrowserContext): Promise<void> {
    const path = join(this.#folder, `trace-${this.files.length + 1}.zip`);
    try {
      await context.tracing.stop({ path });
      this.files.push(path);
    } catch (error) {
      this.lost.push(`trace: ${firstLines(error)}`);
    }
  }

  /** The browser is gone, and what it had not given went with it. */
  lose(): void {
    this.lost.push("trace: it is written when a recording ends, and the browser was lost before");
  }
}
