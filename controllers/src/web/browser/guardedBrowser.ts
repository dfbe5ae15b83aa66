import { BrowserProxy } from "../proxy/browserProxy.ts";
import { findUpstreams } from "../proxy/upstream.ts";
import { type OpenedBrowser, openBrowser } from "./browser.ts";
import type { WebSettings } from "./settings.ts";
import type { UrlGuard } from "./urlGuard.ts";

/** Opens a browser as {@link openBrowser} does. One that we start gets a proxy, which ends with it. */
export async function openGuarded(
  settings: WebSettings,
  guard: UrlGuard,
  signal: AbortSignal,
): Promise<OpenedBrowser> {
  const isOurs = settings.cdp === undefined && settings.connect === undefined;
  const proxy = isOurs ? await startProxy(settings, guard) : undefined;
  try {
    const { browser, close } = await openBrowser(settings, proxy, signal);
    guard.proxy = proxy;
    return { browser, close: () => close().finally(() => proxy?.close()) };
  } catch (error) {
    proxy?.close();
    throw error;
  }
}

const startProxy = (settings: WebSettings, guard: UrlGuard): Promise<BrowserProxy> =>
  BrowserProxy.start({
    policy: guard.policy,
    names: guard.names,
    upstreams: findUpstreams(settings.proxy, process.env),
    denied: (url, reason) => guard.deny(url, reason),
  });

/** What a user must know of how a browser's traffic is judged; undefined where all of it is. */
export function trafficNote(proxy: BrowserProxy | undefined): string | undefined {
  if (proxy === undefined)
    return "This browser was not started by Labwright, so its traffic does not go through Labwright's proxy: url_policy is checked for its requests, but not for web sockets of workers, and an address that a name resolves to only after the connection.";
  if (proxy.upstreams.length === 0) return undefined;
  return `Traffic goes through the proxy ${proxy.upstreams.join(" and ")}, which resolves host names: url_policy is checked for the names, not for their addresses.`;
}
