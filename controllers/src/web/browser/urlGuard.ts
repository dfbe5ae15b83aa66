import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Browser, BrowserContext, Page, Request, Response } from "playwright-core";
import { z } from "zod";
import type { ControllerContext } from "../../contract.ts";

const RESOLVED_FOR_MS = 10_000;
const KEPT = 500;

/** Decides over addresses by the policy the server lends us. */
export type UrlGuard = {
  /** The reason why `url`, or an address its host resolves to, is refused; undefined if it may be asked for. */
  refusal(url: string): Promise<string | undefined>;
  refusalOfAddress(address: string): string | undefined;
};

export function createUrlGuard(context: Pick<ControllerContext, "allowUrl" | "allowAddress">): UrlGuard {
  const resolved = new Map<string, { addresses: Promise<readonly string[]>; until: number }>();

  function addressesOf(host: string): Promise<readonly string[]> {
    const known = resolved.get(host);
    if (known !== undefined && known.until > performance.now()) return known.addresses;
    // A name that does not resolve here is the browser's to report, or a proxy's to resolve.
    const addresses = lookup(host, { all: true }).then(
      (found) => found.map(({ address }) => address),
      () => [],
    );
    if (resolved.size >= KEPT) resolved.clear();
    resolved.set(host, { addresses, until: performance.now() + RESOLVED_FOR_MS });
    return addresses;
  }

  const refusalOfAddress = (address: string) => reasonOf(() => context.allowAddress(address));
  return {
    refusalOfAddress,
    async refusal(url) {
      const byUrl = reasonOf(() => context.allowUrl(url));
      const host = hostOf(url);
      if (byUrl !== undefined || host === undefined) return byUrl;
      const addresses = isIP(host) === 0 ? await addressesOf(host) : [host];
      for (const address of addresses) {
        const byAddress = refusalOfAddress(address);
        if (byAddress !== undefined) return byAddress;
      }
      return undefined;
    },
  };
}

type Denied = (url: string, reason: string) => void;

const pausedSchema = z.object({
  requestId: z.string(),
  resourceType: z.string(),
  request: z.object({ url: z.string() }),
});

/**
 * Guards every request of a Chromium that is ours alone: new tabs, frames, redirects and downloads included, before
 * anything is sent. Playwright's own routing is asked about the first request of a redirect chain only.
 */
export async function guardBrowser(browser: Browser, guard: UrlGuard, denied: Denied): Promise<void> {
  const cdp = await browser.newBrowserCDPSession();
  async function decide(event: unknown) {
    const { requestId, resourceType, request } = pausedSchema.parse(event);
    const reason = await guard.refusal(request.url);
    if (reason === undefined) return cdp.send("Fetch.continueRequest", { requestId });
    denied(request.url, reason);
    // An aborted document leaves the page that was there; a blocked one replaces it by an error page.
    const errorReason = resourceType === "Document" ? "Aborted" : "BlockedByClient";
    return cdp.send("Fetch.failRequest", { requestId, errorReason });
  }
  cdp.on("Fetch.requestPaused", (event) => {
    // The request may be gone with its tab by the time we answer.
    decide(event).catch(() => undefined);
  });
  await cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] });
}

/** Guards a context in a browser that others use too, or that is no Chromium: first requests before they are sent. */
export async function guardContext(context: BrowserContext, guard: UrlGuard, denied: Denied): Promise<void> {
  await context.route("**/*", async (route) => {
    const url = route.request().url();
    const reason = await guard.refusal(url);
    if (reason === undefined) return route.fallback();
    denied(url, reason);
    return route.abort(route.request().isNavigationRequest() ? "aborted" : "blockedbyclient");
  });
  context.on("request", (request) => {
    if (request.redirectedFrom() !== null) leaveIfRefused(request, guard, denied).catch(() => undefined);
  });
}

/** What can only be judged afterwards: the address really connected to, and web sockets, which no routing pauses. */
export function guardConnections(context: BrowserContext, guard: UrlGuard, denied: Denied): void {
  context.on("response", (response) => {
    checkServer(response, guard, denied).catch(() => undefined);
  });
  context.on("page", (page) => {
    page.on("websocket", (socket) => {
      leaveIfRefused(socket, guard, denied, page).catch(() => undefined);
    });
  });
}

async function checkServer(response: Response, guard: UrlGuard, denied: Denied): Promise<void> {
  const host = hostOf(response.url());
  if (host === undefined || host === "localhost" || isIP(host) !== 0) return;
  const server = await response.serverAddr();
  const reason = server === null ? undefined : guard.refusalOfAddress(server.ipAddress);
  if (reason === undefined) return;
  denied(response.url(), reason);
  await leave(response.frame().page());
}

async function leaveIfRefused(
  source: Pick<Request, "url"> & Partial<Pick<Request, "frame">>,
  guard: UrlGuard,
  denied: Denied,
  page = source.frame?.().page(),
): Promise<void> {
  const reason = await guard.refusal(source.url());
  if (reason === undefined) return;
  denied(source.url(), reason);
  if (page !== undefined) await leave(page);
}

async function leave(page: Page): Promise<void> {
  await page.goto("about:blank");
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
