import type { Page, Request } from "playwright-core";
import { isMainDocument } from "./requests.ts";
import { devToolsOf } from "./signals.ts";

/** A question that is answered sooner than this costs no probe. */
const QUIET_MS = 100;
/** Between the answer to one probe and the next probe. */
const PROBE_EVERY_MS = 250;

/**
 * Whether the page's own thread answers. While a question to the page is open, the page is asked for nothing at all now and
 * then: a page whose script never ends does not answer that either.
 */
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
    // A page that is busy cannot take on what the server has sent.
    page.on("response", (response) => {
      if (response.request() === this.#document) this.#documentCame();
    });
    // Also what is left of a navigation that was stopped.
    page.on("requestfailed", (request) => {
      if (request === this.#document) this.#documentCame();
    });
  }

  /** Begins a question. Call what it returns once, and say whether the page answered. */
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
   * For how long a probe has had no answer; undefined while the page answers, and while another document is on its way, when a
   * server is slow and not the page. Never a fraction of a millisecond.
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
      // The document is being replaced or the tab closed: no sign of a busy script.
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
