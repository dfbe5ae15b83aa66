import type { BrowserContextOptions } from "playwright-core";
import type { StorageState } from "./session.ts";
import type { WebSettings } from "./settings.ts";

/** How Playwright is asked for a context of these settings. */
export function contextOptions(
  settings: WebSettings,
  storageState: StorageState | undefined,
): BrowserContextOptions {
  return {
    viewport: settings.viewport,
    ignoreHTTPSErrors: settings.ignore_https_errors,
    ...(settings.locale === undefined ? {} : { locale: settings.locale }),
    ...(settings.timezone === undefined ? {} : { timezoneId: settings.timezone }),
    ...(settings.user_agent === undefined ? {} : { userAgent: settings.user_agent }),
    ...(storageState === undefined ? {} : { storageState }),
  };
}
