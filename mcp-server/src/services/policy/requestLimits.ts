import { setTimeout as pause } from "node:timers/promises";
import { ToolError } from "../../errors.ts";

export type RequestLimits = {
  /** Counts a request to a host (with its port) and waits until it may go out. Throws RATE_LIMITED when the signal ends the wait. */
  take(host: string, signal: AbortSignal): Promise<void>;
};

/** In windows of 10 s, so that what waits goes out before most requests give up. A small limit allows its burst. */
export const limitPerMinute = (requests: number): RequestLimits =>
  requests < 60
    ? createRequestLimits(requests, 60_000)
    : createRequestLimits(Math.floor(requests / 6), 10_000);

/** `requests` to each host in every `windowMs`; whole seconds. */
export function createRequestLimits(requests: number, windowMs: number): RequestLimits {
  let loading: ReturnType<typeof loadLimiter> | undefined;
  return {
    async take(host, signal) {
      loading ??= loadLimiter(requests, windowMs / 1_000);
      const consume = await loading;
      for (let waitMs = await consume(host); waitMs !== undefined; waitMs = await consume(host)) {
        const refusal = limited(host, requests, windowMs, waitMs);
        await pause(waitMs, undefined, { signal }).catch(() => Promise.reject(refusal));
      }
    },
  };
}

/** Counts a request and returns the milliseconds until it may be tried again; undefined if it may go out now. */
async function loadLimiter(points: number, duration: number) {
  // Loaded when used. It is a package in CommonJS: in a bundle it has only a default export.
  const { default: limiters } = await import("rate-limiter-flexible");
  const limiter = new limiters.RateLimiterMemory({ points, duration });
  return async (host: string): Promise<number | undefined> => {
    try {
      await limiter.consume(host);
      return undefined;
    } catch (refusal) {
      if (!(refusal instanceof limiters.RateLimiterRes)) throw refusal;
      return Math.max(1, refusal.msBeforeNext);
    }
  };
}

const limited = (host: string, requests: number, windowMs: number, waitMs: number) =>
  new ToolError(
    "RATE_LIMITED",
    `The request to ${host} was not sent: ${requests} requests were sent there within ${windowMs / 1_000} s, and its time was over before the next one was allowed.`,
    "Send fewer requests, allow more time, or raise limits.requests_per_host_minute in labwright.yaml.",
    { host, limit: requests, retry_after_ms: waitMs },
  );
