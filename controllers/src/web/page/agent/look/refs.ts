import { native } from "../tree/native.ts";

/** The refs of elements: one for as long as the element lives, and no number twice. Runs inside the page. */
export class InpageRefs {
  private readonly elements = new Map<string, WeakRef<Element>>();
  private readonly given = new WeakMap<Element, string>();
  private prefix = "";
  /** The number that comes next. */
  next = 1;

  /** Refs from here on begin with `prefix`, and are numbered from `next` or higher. */
  begin(prefix: string, next: number): void {
    this.prefix = prefix;
    this.next = Math.max(this.next, next);
  }

  /** The element of a ref, if it still lives in this document. */
  element(ref: string): Element | undefined {
    const element = this.elements.get(ref)?.deref();
    return element && native.isConnected(element) ? element : undefined;
  }

  of(element: Element): string {
    const known = this.given.get(element);
    if (known) return known;
    const ref = `${this.prefix}e${this.next++}`;
    this.given.set(element, ref);
    this.elements.set(ref, new WeakRef(element));
    return ref;
  }
}
