import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../services/index.ts";

/** How long the address of a picture in the page is good, in ms. */
export const pictureMs = 3_600_000;
/** How long a link that a person gets in a result is good, in ms. */
const linkMs = 24 * 3_600_000;

const signable = /^\/api\/v1\/(artifacts\/[0-9a-f]{64}|devices\/.+\/(live|recent\/\d+))$/;

export type Addresses = {
  /**
   * The path with its end and signature as a query: whoever has it may read this one path, without a token, for `lifeMs`. Throws
   * for a path that is neither a file nor a picture of a device.
   */
  sign(path: string, lifeMs: number): string;
  /** The same as a whole address on this machine, of a file by its `artifact://` URI. Undefined for another URI. */
  linkTo(uri: string): string | undefined;
  isSigned(url: URL): boolean;
};

/** Signs with a key of this process; `port` is that of loopback. */
export function createAddresses(clock: Pick<Clock, "now">, port: () => number): Addresses {
  const key = randomBytes(32);
  const signatureOf = (path: string, until: string) =>
    createHmac("sha256", key).update(`${until} ${path}`).digest().subarray(0, 16);

  function sign(path: string, lifeMs: number): string {
    const { pathname } = new URL(path, "http://127.0.0.1");
    if (!signable.test(pathname)) throw new Error(`${path} cannot be signed.`);
    const until = Math.ceil((clock.now() + lifeMs) / 1_000).toString(36);
    return `${pathname}?until=${until}&by=${signatureOf(pathname, until).toString("base64url")}`;
  }

  return {
    sign,
    linkTo(uri) {
      const sha256 = /^artifact:\/\/([0-9a-f]{64})$/.exec(uri)?.[1];
      return sha256 && `http://127.0.0.1:${port()}${sign(`/api/v1/artifacts/${sha256}`, linkMs)}`;
    },
    isSigned({ pathname, searchParams }) {
      const until = searchParams.get("until") ?? "";
      const given = Buffer.from(searchParams.get("by") ?? "", "base64url");
      const expected = signatureOf(pathname, until);
      if (!signable.test(pathname) || given.length !== expected.length) return false;
      return timingSafeEqual(given, expected) && Number.parseInt(until, 36) * 1_000 > clock.now();
    },
  };
}
