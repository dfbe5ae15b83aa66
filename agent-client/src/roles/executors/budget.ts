import type { Constraints } from "../../messages/envelope.ts";
import type { StatusCode } from "../../messages/status.ts";
import type { Clock } from "../../ports.ts";

const minute = 60_000;

/** What a request may still use: time, cost and retries. */
export class Budget {
  /** TIMEOUT or BUDGET_EXCEEDED by the first limit that was crossed, which is the status of the whole. */
  crossed: StatusCode | undefined;
  retriesLeft: number;
  private readonly start: number;

  constructor(
    private readonly limits: Constraints,
    private readonly clock: Pick<Clock, "now">,
  ) {
    this.start = clock.now();
    this.retriesLeft = limits.max_retries ?? 0;
  }

  get usedMs(): number {
    return this.clock.now() - this.start;
  }

  get costUsd(): number {
    return (this.usedMs / minute) * (this.limits.cost_per_minute ?? 0);
  }

  /** Milliseconds until the nearer of the limits of time and cost; 0 or less when it is reached, which is noted. */
  leftMs(): number {
    const unlimited = Number.POSITIVE_INFINITY;
    const { max_execution_time: time = unlimited, max_cost = unlimited, cost_per_minute } = this.limits;
    const affordable = cost_per_minute ? (max_cost / cost_per_minute) * minute : unlimited;
    const left = Math.min(time, affordable) - this.usedMs;
    if (left <= 0) this.crossed ??= affordable < time ? "BUDGET_EXCEEDED" : "TIMEOUT";
    return left;
  }

  /**
   * Counts the retries of a case. One that failed, wanted a retry and found none left has an unconfirmed verdict: a limit
   * was crossed.
   */
  useRetries(count: number, isUnconfirmed: boolean): void {
    this.retriesLeft = Math.max(0, this.retriesLeft - count);
    if (isUnconfirmed && this.limits.max_retries) this.crossed ??= "BUDGET_EXCEEDED";
  }
}
