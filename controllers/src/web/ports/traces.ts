import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import { untilAborted } from "../../waiting/deadlines.ts";
import { firstLines } from "../page/failures.ts";

/** How long a trace may take to be written; a tab whose script is busy gives nothing. */
const WRITE_MS = 30_000;
/** How long a name may take to be put into a trace. */
const NAME_MS = 1_000;

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
    await untilAborted(context.tracing.group(name), AbortSignal.timeout(NAME_MS)).catch(() => undefined);
    try {
      return await work();
    } finally {
      await untilAborted(context.tracing.groupEnd(), AbortSignal.timeout(NAME_MS)).catch(() => undefined);
    }
  }

  /** Writes the context's trace, or notes its loss. */
  async end(context: BrowserContext): Promise<void> {
    const path = join(this.#folder, `trace-${this.files.length + 1}.zip`);
    try {
      await untilAborted(context.tracing.stop({ path }), AbortSignal.timeout(WRITE_MS));
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
