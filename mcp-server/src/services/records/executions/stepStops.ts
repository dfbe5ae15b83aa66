import { untilAborted } from "@labwright/controllers";
import type { StepStops } from "../../ports.ts";

/** Stops a run before each step, until `go` is called. */
export class Stepping implements StepStops {
  at: StepStops["at"];
  private count = 0;
  private isFree = false;
  private resume = () => {};
  private readonly whenStopped: (() => void)[] = [];

  /** Returns when the run may make the step. Throws what `signal` aborts with. */
  async before(step: string, signal: AbortSignal): Promise<void> {
    if (this.isFree) return;
    const resumed = new Promise<void>((resolve) => {
      this.resume = resolve;
    });
    this.count += 1;
    this.at = { number: this.count, step };
    for (const resolve of this.whenStopped.splice(0)) resolve();
    await untilAborted(resumed, signal).finally(() => {
      this.at = undefined;
    });
  }

  stopped(): Promise<void> {
    return this.at ? Promise.resolve() : new Promise((resolve) => void this.whenStopped.push(resolve));
  }

  go(way: "next" | "on"): void {
    this.isFree = way === "on";
    // Whoever waits for the next stop from now on does not find this one.
    this.at = undefined;
    this.resume();
  }
}
