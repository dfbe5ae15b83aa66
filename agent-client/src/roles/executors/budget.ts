import type { Constraints } from "../../messages/envelope.ts";
import type { StatusCode } from "../../messages/status.ts";
import type { Clock } from "../../ports.ts";

const minute = 60_000;

/** What a request may still use: time, cost and retries. The first limit that it crosses gives the whole its status. */
export class Budget {
  private readonly start: number;
  private retries: number;
  private first: StatusCode | undefined;

  constructor(
    private readonly limits: Constraints,
    private readonly clock: Pick<Clock, "now">,
  ) {
    this.start = clock.now();
    this.retries = limits.max_retries ?? 0;
  }

  /** TIMEOUT or BUDGET_EXCEEDED once a limit was crossed. */
  get crossed(): StatusCode | undefined {
    return this.first;
  }

  get usedMs(): number {
    return this.clock.now() - this.start;
  }

  get costUsd(): number {
    return (this.usedMs / minute) * (this.limits.cost_per_minute ?? 0);
  }

  get retriesLeft(): number {
    return this.retries;
  }

  /** Milliseconds until the nearer of the limits of time and cost; 0 or less when it is reached, which is noted. */
  leftMs(): number {
    const {
      max_execution_time: time = Number.POSITIVE_INFINITY,
      max_cost,
      cost_per_minute: price,
    } = this.limits;
    const affordable =
      max_cost === undefined || !price ? Number.POSITIVE_INFINITY : (max_cost / price) * minute;
    const left = Math.min(time, affordable) - this.usedMs;
    if (left <= 0) this.first ??= affordable < time ? "BUDGET_EXCEEDED" : "TIMEOUT";
    return left;
  }

  useRetries(count: number): void {
    this.retries = Math.max(0, this.retries - count);
  }

  /** A case failed, and the retry that it may have was used up by others: its verdict is not confirmed. */
  missRetry(): void {
    if ((this.limits.max_retries ?? 0) > 0) this.first ??= "BUDGET_EXCEEDED";
  }
}
