import type { Controller } from "../contract.ts";

/** How long restoring may take when a device is closed. */
const leaveMs = 5_000;

/** Returns false where it could not restore now, and the device can be used all the same: the next opening tries again. */
type Restore = (signal: AbortSignal) => Promise<unknown>;
type Life = Pick<Controller, "open" | "close" | "isAlive"> & { isDoubted(): boolean };

/** What a client has set on a device, with how to restore it before the next client drives. */
export class Changes {
  readonly #restoring = new Map<string, Restore>();
  #isDue = false;
  readonly #isRefusal: (error: unknown) => boolean;

  /** `isRefusal` returns true for a failure of the device that would come again. */
  constructor(isRefusal: (error: unknown) => boolean = () => false) {
    this.#isRefusal = isRefusal;
  }

  has(name: string): boolean {
    return this.#restoring.has(name);
  }

  /** Only what was there before the first change counts. */
  remember(name: string, restore: Restore): void {
    if (!this.has(name)) this.#restoring.set(name, restore);
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

  /** The latest change first. What the device refuses is tried once; what fails otherwise, again at the next opening. */
  async #undo(signal: AbortSignal): Promise<void> {
    for (const [name, restore] of [...this.#restoring].reverse()) {
      try {
        if ((await restore(signal)) !== false) this.#restoring.delete(name);
      } catch (error) {
        if (this.#isRefusal(error)) this.#restoring.delete(name);
        throw error;
      }
    }
    this.#isDue = this.#restoring.size > 0;
  }
}
