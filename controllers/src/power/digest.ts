import { createHash, randomBytes } from "node:crypto";

type Login = { user: string; password: string };

/**
 * The Authorization header for a challenge of digest access (RFC 7616: SHA-256, or MD5 where the server asks for it; qop auth).
 * Undefined for any other challenge.
 */
export function digestAnswer(challenge: string, method: string, uri: string, login: Login) {
  if (!/^digest /i.test(challenge)) return undefined;
  const parts = [...challenge.matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]+))/g)];
  const asked = new Map(
    parts.map(([, name = "", quoted, bare]) => [name.toLowerCase(), quoted ?? bare ?? ""]),
  );
  const [realm = "", nonce = "", algorithm = "MD5"] = ["realm", "nonce", "algorithm"].map((n) =>
    asked.get(n),
  );
  const hash = /^sha-256$/i.test(algorithm) ? "sha256" : /^md5$/i.test(algorithm) ? "md5" : undefined;
  if (hash === undefined || !asked.get("qop")?.split(/,\s*/).includes("auth")) return undefined;
  const of = (text: string) => createHash(hash).update(text).digest("hex");
  const cnonce = randomBytes(8).toString("hex");
  const count = "00000001";
  const secret = of(`${login.user}:${realm}:${login.password}`);
  const response = of([secret, nonce, count, cnonce, "auth", of(`${method}:${uri}`)].join(":"));
  const opaque = asked.get("opaque");
  return [
    `Digest username="${login.user}", realm="${realm}", nonce="${nonce}", uri="${uri}"`,
    `algorithm=${algorithm}, qop=auth, nc=${count}, cnonce="${cnonce}", response="${response}"`,
    ...(opaque === undefined ? [] : [`opaque="${opaque}"`]),
  ].join(", ");
}
