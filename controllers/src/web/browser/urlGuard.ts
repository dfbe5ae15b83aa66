import { isIP } from "node:net";
import type { Browser, BrowserContext, Page, Response } from "playwright-core";
import type { ControllerContext } from "../../contract.ts";
import { shortened } from "../../elements/quoted.ts";
import type { GuardingProxy } from "../../proxy/guardingProxy.ts";
import { Names, resolveHost } from "../../proxy/names.ts";
import { placeOf, withPort } from "../../proxy/place.ts";

const deniedKept = 500;
const deniedCode = "ERR_BLOCKED_BY_CLIENT";
/** The page gave the request up, or a test has switched the network off: the proxy knows nothing about it. */
const ownDoing = /ABORTED|CANCELLED|DISCONNECTED|OFFLINE|BLOCKED/i;

type Policy = Pick<ControllerContext, "allowUrl" | "allowAddress" | "allowHost" | "hasPathRules" | "resolve">;

/** Judges addresses by the server's policy. `report` gets a line for each one that is refused. */
export class UrlGuard {
  /** How many it has refused; a command compares before and after. */
  denials = 0;
  readonly names: Names;
  /** The proxy of the browser that is open; undefined for one that others have started. */
  proxy: GuardingProxy | undefined;
  readonly #denied: string[] = [];

  constructor(
    readonly policy: Policy,
    private readonly report: (line: string) => void,
  ) {
    this.names = new Names((host) => (policy.resolve ?? resolveHost)(host));
  }

  /**
   * Guards the documents of a Chromium that is ours alone: new tabs, frames and redirects, before anything is sent, so that
   * the page that was there stays. The proxy refuses everything else, except for rules on paths of https: addresses, which it does not see.
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
    const isWhole = this.proxy === undefined;
    const others = this.policy.hasPathRules ? ["https://*", "file:*"] : ["file:*"];
    const patterns = isWhole
      ? [{ urlPattern: "*" }]
      : [
          { urlPattern: "*", resourceType: "Document" as const },
          ...others.map((urlPattern) => ({ urlPattern })),
        ];
    await cdp.send("Fetch.enable", { patterns });
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

  /** What can only be judged afterwards: web sockets by their path and, without a proxy, the address really connected to. */
  guardConnections(context: BrowserContext): void {
    if (this.proxy === undefined)
      context.on("response", (response) => {
        this.#checkServer(response).catch(() => undefined);
      });
    if (this.proxy === undefined || this.policy.hasPathRules)
      context.on("page", (page) => {
        page.on("websocket", (socket) => void this.#leaveIfRefused(socket.url(), () => page));
      });
  }

  /** Whether it refused this address lately. */
  wasDenied(url: string): boolean {
    return this.#denied.includes(url) || this.proxy?.failureOf(url) === deniedCode;
  }

  /** Why a request failed: what the browser says of it, or what only the proxy knows. */
  failureOf(url: string, errorText: string): string {
    if (this.proxy === undefined || ownDoing.test(errorText)) return errorText;
    const code = this.wasDenied(url) ? deniedCode : this.proxy.failureOf(url);
    return code === undefined ? errorText : `net::${code}`;
  }

  /** The error of a navigation to `url`, with the reason that {@link failureOf} gives. */
  explained(error: unknown, url: string | undefined): unknown {
    if (!(error instanceof Error)) return error;
    const [whole, code = "", asked] = /(net::ERR_\w+|NS_ERROR_\w+)(?: at (\S+))?/.exec(error.message) ?? [];
    const address = url ?? asked;
    if (whole === undefined || address === undefined) return error;
    const reason = this.failureOf(address, code);
    return reason === code ? error : new Error(error.message.replace(code, reason), { cause: error });
  }

  /** Notes that an address was refused. */
  deny(url: string, reason: string): void {
    this.denials++;
    this.#denied.push(url);
    if (this.#denied.length > deniedKept) this.#denied.shift();
    this.report(`${shortened(url, 200)}: ${reason}`);
  }

  /** Whether `url`, or an address that its host resolves to, is refused. */
  async #refuses(url: string): Promise<boolean> {
    const reason = await this.#refusal(url);
    if (reason !== undefined) this.deny(url, reason);
    return reason !== undefined;
  }

  async #refusal(url: string): Promise<string | undefined> {
    const byUrl = reasonOf(() => this.policy.allowUrl(url));
    const place = placeOf(url);
    if (byUrl !== undefined || place === undefined) return byUrl;
    const { host, port } = place;
    if (this.proxy?.isResolvedElsewhere(place)) return undefined;
    // A name that does not resolve here is the browser's to report.
    const addresses = await this.names.addressesOf(host).catch(() => []);
    return addresses
      .map((address) => this.#refusalOfAddress(address, port))
      .find((reason) => reason !== undefined);
  }

  #refusalOfAddress(address: string, port: number): string | undefined {
    return reasonOf(() => this.policy.allowAddress(withPort(address, port)));
  }

  async #checkServer(response: Response): Promise<void> {
    const place = placeOf(response.url());
    if (place === undefined || place.host === "localhost" || isIP(place.host) !== 0) return;
    const server = await response.serverAddr();
    const reason = server === null ? undefined : this.#refusalOfAddress(server.ipAddress, server.port);
    if (reason === undefined) return;
    this.deny(response.url(), reason);
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

function reasonOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
