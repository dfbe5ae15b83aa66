import type { Controller } from "../contract.ts";

/** A device that is closed gets so long to take its settings back. */
const leaveMs = 5_000;

type Restore = (signal: AbortSignal) => Promise<unknown>;
type Life = Pick<Controller, "open" | "close"> & { isAlive(): boolean; isDoubted(): boolean };

/** What a client has set of a device that the next one shall not find. */
export class Changes {
  /** By what is set, oldest first. */
  readonly #restoring = new Map<string, Restore>();
  #isDue = false;

  /** Only what was there before the first change counts. */
  remember(name: string, restore: Restore): void {
    if (!this.#restoring.has(name)) this.#restoring.set(name, restore);
  }

  /** Another client drives from here on: the next `open` sets everything back. */
  handOver(): void {
    this.#isDue = this.#restoring.size > 0;
  }

  /** The same life of a controller, in which changes are set back when another client opens it and when it is closed. */
  within<T extends Life>(life: T): T {
    return {
      ...life,
      open: async (signal: AbortSignal) => {
        await life.open(signal);
        if (this.#isDue) await this.#undo(signal);
      },
      close: async () => {
        if (life.isAlive()) await this.#undo(AbortSignal.timeout(leaveMs)).catch(() => undefined);
        await life.close();
      },
      isDoubted: () => this.#isDue || life.isDoubted(),
    };
  }

  /** The latest change first. What the device refuses now it refuses later too, so it is tried once. */
  async #undo(signal: AbortSignal): Promise<void> {
    const restoring = [...this.#restoring.values()].reverse();
    this.#restoring.clear();
    this.#isDue = false;
    for (const restore of restoring) await restore(signal);
  }
}
