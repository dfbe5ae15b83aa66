import type { InpageDom } from "../tree/dom.ts";
import { native } from "../tree/native.ts";

/** Texts of one element that a user could read. */
type Noted = { element: WeakRef<Element>; texts: string[] };

/** Notes texts that appear between two looks, since a message may be gone when the page is looked at. Runs inside the page. */
export class InpagePassing {
  /** A message is not longer. */
  private readonly longest = 200;
  /** More changes at a time are no message. */
  private readonly mostDue = 50;
  private readonly mostNoted = 20;
  /** What fades in cannot be read at once: it is asked again in so many frames. */
  private readonly mostFrames = 20;
  private readonly mostTold = 3;
  private due = new Map<Element, number>();
  private noted: Noted[] = [];
  private isAsking = false;
  private readonly observer = new MutationObserver((records) => this.see(records));
  private readonly watched = new WeakSet<Document | ShadowRoot>();

  constructor(private readonly dom: InpageDom) {}

  /** Watches the document, and the shadow roots that this look has walked. */
  watch(): void {
    for (const root of this.dom.walked) {
      if (this.watched.has(root)) continue;
      this.watched.add(root);
      this.observer.observe(root, {
        subtree: true,
        childList: true,
        characterData: true,
        attributeFilter: ["class", "style", "hidden", "open", "aria-hidden"],
      });
    }
  }

  /** The latest texts that were noted since they were last taken and cannot be read now; without those that are known. */
  take(isKnown: (texts: readonly string[]) => boolean): string[] {
    const passed = this.noted.filter(({ element, texts }) => {
      const still = element.deref();
      return !(still && this.textsIn(still).length > 0) && !isKnown(texts);
    });
    this.noted = [];
    const told = new Set(passed.map(({ texts }) => this.dom.cut(this.dom.clean(texts.join(" ")), 120)));
    return [...told].slice(-this.mostTold);
  }

  private see(records: readonly MutationRecord[]): void {
    for (const { type, target, addedNodes } of records) {
      if (this.due.size >= this.mostDue) break;
      for (const node of type === "childList" ? addedNodes : [target]) this.add(node);
    }
    this.askSoon();
  }

  private add(node: Node): void {
    const element = node instanceof Element ? node : native.parentElement(node);
    if (element && this.due.size < this.mostDue) this.due.set(element, this.mostFrames);
  }

  private askSoon(): void {
    if (this.isAsking || this.due.size === 0) return;
    this.isAsking = true;
    requestAnimationFrame(() => {
      this.isAsking = false;
      this.ask();
      this.askSoon();
    });
  }

  private ask(): void {
    this.dom.begin();
    for (const [element, frames] of [...this.due]) {
      const texts = this.isMessage(element) ? this.textsIn(element) : undefined;
      const isWaitedFor = texts?.length === 0 && frames > 1;
      if (isWaitedFor) this.due.set(element, frames - 1);
      else this.due.delete(element);
      if (texts && texts.length > 0) this.note(element, texts);
    }
  }

  private isMessage(element: Element): boolean {
    const holder = native.shadowRoot(element) ?? element;
    const said = native.isConnected(element) ? (native.textContent(holder) ?? "").trim() : "";
    return said !== "" && said.length <= this.longest;
  }

  private note(element: Element, texts: string[]): void {
    this.noted.push({ element: new WeakRef(element), texts });
    if (this.noted.length > this.mostNoted) this.noted.shift();
  }

  /** The texts in an element that can be read now. */
  private textsIn(element: Element): string[] {
    if (!native.isConnected(element) || !this.dom.rendered(element) || this.dom.veiled(element)) return [];
    return this.dom.children(element).flatMap((child) => {
      if (child instanceof Element) return this.textsIn(child);
      const text =
        native.nodeType(child) === Node.TEXT_NODE ? this.dom.clean(native.nodeValue(child) ?? "") : "";
      return /[\p{L}\p{N}]/u.test(text) && this.dom.legible(element, [child]) ? [text] : [];
    });
  }
}
