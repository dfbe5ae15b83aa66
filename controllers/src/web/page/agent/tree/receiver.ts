/** Finds out which element receives the presses of a mouse. */
import * as dom from "./dom.ts";
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

let expected: Expected | undefined;

/** A press that is sent later is not the expected one. */
const expiresMs = 2_000;
const types = ["pointermove", "pointerdown", "mousedown", "pointerup", "mouseup", "click"];

/**
 * Expects so many presses on the element. With `isBlocking`, a press that another element is about to receive is kept from the
 * page, so that it can be tried again.
 */
export function expect(element: Element, presses: number, isBlocking: boolean): void {
  stop();
  expected = {
    element,
    presses,
    isBlocking,
    at: performance.now(),
    taken: 0,
    by: null,
    pointer: undefined,
  };
  for (const type of types) window.addEventListener(type, hear, { capture: true });
}

/** The element that received a press in place of the expected one; null if none did, or it is not known. */
export function end(): Element | null {
  const ended = expected;
  stop();
  if (!ended || ended.taken >= ended.presses || !native.isConnected(ended.element)) return null;
  return ended.by ?? above(ended);
}

/** Playwright drops a press that another element was about to receive; that element is still under the pointer. */
function above({ element, taken, pointer }: Expected): Element | null {
  if (taken > 0 || !pointer) return null;
  const hit = dom.hit(pointer);
  return dom.isWithin(hit, element) ? null : hit;
}

function stop(): void {
  for (const type of types) window.removeEventListener(type, hear, { capture: true });
  expected = undefined;
}

function hear(event: Event): void {
  if (!expected || !event.isTrusted || !(event instanceof MouseEvent)) return;
  if (event.type === "pointermove") {
    expected.pointer = { x: event.clientX, y: event.clientY };
    return;
  }
  // `timeStamp` is when the press was sent, however long the page was busy since.
  if (expected.isBlocking && event.timeStamp - expected.at > expiresMs) {
    stop();
    return;
  }
  // `pointerdown` comes before `mousedown` and decides which element receives the press.
  if (event.type === "pointerdown") decide(expected, event.composedPath());
  if (!expected.isBlocking || expected.by === null) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function decide(press: Expected, path: readonly EventTarget[]): void {
  const [first] = path;
  if (path.includes(press.element)) press.taken++;
  else if (first instanceof Element) press.by ??= first;
}
