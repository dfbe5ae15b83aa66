import { DeviceError } from "../../errors.ts";
import type { App } from "../../portable.ts";

/** The complete URL for an address as people write it; throws INVALID_PARAMS. */
export function wholeUrl(given: string, current: string): string {
  const text = given.trim();
  if (/^([a-z][a-z0-9+.-]*:\/\/|(about|data|blob|javascript|file|chrome|view-source|devtools):)/i.test(text))
    return checked(text, given);
  if (/^[/?#.]/.test(text)) return checked(text, given, current);
  const local = /^(localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\])(:\d+)?([/?#]|$)/i.test(text);
  return checked(`${local ? "http" : "https"}://${text}`, given);
}

function checked(url: string, given: string, base?: string): string {
  if (URL.canParse(url, base)) return new URL(url, base).href;
  throw new DeviceError(
    "INVALID_PARAMS",
    `"${given.slice(0, 100)}" is not an address. Give a full one such as https://example.org/path.`,
  );
}

/** The URL at which an app begins; throws INVALID_PARAMS if it has none. */
export function appUrl({ url }: App): string {
  if (url) return wholeUrl(url, "about:blank");
  throw new DeviceError("INVALID_PARAMS", "A browser finds an app by its url. Give app one.");
}

/** Whether a URL has the origin of the app's own. */
export function isOfApp(url: string, app: string): boolean {
  const { origin } = new URL(app);
  return origin !== "null" && URL.canParse(url) && new URL(url).origin === origin;
}
