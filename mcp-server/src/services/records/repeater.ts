import type { Clock } from "../ports.ts";

/** A failed look (a database that is away) is repeated after this. */
const retryMs = 60_000;

/** Runs `work` when woken, never twice at once. A wake-up during a run causes one more run. Failures are logged and retried. */
export class Repeater {
  private running: Promise<void> | undefined;
  private again = false;
  private stopped = false;
  private stopRetry = () => {};

  constructor(
    private readonly clock: Clock,
    private readonly work: () => Promise<void>,
    private readonly onFault: (error: unknown) => void,
  ) {}

  wake(): void {
    this.again = true;
    if (!this.running && !this.stopped) this.running = this.run();
  }

  /** Resolves when the work that is under way is done; there is no more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.stopRetry();
    await this.running;
  }

  private async run(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      this.stopRetry();
      await this.work().catch((error: unknown) => this.failed(error));
    }
    this.running = undefined;
  }

  private failed(error: unknown): void {
    this.onFault(error);
    if (!this.stopped) this.stopRetry = this.clock.setTimeout(() => this.wake(), retryMs);
  }
}
