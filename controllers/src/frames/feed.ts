import type { Picture, Wanted } from "./picture.ts";
import type { Reader } from "./reader.ts";

/** Frames of one format that are converted at the same time: a hiccup of the machine loses none, and memory stays bounded. */
const mostInWork = 4;

type Order = { picture: Picture; readers: readonly Reader[] };

/** The readers of one format. Its frames are converted side by side and given out in order. */
export class Feed {
  readonly readers = new Set<Reader>();
  readonly #wanted: Wanted;
  #inWork = 0;
  #waiting: Order | undefined;
  #given: Promise<void> = Promise.resolve();

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  offer(picture: Picture): void {
    const { presentedMs } = picture.frame;
    const readers = [...this.readers].filter((reader) => reader.wants(presentedMs));
    if (readers.length === 0) return;
    if (this.#inWork < mostInWork) {
      this.#begin({ picture, readers });
      return;
    }
    if (this.#waiting) lose(this.#waiting);
    this.#waiting = { picture, readers };
  }

  #begin(order: Order): void {
    this.#inWork++;
    const converted = order.picture.as(this.#wanted);
    const before = this.#given;
    this.#given = this.#giveOut(order, converted, before);
  }

  async #giveOut(order: Order, converted: ReturnType<Picture["as"]>, before: Promise<void>): Promise<void> {
    const frame = await converted.catch(() => undefined);
    await before;
    // A damaged frame is dropped.
    if (!frame) lose(order);
    else for (const reader of order.readers) reader.give(frame);
    this.#inWork--;
    const next = this.#waiting;
    this.#waiting = undefined;
    if (next) this.#begin(next);
  }
}

function lose({ readers }: Order): void {
  for (const reader of readers) reader.dropped++;
}
