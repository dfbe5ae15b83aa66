import { createHash, timingSafeEqual } from "node:crypto";
import { AgentError } from "@labwright/agent-client";
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from "jose";
import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import { jwtOwnerPrefix } from "../../config/agents.ts";
import { nodeBindings } from "../../server/http/listen.ts";
import { ownOwner } from "../store.ts";
import type { ApiDeps } from "./deps.ts";

/** Checks who asks and how often. REST and Socket.IO share one, so that their requests count together. */
export type Gate = {
  /** Counts the request too. `address` is the caller's; wrong credentials from there are limited: RATE_LIMITED. */
  admit(token: string | undefined, address: string | undefined): Promise<Principal>;
  /** Counts a request of `owner`. Throws RATE_LIMITED. */
  limit(owner: string): Promise<void>;
  /** Counts a request that needs no credentials. Throws RATE_LIMITED. */
  limitAddress(address: string | undefined): Promise<void>;
};
export type ApiEnv = { Variables: { principal: Principal } };

/** Throws CONFIG_INVALID for a secret of JWT that would let anyone in. */
export function createGate(deps: ApiDeps): Gate {
  const identify = createIdentify(deps);
  const { requests_per_minute: points } = deps.settings;
  const refusal = {
    message: `More than ${points} requests came within a minute.`,
    hint: "Wait as long as `retry_after_seconds` says, or raise agents.api.requests_per_minute.",
  };
  const limit = limitPerMinute(points, refusal);
  const limitAddress = perAddress(limitPerMinute(points, refusal));
  const countWrong = perAddress(
    limitPerMinute(mostWrong, {
      message: `More than ${mostWrong} requests with wrong credentials came from this address within a minute.`,
      hint: "Correct the key or token. Requests with valid credentials are still served.",
    }),
  );
  return {
    async admit(token, address) {
      const principal = await identify(token).catch(async (error: unknown) => {
        if (token && error instanceof AgentError && error.code === "UNAUTHORIZED") await countWrong(address);
        throw error;
      });
      await limit(principal.owner);
      return principal;
    },
    limit,
    limitAddress,
  };
}

/** Requests with wrong credentials that an address may send in a minute. */
const mostWrong = 20;

function limitPerMinute(points: number, { message, hint }: { message: string; hint: string }) {
  const limiter = new RateLimiterMemory({ points, duration: 60 });
  return async (key: string): Promise<void> => {
    await limiter.consume(key).catch(({ msBeforeNext }: RateLimiterRes) => {
      const retry_after_seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
      throw new AgentError("RATE_LIMITED", message, hint, { retry_after_seconds });
    });
  };
}

/** Addresses that are counted apart; further ones share a count, so that many addresses do not fill the memory. */
const mostAddresses = 10_000;

function perAddress(limit: (key: string) => Promise<void>) {
  let known = new Set<string>();
  let since = 0;
  return (address = ""): Promise<void> => {
    const now = performance.now();
    if (now - since > 60_000) [known, since] = [new Set(), now];
    const network = networkOf(address);
    if (known.size < mostAddresses) known.add(network);
    return limit(known.has(network) ? network : "others");
  };
}

/** An IPv6 address without its last 64 bits: one host may use all of them. */
function networkOf(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address;
  const [head = [], tail = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail].slice(0, 4).join(":");
}

/** Lets in who has credentials, as often as it may. */
export function guard({ admit }: Gate): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const [, token] = /^bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
    c.set("principal", await admit(token, addressOf(c)));
    await next();
  };
}

export const addressOf = (c: Context): string | undefined =>
  nodeBindings(c.env)?.incoming.socket.remoteAddress;

/** Refuses a larger body with INPUT_TOO_LARGE. */
export const limitBody = (maxBytes: number): MiddlewareHandler =>
  bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new AgentError("INPUT_TOO_LARGE", `At most ${maxBytes} bytes are taken here.`, "Send less.");
    },
  });

/** Whose request it is. `expiresAt`: when the credentials end, in milliseconds since 1970. */
export type Principal = { owner: string; isLocal: boolean; expiresAt?: number };

