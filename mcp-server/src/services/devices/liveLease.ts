import type { ToolError } from "../../errors.ts";
import type { Clock, Lease } from "../ports.ts";

/** One lease of this host, with what runs under it. Its end is counted by the clock that does not jump. */
export class LiveLease {
  /** How many calls took it and have not given it up. */
  takes = 1;
  /** When its end was last stored, by the monotonic clock. */
  storedAt: number;
  private lease: Lease;
  private ends: number;
  private users = 0;
  private readonly control = new AbortController();
  private readonly whenQuiet: (() => void)[] = [];
  private readonly clock: Clock;

  constructor(lease: Lease, lastsMs: number, clock: Clock) {
    this.lease = lease;
    this.clock = clock;
    this.storedAt = clock.monotonic();
    this.ends = this.storedAt + lastsMs;
  }

  /** By the wall clock, also after it was set. */
  get view(): Lease {
    const left = this.ends - this.clock.monotonic();
    return { ...this.lease, expires_at: new Date(this.clock.now() + left).toISOString() };
  }

  get isLiving(): boolean {
    return !this.control.signal.aborted && this.clock.monotonic() < this.ends;
  }

  /** Why it was ended; undefined while it lives and for one that expired. */
  get reason(): unknown {
    return this.control.signal.reason;
  }

  get isUsed(): boolean {
    return this.users > 0;
  }

  prolong(lastsMs: number): void {
    this.ends = this.clock.monotonic() + lastsMs;
  }

  /** An implicit lease becomes a full one, never the other way. */
  makeExplicit(): void {
    this.lease = { ...this.lease, implicit: false };
  }

  /** Counts a user until `done`. `lost` aborts with the reason when the lease ends. */
  use(): { lost: AbortSignal; done(): void } {
    this.users += 1;
    let isOver = false;
    const done = () => {
      if (isOver) return;
      isOver = true;
      this.users -= 1;
      if (this.users === 0) for (const resolve of this.whenQuiet.splice(0)) resolve();
    };
    return { lost: this.control.signal, done };
  }

  /** Ends it: stops what runs under it, and returns when all of that has stopped, or after `mostMs`. */
  async end(reason: ToolError, mostMs: number): Promise<void> {
    this.control.abort(reason);
    if (this.users === 0) return;
    let stopTimer = () => {};
    await new Promise<void>((resolve) => {
      this.whenQuiet.push(resolve);
      stopTimer = this.clock.setTimeout(resolve, mostMs);
    });
    stopTimer();
  }
}
