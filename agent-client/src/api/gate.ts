import type { HttpBindings } from "@hono/node-server";
import type { Context, MiddlewareHandler } from "hono";
import { bearerOf, createIdentify, type Identify, type Principal } from "./credentials.ts";
import type { ApiDeps } from "./deps.ts";
import { createRateLimit, type RateLimit } from "./rateLimit.ts";

/** Who asks, and how often: one for all doors, so that they count together. */
export type Gate = { identify: Identify; limit: RateLimit };

export type ApiEnv = { Variables: { principal: Principal } };

/** Throws CONFIG_INVALID for settings that would let anybody in. */
export const createGate = (deps: ApiDeps): Gate => ({
  identify: createIdentify(deps),
  limit: createRateLimit(deps.settings.requests_per_minute),
});

/** Lets in who has credentials, as often as it may. */
export function guard({ identify, limit }: Gate): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const principal = await identify(bearerOf(c.req.header("authorization")));
    const headers = await limit(`owner:${principal.owner}`);
    c.set("principal", principal);
    await next();
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
  };
}

/** For a door without credentials: each address as often as it may, each door for itself. */
export function limitAddress(door: string, { limit }: Gate): MiddlewareHandler {
  return async (c, next) => {
    await limit(`${door}:${addressOf(c)}`);
    await next();
  };
}

function addressOf(c: Context): string {
  const env: unknown = c.env;
  return isNode(env) ? (env.incoming.socket.remoteAddress ?? "") : "";
}

const isNode = (env: unknown): env is HttpBindings =>
  typeof env === "object" && env !== null && "incoming" in env;
