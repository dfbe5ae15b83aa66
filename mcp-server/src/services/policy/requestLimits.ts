import { ToolError } from "../../errors.ts";

export type RequestLimits = {
  /** Counts a request to a host (with its port) and waits until it may go out. Throws RATE_LIMITED when the signal ends the wait. */
  take(host: string, signal: AbortSignal): Promise<void>;
};

const requestLimitSetting = "limits.requests_per_host_minute";

/** In windows of 10 s, so that what waits goes out before most requests give up. A small limit allows its burst. */
export const limitPerMinute = (requests: number): RequestLimits =>
  requests < 60
    ? createRequestLimits(requests, 60_000)
    : createRequestLimits(Math.floor(requests / 6), 10_000);

/** `requests` to each host in every `windowMs`; whole seconds. */
export function createRequestLimits(requests: number, windowMs: number): RequestLimits {
  const loading = loadLimiter(requests, windowMs / 1_000);
  return {
    async take(host, signal) {
      const consume = await loading();
      for (;;) {
        const waitMs = await consume(host);
        if (waitMs === undefined) return;
        if (!(await waited(waitMs, signal))) throw limited(host, requests, windowMs, waitMs);
      }
    },
  };
}

/** Returns the milliseconds until a request may be tried again; undefined if it may go out now. */
type Consume = (host: string) => Promise<number | undefined>;

function loadLimiter(points: number, duration: number): () => Promise<Consume> {
  let loaded: Promise<Consume> | undefined;
  const load = async (): Promise<Consume> => {
    // Loaded when used. It is a package in CommonJS: in a bundle it has only a default export.
    const { default: limiters } = await import("rate-limiter-flexible");
    const limiter = new limiters.RateLimiterMemory({ points, duration });
    return async (host) => {
      try {
        await limiter.consume(host);
        return undefined;
      } catch (refusal) {
        if (!(refusal instanceof limiters.RateLimiterRes)) throw refusal;
        return Math.max(1, refusal.msBeforeNext);
      }
    };
  };
  return () => {
    loaded ??= load();
    return loaded;
  };
}

function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (isOver: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve(isOver);
    };
    const stop = () => end(false);
    const timer = setTimeout(() => end(true), ms);
    signal.addEventListener("abort", stop);
  });
}

const limited = (host: string, requests: number, windowMs: number, waitMs: number) =>
  new ToolError(
    "RATE_LIMITED",
    `The request to ${host} was not sent: ${requests} requests were sent there within ${windowMs / 1_000} s, and its time was over before the next one was allowed.`,
    `Send fewer requests, allow more time, or raise ${requestLimitSetting} in labwright.yaml.`,
    { host, setting: requestLimitSetting, limit: requests, retry_after_ms: waitMs },
  );
