import type { Frame } from "playwright-core";
import { Refs } from "../../elements/refs.ts";

/** The refs of a device, shared by looks, commands and checks, and the prefix of each frame's: `f2`, empty for the page itself. */
export class ElementsMemory {
  readonly refs = new Refs();
  readonly #frames = new WeakMap<Frame, number>();
  #numbered = 0;

  prefix(frame: Frame): string {
    if (!frame.parentFrame()) return "";
    const number = this.#frames.get(frame) ?? ++this.#numbered;
    this.#frames.set(frame, number);
    return `f${number}`;
  }
}
