/** Refs of elements: each element keeps its own, and no number is used twice. */
import { native } from "../tree/native.ts";

const elements = new Map<string, WeakRef<Element>>();
const given = new WeakMap<Element, string>();
let refPrefix = "";
/** The number that comes next. */
export let nextNumber = 1;

/** New refs begin with `prefix` and are numbered from `next` or higher. */
export function begin(prefix: string, next: number): void {
  refPrefix = prefix;
  nextNumber = Math.max(nextNumber, next);
}

/** The element of a ref, if it is still in this document. */
export function element(ref: string): Element | undefined {
  const element = elements.get(ref)?.deref();
  return element && native.isConnected(element) ? element : undefined;
}

/** Undefined for an element that has no ref yet. */
export const known = (element: Element): string | undefined => given.get(element);

/** To be called after {@link begin}. */
export function of(element: Element): string {
  const before = known(element);
  if (before) return before;
  const ref = `${refPrefix}e${nextNumber++}`;
  given.set(element, ref);
  elements.set(ref, new WeakRef(element));
  return ref;
}
