import { untilAborted } from "./deadlines.ts";

type Current<T> = { result: Promise<T>; control: AbortController; waiting: number };

/**
 * Work that several callers wait for at once. A caller that is cancelled leaves alone; the work itself is cancelled when
 * the last caller has left. A failure is thrown to all that wait, and the next caller begins anew.
 */
export class SharedWork<T> {
  #current: Current<T> | undefined;

  async join(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    while (this.#current?.control.signal.aborted === true) {
      await untilAborted(
        this.#current.result.catch(() => undefined),
        signal,
      );
    }
    this.#current ??= this.#begin(work);
    const current = this.#current;
    current.waiting++;
    try {
      return await untilAborted(current.result, signal);
    } finally {
      current.waiting--;
      if (current.waiting === 0) current.control.abort(new Error("No call waits for it any more."));
    }
  }

  /** Resolves when no work is under way, however it ended. */
  async settled(): Promise<void> {
    await this.#current?.result.catch(() => undefined);
  }

  #begin(work: (signal: AbortSignal) => Promise<T>): Current<T> {
    const control = new AbortController();
    const result = work(control.signal).finally(() => {
      this.#current = undefined;
    });
    return { result, control, waiting: 0 };
  }
}
