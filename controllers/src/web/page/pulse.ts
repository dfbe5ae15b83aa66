import type { Page, Request } from "playwright-core";
import { isMainDocument } from "./requests.ts";
import { devToolsOf } from "./signals.ts";

/** A question that is answered sooner causes no probe. */
const QUIET_MS = 100;
/** Between the answer to one probe and the next probe. */
const PROBE_EVERY_MS = 250;

/** Finds out whether the page's thread is busy: while a question to the page is open, it evaluates `0` in it from time to time. */
class Pulse {
  #open = 0;
  #heardAt = performance.now();
  #isProbing = false;
  #timer: NodeJS.Timeout | undefined;

  #document: Request | undefined;

  constructor(private readonly page: Page) {
    page.on("request", (request) => {
      if (isMainDocument(page, request)) this.#document = request;
    });
    // A busy page cannot load the server's answer.
    page.on("response", (response) => {
      if (response.request() === this.#document) this.#documentCame();
    });
    // A stopped navigation ends here too.
    page.on("requestfailed", (request) => {
      if (request === this.#document) this.#documentCame();
    });
  }

  /** Begins a question. The returned function ends it, and takes whether the page answered. */
  begin(): (answered: boolean) => void {
    if (this.#open++ === 0) {
      if (!this.#isProbing) this.#heardAt = performance.now();
      this.#probeIn(QUIET_MS);
    }
    return (answered) => {
      if (answered) this.#hear();
      if (--this.#open === 0) clearTimeout(this.#timer);
    };
  }

  /**
   * How long a probe has been waiting, in whole milliseconds; undefined while the page answers, and while a new document is
   * loading, when the server may be slow and not the page.
   */
  silentMs(): number | undefined {
    return this.#isProbing && this.#document === undefined
      ? Math.round(performance.now() - this.#heardAt)
      : undefined;
  }

  #hear(): void {
    this.#heardAt = performance.now();
  }

  /** The browser held questions back until now. */
  #documentCame(): void {
    this.#document = undefined;
    this.#heardAt = performance.now();
  }

  #probeIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#probe(), ms);
    this.#timer.unref();
  }

  async #probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    try {
      const cdp = devToolsOf(this.page);
      await (cdp ? cdp.send("Runtime.evaluate", { expression: "0" }) : this.page.evaluate("0"));
    } catch {
      // The document is being replaced, or the tab closed.
    }
    this.#isProbing = false;
    this.#hear();
    if (this.#open > 0) this.#probeIn(PROBE_EVERY_MS);
  }
}

const pulses = new WeakMap<Page, Pulse>();

export function pulseOf(page: Page): Pulse {
  let pulse = pulses.get(page);
  if (pulse === undefined) {
    pulse = new Pulse(page);
    pulses.set(page, pulse);
  }
  return pulse;
}
