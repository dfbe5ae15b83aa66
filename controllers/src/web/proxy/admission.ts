import type { CDPSession } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import type { BrowserProxy } from "./browserProxy.ts";

/**
 * Gives Chromium the proxy's password for the context of an empty page; it keeps it and sends it unasked from then on, also for web
 * sockets and workers. Throws BROWSER_UNUSABLE where the browser did not ask for it.
 */
export async function admit(cdp: CDPSession, proxy: BrowserProxy): Promise<void> {
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
