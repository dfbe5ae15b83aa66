import { AgentError } from "@labwright/agent-client";
import type { Context, MiddlewareHandler } from "hono";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { nodeBindings } from "../../server/nodeBindings.ts";
import { bearerOf, createIdentify, type Identify, type Principal } from "./credentials.ts";
import type { ApiDeps } from "./deps.ts";
import { rateHeaders } from "./errors.ts";

/** Counts a request of `who`. Gives the headers that tell how many are left; throws RATE_LIMITED. */
type RateLimit = (who: string) => Promise<Readonly<Record<string, string>>>;
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

/** For a door without credentials: each address as often as it may. */
export function limitAddress({ limit }: Gate): MiddlewareHandler {
  return async (c, next) => {
    await limit(`address:${addressOf(c)}`);
    await next();
  };
}

const addressOf = (c: Context): string => nodeBindings(c.env)?.incoming.socket.remoteAddress ?? "";

function createRateLimit(perMinute: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (who) => {
    try {
      const state = await limiter.consume(who);
      return rateHeaders(perMinute, Math.max(0, state.remainingPoints), secondsUntil(state));
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      throw new AgentError(
        "RATE_LIMITED",
        `More than ${perMinute} requests came within a minute.`,
        "Wait as long as `retry_after_seconds` says, or raise agents.api.requests_per_minute.",
        { retry_after_seconds: secondsUntil(error), limit_per_minute: perMinute },
      );
    }
  };
}

const secondsUntil = (state: RateLimiterRes): number => Math.max(1, Math.ceil(state.msBeforeNext / 1_000));
