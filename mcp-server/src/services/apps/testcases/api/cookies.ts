import type { CookieJar } from "tough-cookie";
import type { Cookies } from "../../../policy/allowedFetch.ts";

/** A jar of its own for one run, as a browser keeps cookies. Its library is loaded with the first cookie. */
export async function createCookies(): Promise<Cookies> {
  // A package in CommonJS: in a bundle it has a default alone.
  const { default: tough } = await import("tough-cookie");
  return jarred(new tough.CookieJar());
}

const jarred = (jar: CookieJar): Cookies => ({
  for: (url) => jar.getCookieStringSync(url),
  keep(url, setCookies) {
    // A browser passes over a cookie that is not allowed there.
    for (const cookie of setCookies) jar.setCookieSync(cookie, url, { ignoreError: true });
  },
});
