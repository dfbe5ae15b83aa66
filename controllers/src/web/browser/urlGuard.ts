import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Browser, BrowserContext, Page, Response } from "playwright-core";
import type { ControllerContext } from "../../contract.ts";
import { shortened } from "../../elements/quoted.ts";

const RESOLVED_FOR_MS = 10_000;
const KEPT = 500;

const DENIED_KEPT = 50;

/** Judges addresses by the server's policy. `report` gets a line for each one that is refused. */
export class UrlGuard {
  /** How many it has refused; a command compares before and after. */
  denials = 0;
  readonly #denied: string[] = [];
  readonly #resolved = new Map<string, { addresses: Promise<readonly string[]>; until: number }>();

  constructor(
    private readonly context: Pick<ControllerContext, "allowUrl" | "allowAddress">,
    private readonly report: (line: string) => void,
  ) {}

  /**
   * Guards every request of a Chromium that is ours alone: new tabs, frames, redirects and downloads included, before
   * anything is sent. Playwright's own routing is asked about the first request of a redirect chain only.
   */
  async guardBrowser(browser: Browser): Promise<void> {
    const cdp = await browser.newBrowserCDPSession();
    cdp.on("Fetch.requestPaused", async ({ requestId, resourceType, request }) => {
      // An aborted document leaves the page that was there; a blocked one replaces it by an error page.
      const errorReason = resourceType === "Document" ? "Aborted" : "BlockedByClient";
      const isRefused = await this.#refuses(request.url);
      const answer = isRefused
        ? cdp.send("Fetch.failRequest", { requestId, errorReason })
        : cdp.send("Fetch.continueRequest", { requestId });
      // The request may be gone with its tab by now.
      answer.catch(() => undefined);
    });
    await cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] });
  }

  /** Guards a context in a browser that others use too, or that is not Chromium: first requests before they are sent. */
  async guardContext(context: BrowserContext): Promise<void> {
    await context.route("**/*", async (route) => {
      if (!(await this.#refuses(route.request().url()))) return route.fallback();
      return route.abort(route.request().isNavigationRequest() ? "aborted" : "blockedbyclient");
    });
    context.on("request", (request) => {
      if (request.redirectedFrom() !== null)
        void this.#leaveIfRefused(request.url(), () => request.frame().page());
    });
  }

  /** What can only be judged afterwards: the address really connected to, and web sockets, which no routing pauses. */
  guardConnections(context: BrowserContext): void {
    context.on("response", (response) => {
      this.#checkServer(response).catch(() => undefined);
    });
    context.on("page", (page) => {
      page.on("websocket", (socket) => void this.#leaveIfRefused(socket.url(), () => page));
    });
  }

  /** Whether it refused this address lately. */
  wasDenied(url: string): boolean {
    return this.#denied.includes(url);
  }

  #deny(url: string, reason: string): void {
    this.denials++;
    this.#denied.push(url);
    if (this.#denied.length > DENIED_KEPT) this.#denied.shift();
    this.report(`${shortened(url, 200)}: ${reason}`);
  }

  /** Whether `url`, or an address that its host resolves to, is refused. */
  async #refuses(url: string): Promise<boolean> {
    const reason = await this.#refusal(url);
    if (reason !== undefined) this.#deny(url, reason);
    return reason !== undefined;
  }

  async #refusal(url: string): Promise<string | undefined> {
    const byUrl = reasonOf(() => this.context.allowUrl(url));
    const host = hostOf(url);
    if (byUrl !== undefined || host === undefined) return byUrl;
    const addresses = isIP(host) === 0 ? await this.#addressesOf(host) : [host];
    return addresses.map((address) => this.#refusalOfAddress(address)).find((reason) => reason !== undefined);
  }

  #refusalOfAddress(address: string): string | undefined {
    return reasonOf(() => this.context.allowAddress(address));
  }

  #addressesOf(host: string): Promise<readonly string[]> {
    const known = this.#resolved.get(host);
    if (known !== undefined && known.until > performance.now()) return known.addresses;
    // A name that does not resolve here is the browser's to report, or a proxy's to resolve.
    const addresses = lookup(host, { all: true }).then(
      (found) => found.map(({ address }) => address),
      () => [],
    );
    if (this.#resolved.size >= KEPT) this.#resolved.clear();
    this.#resolved.set(host, { addresses, until: performance.now() + RESOLVED_FOR_MS });
    return addresses;
  }

  async #checkServer(response: Response): Promise<void> {
    const host = hostOf(response.url());
    if (host === undefined || host === "localhost" || isIP(host) !== 0) return;
    const server = await response.serverAddr();
    const reason = server === null ? undefined : this.#refusalOfAddress(server.ipAddress);
    if (reason === undefined) return;
    this.#deny(response.url(), reason);
    await response.frame().page().goto("about:blank");
  }

  async #leaveIfRefused(url: string, pageOf: () => Page): Promise<void> {
    try {
      if (await this.#refuses(url)) await pageOf().goto("about:blank");
    } catch {
      // A page that is gone need not be left.
    }
  }
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname === "" ? undefined : hostname.replace(/^\[|\]$/g, "");
}

function reasonOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
