import type { CDPSession, Page } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import type { BrowserProxy } from "./browserProxy.ts";

/**
 * Gives Chromium the proxy's password for the context of an empty page; it keeps it and sends it unasked from then on, also for web
 * sockets and workers. Throws BROWSER_UNUSABLE where the browser did not ask for it.
 */
export async function admit(page: Page, cdp: CDPSession, proxy: BrowserProxy): Promise<void> {
  const before = proxy.admissions;
  const { username, password, admissionUrl } = proxy;
  const answer = ({
    requestId,
    authChallenge,
  }: {
    requestId: string;
    authChallenge: { source?: string };
  }) => {
    const isOurs = authChallenge.source === "Proxy";
    const authChallengeResponse = isOurs
      ? ({ response: "ProvideCredentials", username, password } as const)
      : ({ response: "Default" } as const);
    // The page may be gone by now.
    cdp.send("Fetch.continueWithAuth", { requestId, authChallengeResponse }).catch(() => undefined);
  };
  const goOn = ({ requestId }: { requestId: string }) => {
    cdp.send("Fetch.continueRequest", { requestId }).catch(() => undefined);
  };
  cdp.on("Fetch.authRequired", answer);
  cdp.on("Fetch.requestPaused", goOn);
  try {
    await cdp.send("Fetch.enable", { handleAuthRequests: true, patterns: [{ urlPattern: admissionUrl }] });
    await page.evaluate(
      (url) =>
        fetch(url, { mode: "no-cors" }).then(
          () => undefined,
          () => undefined,
        ),
      admissionUrl,
    );
    await cdp.send("Fetch.disable");
  } finally {
    cdp.off("Fetch.authRequired", answer);
    cdp.off("Fetch.requestPaused", goOn);
  }
  if (proxy.admissions > before) return;
  throw new DeviceError(
    "BROWSER_UNUSABLE",
    "The browser does not use the proxy that guards it. Take another one with executable_path or channel, and look for a policy of this machine that sets a proxy for browsers.",
  );
}
