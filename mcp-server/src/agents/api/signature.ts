import { createHmac, timingSafeEqual } from "node:crypto";
import { AgentError } from "@labwright/agent-client";

/** How old a signed delivery may be, and how far ahead the sender's clock. */
const toleranceSeconds = 300;

/**
 * Checks `t=<unix seconds>,v1=<hex>`, an HMAC-SHA-256 of `<t>.<body>`. Gives the signature; throws SIGNATURE_INVALID.
 * `nowMs`: milliseconds since 1970.
 */
export function checkSignature(header: string, body: Uint8Array, secret: string, nowMs: number): string {
  const [, time = "", given = ""] = /^t=(\d{1,12}), ?v1=([\da-f]{64})$/.exec(header.trim()) ?? [];
  if (given === "")
    throw invalid("X-Labwright-Signature is not `t=<unix seconds>,v1=<64 hexadecimal digits>`.");
  const signed = Buffer.concat([Buffer.from(`${time}.`), body]);
  if (!isSame(given, hmac(secret, signed))) throw invalid("The signature does not fit the body.");
  if (Math.abs(nowMs / 1_000 - Number(time)) > toleranceSeconds) {
    throw invalid(`The signature is of another time: at most ${toleranceSeconds} seconds may lie between.`);
  }
  return given;
}

/** Checks GitHub's `sha256=<hex>`, an HMAC-SHA-256 of the body. Gives the signature; throws SIGNATURE_INVALID. */
export function checkGithubSignature(header: string, body: Uint8Array, secret: string): string {
  const given = /^sha256=([\da-f]{64})$/.exec(header.trim())?.[1] ?? "";
  if (isSame(given, hmac(secret, body))) return given;
  throw invalid("X-Hub-Signature-256 does not fit the body.");
}

export const invalid = (message: string): AgentError =>
  new AgentError(
    "SIGNATURE_INVALID",
    message,
    "Sign the raw body with the shared secret: `X-Labwright-Signature: t=<now>,v1=<hex hmac-sha256 of `<now>.<body>`>`, or as a GitHub webhook does.",
  );

const hmac = (secret: string, body: Uint8Array): string =>
  createHmac("sha256", secret).update(body).digest("hex");

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
