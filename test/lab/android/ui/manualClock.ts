import type { Clock } from "../labUi.ts";

/** For tests: time passes only by `advance`. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #waiting = new Set<{ at: number; work: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, work: () => void): () => void {
    const entry = { at: this.#now + ms, work };
    this.#waiting.add(entry);
    return () => this.#waiting.delete(entry);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  pass(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = [...this.#waiting].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#waiting.delete(next);
      this.#now = next.at;
      next.work();
    }
    this.#now = until;
  }
}
