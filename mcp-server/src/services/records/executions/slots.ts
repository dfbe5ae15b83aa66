/** At most so many are taken at the same time; who waits for one gets it in turn. */
export class Slots {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];
  /** From hand to hand, so that nobody who comes later is before who waits. */
  private readonly giveBack = () => {
    const next = this.waiting.shift();
    if (next) next();
    else this.taken -= 1;
  };

  constructor(readonly most: number) {}

  /** The function that gives it back, to be called once; undefined when none is free. */
  takeNow(): (() => void) | undefined {
    if (this.taken >= this.most) return undefined;
    this.taken += 1;
    return this.giveBack;
  }

  /** Waits for one. Without one, gives a function that does nothing, as soon as `signal` aborts. */
  take(signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve) => {
      const now = this.takeNow();
      if (now) return resolve(now);
      if (signal.aborted) return resolve(() => {});
      const got = () => {
        signal.removeEventListener("abort", stop);
        resolve(this.giveBack);
      };
      const stop = () => {
        this.waiting.splice(this.waiting.indexOf(got), 1);
        resolve(() => {});
      };
      this.waiting.push(got);
      signal.addEventListener("abort", stop, { once: true });
    });
  }
}
