import { type Controller, DeviceError, untilAborted } from "@labwright/controllers";
import type { Clock } from "../ports.ts";

/** How long a controller may take to open whose driver says nothing else. */
const usualOpenMs = 20_000;
/** What an opening that is over, and the closing behind it, may still take before they are left behind. */
const endMs = 3_000;
/** Until a controller that failed is tried again: doubled with each failure. */
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

type Failure = { error: unknown; retryAt: number };

export class Opening {
  private running: { done: Promise<void>; control: AbortController } | undefined;
  private ending: Promise<void> = Promise.resolve();
  private failures = 0;
  private failure: Failure | undefined;
  private opened = false;

  constructor(
    readonly controller: Controller,
    private readonly clock: Pick<Clock, "monotonic" | "setTimeout">,
    private readonly openMs = usualOpenMs,
  ) {}

  /** True from a successful opening until it is closed or opened in vain; its connection may have died since. */
  isOpen(): boolean {
    return this.opened;
  }

  isWell(): boolean {
    return this.opened && this.controller.isAlive() && this.controller.isDoubted?.() !== true;
  }

  isRunning(): boolean {
    return this.running !== undefined;
  }

  failed(): { error: unknown } | undefined {
    return this.failure;
  }

  /** Begins to open it, unless it is well, is being opened, or failed a moment ago. `now`: however lately it failed. */
  begin({ now = false } = {}): void {
    if (this.running || this.isWell()) return;
    if (this.failure && !now && this.clock.monotonic() < this.failure.retryAt) return;
    const control = new AbortController();
    this.running = { control, done: this.attempt(control).finally(() => (this.running = undefined)) };
  }

  /** Settles when what was begun is over; says whether the controller is open then. */
  async settled(): Promise<boolean> {
    await this.running?.done;
    return this.opened;
  }

  /** Ends an opening under way, which does not count as a failure. */
  cancel(): void {
    this.running?.control.abort(new Error("No call waits for it any more."));
  }

  async close(): Promise<void> {
    this.cancel();
    await this.running?.done;
    await this.ending;
    this.opened = false;
    this.failure = undefined;
    this.failures = 0;
    await this.controller.close().catch(() => undefined);
  }

  /** Never rejects. */
  private async attempt(control: AbortController): Promise<void> {
    await this.ending;
    const { signal } = control;
    const { driver } = this.controller;
    const stopTimer = this.clock.setTimeout(() => {
      const reason = `${driver} did not open within ${this.openMs / 1_000} s.`;
      control.abort(new DeviceError("CONTROLLER_UNAVAILABLE", reason));
    }, this.openMs);
    const work = (async () => this.controller.open(signal))();
    try {
      await untilAborted(work, signal);
      signal.throwIfAborted();
      this.opened = true;
      this.failure = undefined;
      this.failures = 0;
    } catch (error) {
      this.opened = false;
      this.ending = this.abandon(work);
      const isCancelled = signal.aborted && !(signal.reason instanceof DeviceError);
      if (!isCancelled) this.noteFailure(error);
    } finally {
      stopTimer();
    }
  }

  private noteFailure(error: unknown): void {
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.failures);
    this.failures += 1;
    this.failure = { error, retryAt: this.clock.monotonic() + pauseMs };
  }

  /** Ends what an opening in vain has started, also when that goes on for longer than it should. */
  private async abandon(work: Promise<void>): Promise<void> {
    const ended = work.catch(() => undefined);
    const close = () => this.controller.close().catch(() => undefined);
    const isOver = await this.endsSoon(ended);
    await this.endsSoon(close());
    if (isOver) return;
    void ended.then(() => (this.opened || this.running ? undefined : close()));
  }

  private endsSoon(work: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve) => {
      const stopTimer = this.clock.setTimeout(() => resolve(false), endMs);
      void work.then(() => {
        stopTimer();
        resolve(true);
      });
    });
  }
}
