import { DeviceError } from "../errors.ts";

/** Links that call, write messages, read files, install or run code, whatever an app declares. */
const forbidden: ReadonlySet<string> = new Set([
  ...["tel", "telprompt", "voicemail", "ussd", "sip", "sms", "smsto", "mms", "mmsto"],
  ...["facetime", "facetime-audio", "itms-services", "shortcuts"],
  ...["content", "file", "intent", "android-app", "javascript", "data"],
]);

/** The scheme of a link. Throws INVALID_PARAMS for what is none, URL_DENIED for a scheme that is never opened. */
export function schemeOf(url: string): string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):[^\s\p{Cc}]+$/u.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined)
    throw new DeviceError(
      "INVALID_PARAMS",
      "This is not a link. Give one with its scheme and without blanks, such as https://example.com/a.",
    );
  if (!forbidden.has(scheme)) return scheme;
  throw new DeviceError(
    "URL_DENIED",
    `Links of the scheme ${scheme} are never opened. Give one of http, https, or the app's own scheme.`,
  );
}
