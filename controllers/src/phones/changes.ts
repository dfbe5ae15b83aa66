import type { Controller } from "../contract.ts";

/** How long restoring may take when a device is closed. */
const leaveMs = 5_000;

/** Returns false where it could not restore now, and the device can be used all the same: the next opening tries again. */
type Restore = (signal: AbortSignal) => Promise<unknown>;
type Life = Pick<Controller, "open" | "close" | "isAlive"> & { isDoubted(): boolean };

/** What a client has set on a device, with how to restore it before the next client drives. */
export class Changes {
  readonly #restoring = new Map<string, Restore>();
  /** The names of changes of an earlier client. */
  #due = new Set<string>();
  readonly #isRefusal: (error: unknown) => boolean;

  /** `isRefusal` returns true for a failure of the device that would come again. */
  constructor(isRefusal: (error: unknown) => boolean = () => false) {
    this.#isRefusal = isRefusal;
  }

  has(name: string): boolean {
    return this.#restoring.has(name);
  }

  /** Keeps the first `restore` of a name: it knows the state before any change. */
  remember(name: string, restore: Restore): void {
    this.#due.delete(name);
    if (!this.has(name)) this.#restoring.set(name, restore);
  }

  /** Another client drives from here on: the next `open` sets everything back. */
  handOver(): void {
    this.#due = new Set(this.#restoring.keys());
  }

  /** The same life of a controller, in which changes are set back when another client opens it and when it is closed. */
  within<T extends Life>(life: T): T {
    return {
      ...life,
      open: async (signal: AbortSignal) => {
        await life.open(signal);
        await this.#undo(this.#due, signal);
      },
      close: async () => {
        if (life.isAlive())
          await this.#undo(this.#restoring.keys(), AbortSignal.timeout(leaveMs)).catch(() => undefined);
        await life.close();
      },
      isDoubted: () => this.#due.size > 0 || life.isDoubted(),
    };
  }

  /** The latest change first. A restore that the device refuses is not tried again; any other failure is. */
  async #undo(names: Iterable<string>, signal: AbortSignal): Promise<void> {
    for (const name of [...names].reverse()) {
      try {
        if ((await this.#restoring.get(name)?.(signal)) !== false) this.#forget(name);
      } catch (error) {
        if (this.#isRefusal(error)) this.#forget(name);
        throw error;
      }
    }
  }

  #forget(name: string): void {
    this.#restoring.delete(name);
    this.#due.delete(name);
  }
}