/** Returns the principal of a bearer token. Throws UNAUTHORIZED; SERVER_UNREACHABLE when a JWKS cannot be had. */
type Identify = (token: string | undefined) => Promise<Principal>;

export const isOver = ({ expiresAt }: Principal, clock: ApiDeps["clock"]): boolean =>
  expiresAt !== undefined && clock.now() >= expiresAt;

const minSecretBytes = 32;
const publicKeyAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

/** Throws CONFIG_INVALID when the variable of `jwt.secret_env` holds no secret that keeps strangers out. */
function createIdentify(deps: ApiDeps): Identify {
  const keys = deps.settings.keys.map(({ owner, sha256: hex }) => ({ owner, hash: Buffer.from(hex, "hex") }));
  const identifyJwt = deps.settings.jwt && jwtIdentify(deps.settings.jwt, deps);
  return async (token) => {
    if (token === undefined || token === "") throw unauthorized("No credentials came with the request.");
    const hash = sha256(token);
    if (timingSafeEqual(hash, sha256(deps.ownerToken))) return { owner: ownOwner, isLocal: true };
    const key = keys.find((entry) => timingSafeEqual(entry.hash, hash));
    if (key) return { owner: key.owner, isLocal: false };
    if (identifyJwt && token.split(".").length === 3) return identifyJwt(token);
    throw unauthorized("These credentials are not known here.");
  };
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

const unauthorized = (message: string): AgentError =>
  new AgentError(
    "UNAUTHORIZED",
    message,
    "Send `Authorization: Bearer <token>`: the daemon's token of daemon.json, an API key of agents.api.keys, or a JWT.",
  );

function jwtIdentify(
  { secret_env, jwks_url, issuer, audience }: NonNullable<ApiDeps["settings"]["jwt"]>,
  { clock, env }: Pick<ApiDeps, "clock" | "env">,
): Identify {
  const secret = secret_env === undefined ? undefined : secretOf(secret_env, env);
  const remote =
    jwks_url === undefined ? undefined : createRemoteJWKSet(new URL(jwks_url), { timeoutDuration: 5_000 });
  // A secret serves HS256 alone, and public keys never do: else a public key could be taken for a secret.
  const keyFor: JWTVerifyGetKey = (header, token) => {
    if (header.alg === "HS256" && secret) return secret;
    if (remote) return remote(header, token);
    throw unauthorized("This JWT is signed in a way that is not accepted here.");
  };
  return async (token = "") => {
    const { payload } = await jwtVerify(token, keyFor, {
      algorithms: [...(secret ? ["HS256"] : []), ...(remote ? publicKeyAlgorithms : [])],
      requiredClaims: ["exp", "sub"],
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
      currentDate: new Date(clock.now()),
    }).catch(refuseJwt);
    const { sub = "", exp = 0 } = payload;
    if (!/^\S.{0,199}$/.test(sub)) throw unauthorized("This JWT names no user.");
    // Whoever issues tokens must not be able to grant the rights of a key's owner, or of this machine's.
    return { owner: jwtOwnerPrefix + sub, isLocal: false, expiresAt: exp * 1_000 };
  };
}

function refuseJwt(error: unknown): never {
  if (error instanceof AgentError) throw error;
  const isTokens = /^ERR_(JWT|JWS|JOSE_ALG|JOSE_NOT_SUPPORTED|JWKS_NO_MATCHING|JWKS_MULTIPLE)/;
  if (error instanceof errors.JOSEError && isTokens.test(error.code))
    throw unauthorized(`This JWT is not valid here: ${error.message}.`);
  throw new AgentError("SERVER_UNREACHABLE", "agents.api.jwt.jwks_url gives no keys.", "Try again later.");
}

function secretOf(variable: string, env: ApiDeps["env"]): Uint8Array {
  const secret = new TextEncoder().encode(env[variable] ?? "");
  if (secret.length >= minSecretBytes) return secret;
  throw new AgentError(
    "CONFIG_INVALID",
    `agents.api.jwt.secret_env names ${variable}, which has no secret of ${minSecretBytes} bytes or more.`,
    "Set that variable to a long random text, such as 64 hexadecimal digits.",
  );
}
