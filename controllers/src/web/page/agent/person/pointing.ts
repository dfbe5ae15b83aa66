/** Marks the element under the pointer while a person points at one, and keeps the press from the page. */

import { native } from "../tree/native.ts";

export class Pointing {
  #mark: HTMLElement | undefined;

  get isOn(): boolean {
    return this.#mark !== undefined;
  }

  set(on: boolean): void {
    this.#mark?.remove();
    this.#mark = on ? this.#newMark() : undefined;
  }

  follow(element: Element | undefined): void {
    if (!this.#mark || !element) return;
    const { x, y, width, height } = native.getBoundingClientRect(element);
    const { style } = this.#mark;
    style.transform = `translate(${x}px, ${y}px)`;
    style.width = `${width}px`;
    style.height = `${height}px`;
  }

  swallow(event: Event): void {
    if (!this.isOn || !event.isTrusted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** Set by properties: a page's content policy refuses style attributes. */
  #newMark(): HTMLElement {
    const mark = native.createElement("div");
    Object.assign(mark.style, {
      ...{ position: "fixed", left: "0", top: "0", width: "0", height: "0", zIndex: "2147483647" },
      ...{ outline: "3px solid #d4308e", pointerEvents: "none", boxSizing: "border-box" },
    });
    native.documentElement(document).append(mark);
    return mark;
  }
}
