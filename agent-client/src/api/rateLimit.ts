import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { AgentError } from "../errors.ts";
import { rateHeaders } from "./errors.ts";

/** Counts a request of `who`. Gives the headers that tell how many are left; throws RATE_LIMITED. */
export type RateLimit = (who: string) => Promise<Readonly<Record<string, string>>>;

/** So many requests a minute for each, in this process. */
export function createRateLimit(perMinute: number): RateLimit {
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
