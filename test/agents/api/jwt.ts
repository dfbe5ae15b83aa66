import { createHmac, type KeyObject, sign } from "node:crypto";

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const signingInput = (header: object, claims: object): string => `${part(header)}.${part(claims)}`;

/** A JWT signed with a secret: RFC 7518, section 3.2. */
export function hmacJwt(claims: object, secret: string, header: { alg: "HS256" | "HS512" } & object): string {
  const input = signingInput(header, claims);
  const signature = createHmac(`sha${header.alg.slice(2)}`, secret)
    .update(input)
    .digest("base64url");
  return `${input}.${signature}`;
}

/** A JWT signed with a key of the curve P-256: section 3.4. */
export function ecJwt(claims: object, key: KeyObject, header: object = {}): string {
  const input = signingInput({ ...header, alg: "ES256" }, claims);
  const signature = sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" });
  return `${input}.${signature.toString("base64url")}`;
}

/** A JWT that no one signed: section 3.6. */
export const unsignedJwt = (claims: object): string => `${signingInput({ alg: "none" }, claims)}.`;
