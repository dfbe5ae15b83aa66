import type { InpageDom } from "./dom.ts";
import { native } from "./native.ts";

type Expected = {
  element: Element;
  presses: number;
  isBlocking: boolean;
  at: number;
  taken: number;
  by: Element | null;
  /** Where the pointer was last, in CSS pixels of the view. */
  pointer: { x: number; y: number } | undefined;
};

/** Knows which element the browser gives the presses of a mouse to. Runs inside the page. */
export class InpageReceiver {
  private expected: Expected | undefined;

  constructor(private readonly dom: InpageDom) {}

  /** A press that is sent later than this is another one. */
  private readonly expiresMs = 2_000;
  private readonly types = ["pointermove", "pointerdown", "mousedown", "pointerup", "mouseup", "click"];

  /**
   * Expects so many presses on the element. With `isBlocking` the page hears nothing of a press that another element is about
   * to receive, so that it can be tried again.
   */
  expect(element: Element, presses: number, isBlocking: boolean): void {
    this.stop();
    this.expected = {
      element,
      presses,
      isBlocking,
      at: performance.now(),
      taken: 0,
      by: null,
      pointer: undefined,
    };
    for (const type of this.types) globalThis.addEventListener(type, this.hear, { capture: true });
  }

  /** The element that received a press in place of the expected one; null where none did, or it cannot be told. */
  end(): Element | null {
    const expected = this.expected;
    this.stop();
    if (!expected || expected.taken >= expected.presses || !native.isConnected(expected.element)) return null;
    return expected.by ?? this.above(expected);
  }

  /** Playwright keeps a press to itself that something else was about to receive: that still lies under the pointer. */
  private above({ element, taken, pointer }: Expected): Element | null {
    if (taken > 0 || !pointer) return null;
    const hit = this.dom.hit(pointer);
    for (let at = hit ?? undefined; at; at = this.dom.parent(at)) if (at === element) return null;
    return hit;
  }

  private stop(): void {
    for (const type of this.types) globalThis.removeEventListener(type, this.hear, { capture: true });
    this.expected = undefined;
  }

  private readonly hear = (event: Event): void => {
    const { expected } = this;
    if (!expected || !event.isTrusted || !(event instanceof MouseEvent)) return;
    if (event.type === "pointermove") {
      expected.pointer = { x: event.clientX, y: event.clientY };
      return;
    }
    // The time at which it was sent, however long the page was busy since.
    if (expected.isBlocking && event.timeStamp - expected.at > this.expiresMs) {
      this.stop();
      return;
    }
    // Before the button is known to be down, a pointer is: it decides who receives the press.
    if (event.type === "pointerdown") this.decide(expected, event.composedPath());
    if (!expected.isBlocking || expected.by === null) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  private decide(expected: Expected, path: readonly EventTarget[]): void {
    const [first] = path;
    if (path.includes(expected.element)) expected.taken++;
    else if (first instanceof Element) expected.by ??= first;
  }
}
