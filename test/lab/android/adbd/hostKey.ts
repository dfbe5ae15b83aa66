import { createPublicKey, type KeyObject, publicDecrypt } from "node:crypto";

/** Bytes of the DigestInfo of SHA-1 (RFC 8017, 9.2): a host signs the token as if it were a digest. */
const sha1Info = Buffer.from("3021300906052b0e03021a05000414", "hex");
const modulusBytes = 256;

/**
 * The key that a host sends: base64 of Android's struct RSAPublicKey (words, n0inv, modulus, rr, exponent; the lowest byte
 * first), then the host's name. Undefined if it is not a key.
 */
export function parseHostKey(text: string): KeyObject | undefined {
  const bytes = Buffer.from(text.split(/[ \0]/, 1)[0] ?? "", "base64");
  if (bytes.length < 8 + 2 * modulusBytes + 4 || bytes.readUInt32LE(0) * 4 !== modulusBytes) return undefined;
  const modulus = Buffer.from(bytes.subarray(8, 8 + modulusBytes)).reverse();
  const exponent = Buffer.alloc(4);
  exponent.writeUInt32BE(bytes.readUInt32LE(8 + 2 * modulusBytes));
  const jwk = { kty: "RSA", n: modulus.toString("base64url"), e: exponent.toString("base64url") };
  return createPublicKey({ key: jwk, format: "jwk" });
}

export function isSignedBy(key: KeyObject, token: Buffer, signature: Buffer): boolean {
  try {
    return publicDecrypt(key, signature).equals(Buffer.concat([sha1Info, token]));
  } catch {
    return false;
  }
}
