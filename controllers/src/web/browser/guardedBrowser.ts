import type { CDPSession } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import { GuardingProxy } from "../../proxy/guardingProxy.ts";
import { findUpstreams } from "../../proxy/upstream.ts";
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

const startProxy = (settings: WebSettings, guard: UrlGuard): Promise<GuardingProxy> =>
  GuardingProxy.start({
    policy: guard.policy,
    names: guard.names,
    upstreams: findUpstreams(settings.proxy, process.env),
    denied: (url, reason) => guard.deny(url, reason),
  });

/** What a user must know of how a browser's traffic is judged; undefined where all of it is. */
export function trafficNote(proxy: GuardingProxy | undefined): string | undefined {
  if (proxy === undefined)
    return "This browser was not started by Labwright, so its traffic does not go through Labwright's proxy: url_policy is checked for its requests, but not for web sockets of workers, and an address that a name resolves to only after the connection.";
  if (proxy.upstreams.length === 0) return undefined;
  return `Traffic goes through the proxy ${proxy.upstreams.join(" and ")}, which resolves host names: url_policy is checked for the names, not for their addresses.`;
}

/**
 * Gives Chromium the proxy's password for the context of an empty page; it keeps it and sends it unasked from then on, also for web
 * sockets and workers. Throws BROWSER_UNUSABLE where the browser did not ask for it.
 */
export async function admit(cdp: CDPSession, proxy: GuardingProxy): Promise<void> {
  const before = proxy.admissions;
  const { username, password, admissionUrl } = proxy;
  const answer = ({ requestId }: { requestId: string }) => {
    const authChallengeResponse = { response: "ProvideCredentials", username, password } as const;
    // The page may be gone by now.
    cdp.send("Fetch.continueWithAuth", { requestId, authChallengeResponse }).catch(() => undefined);
  };
  const goOn = ({ requestId }: { requestId: string }) => {
    cdp.send("Fetch.continueRequest", { requestId }).catch(() => undefined);
  };
  cdp.on("Fetch.authRequired", answer);
  cdp.on("Fetch.requestPaused", goOn);
  const ask = {
    expression: `fetch("${admissionUrl}", { mode: "no-cors" }).then(() => 0, () => 0)`,
    awaitPromise: true,
  };
  try {
    await cdp.send("Fetch.enable", { handleAuthRequests: true, patterns: [{ urlPattern: admissionUrl }] });
    await cdp.send("Runtime.evaluate", ask);
  } finally {
    cdp.off("Fetch.authRequired", answer);
    cdp.off("Fetch.requestPaused", goOn);
    cdp.send("Fetch.disable").catch(() => undefined);
  }
  if (proxy.admissions > before) return;
  throw new DeviceError(
    "BROWSER_UNUSABLE",
    "The browser does not use the proxy that guards it. Take another one with executable_path or channel, and look for a policy of this machine that sets a proxy for browsers.",
  );
}
