import { createHash, timingSafeEqual } from "node:crypto";
import { AgentError } from "@labwright/agent-client";
import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from "jose";
import type { AgentSettings } from "../../config/agents.ts";
import { isLoopback } from "../../config/exposure.ts";
import type { ApiDeps } from "./deps.ts";

/** Whose request it is. `expiresAt`: milliseconds since 1970, for what does not last. */
export type Principal = { owner: string; isLocal: boolean; expiresAt?: number };

/** Tells whose a bearer's token is. Throws UNAUTHORIZED; SERVER_UNREACHABLE when a JWKS cannot be had. */
export type Identify = (token: string | undefined) => Promise<Principal>;

export const isOver = ({ expiresAt }: Principal, clock: ApiDeps["clock"]): boolean =>
  expiresAt !== undefined && clock.now() >= expiresAt;

const localOwner = "local";
const minSecretBytes = 32;
const publicKeyAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

/** Throws CONFIG_INVALID when the settings of JWT cannot keep anybody out. */
export function createIdentify(deps: Pick<ApiDeps, "settings" | "ownerToken" | "clock" | "env">): Identify {
  const keys = deps.settings.keys.map(({ owner, sha256: hex }) => ({ owner, hash: Buffer.from(hex, "hex") }));
  const identifyJwt = deps.settings.jwt && jwtIdentify(deps.settings.jwt, deps);
  return async (token) => {
    if (token === undefined || token === "") throw unauthorized("No credentials came with the request.");
    const hash = sha256(token);
    if (timingSafeEqual(hash, sha256(deps.ownerToken))) return { owner: localOwner, isLocal: true };
    const key = keys.find((entry) => timingSafeEqual(entry.hash, hash));
    if (key) return { owner: key.owner, isLocal: false };
    if (identifyJwt && token.split(".").length === 3) return identifyJwt(token);
    throw unauthorized("These credentials are not known here.");
  };
}

/** The token of an `Authorization: Bearer` header. */
export const bearerOf = (header: string | undefined): string | undefined =>
  /^bearer +(\S+)$/i.exec(header ?? "")?.[1];

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

const unauthorized = (message: string): AgentError =>
  new AgentError(
    "UNAUTHORIZED",
    message,
    "Send `Authorization: Bearer <token>`: the daemon's token of daemon.json, an API key of agents.api.keys, or a JWT.",
  );

type JwtSettings = NonNullable<AgentSettings["api"]["jwt"]>;

function jwtIdentify(
  settings: JwtSettings,
  deps: Pick<ApiDeps, "clock" | "env">,
): (token: string) => Promise<Principal> {
  const secret = secretOf(settings, deps.env);
  const remote = remoteKeys(settings);
  const algorithms = [...(secret ? ["HS256"] : []), ...(remote ? publicKeyAlgorithms : [])];
  // A secret serves HS256 alone, and public keys never do: else a public key could be taken for a secret.
  const keyFor: JWTVerifyGetKey = (header, token) => {
    if (header.alg === "HS256" && secret) return secret;
    if (remote) return remote(header, token);
    throw unauthorized("This JWT is signed in a way that is not accepted here.");
  };
  return async (token) => {
    const { payload } = await jwtVerify(token, keyFor, {
      algorithms,
      requiredClaims: ["exp", "sub"],
      ...(settings.issuer !== undefined && { issuer: settings.issuer }),
      ...(settings.audience !== undefined && { audience: settings.audience }),
      currentDate: new Date(deps.clock.now()),
    }).catch(refuseJwt);
    const { sub = "", exp = 0 } = payload;
    // Whoever issues tokens must not be able to make somebody the owner of this machine.
    if (!/^\S.{0,199}$/.test(sub) || sub === localOwner)
      throw unauthorized("This JWT names nobody to serve.");
    return { owner: sub, isLocal: false, expiresAt: exp * 1_000 };
  };
}

function refuseJwt(error: unknown): never {
  if (error instanceof AgentError) throw error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ERR_JWT_EXPIRED") throw unauthorized("This JWT has expired.");
  const isTokens = /^ERR_(JWT|JWS|JOSE_ALG|JOSE_NOT_SUPPORTED|JWKS_NO_MATCHING|JWKS_MULTIPLE)/.test(code);
  if (isTokens) throw unauthorized("This JWT is not valid here.");
  throw new AgentError(
    "SERVER_UNREACHABLE",
    "The keys that JWTs are checked with cannot be had.",
    "See whether agents.api.jwt.jwks_url answers, then try again.",
  );
}

function secretOf(settings: JwtSettings, env: ApiDeps["env"]): Uint8Array | undefined {
  if (settings.secret_env === undefined) return undefined;
  const secret = new TextEncoder().encode(env[settings.secret_env] ?? "");
  if (secret.length >= minSecretBytes) return secret;
  throw new AgentError(
    "CONFIG_INVALID",
    `agents.api.jwt.secret_env names ${settings.secret_env}, which has no secret of ${minSecretBytes} bytes or more.`,
    "Set that variable to a long random text, such as 64 hexadecimal digits.",
  );
}

function remoteKeys(settings: JwtSettings): ReturnType<typeof createRemoteJWKSet> | undefined {
  if (settings.jwks_url === undefined) {
    if (settings.secret_env !== undefined) return undefined;
    throw new AgentError(
      "CONFIG_INVALID",
      "agents.api.jwt has nothing to check a JWT with.",
      "Set agents.api.jwt.secret_env or agents.api.jwt.jwks_url.",
    );
  }
  const url = new URL(settings.jwks_url);
  const isSafe = url.protocol === "https:" || isLoopback(url.hostname);
  if (isSafe && settings.issuer !== undefined && settings.audience !== undefined) {
    return createRemoteJWKSet(url, { timeoutDuration: 5_000 });
  }
  throw new AgentError(
    "CONFIG_INVALID",
    "agents.api.jwt.jwks_url needs https, and an issuer and an audience beside it.",
    "Without them, a token that was made for another program would be let in here.",
  );
}
