/** Notes texts that appear between two snapshots, since a message may be gone before the second. */

import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as sight from "../tree/sight.ts";

type Noted = { element: WeakRef<Element>; texts: string[] };

/** In characters; a longer text is not a message. */
const longest = 200;
/** More changes at a time are not a message. */
const mostDue = 50;
const mostNoted = 20;
/** A text that fades in cannot be read at once, so it is read again for so many frames. */
const mostFrames = 20;
const mostReported = 3;
const due = new Map<Element, number>();
let noted: Noted[] = [];
let isAsking = false;
const observer = new MutationObserver((records) => see(records));
const watched = new WeakSet<Document | ShadowRoot>();

/** Watches the document, and the shadow roots that the snapshot has read. */
export function watch(): void {
  for (const root of dom.walked) {
    if (watched.has(root)) continue;
    watched.add(root);
    observer.observe(root, {
      subtree: true,
      childList: true,
      characterData: true,
      attributeFilter: ["class", "style", "hidden", "open", "aria-hidden"],
    });
  }
}

/** The latest noted texts that can no longer be read and are not known. Forgets all noted texts. */
export function take(isKnown: (texts: readonly string[]) => boolean): string[] {
  const passed = noted.filter(({ element, texts }) => {
    const still = element.deref();
    return !(still && textsIn(still).length > 0) && !isKnown(texts);
  });
  noted = [];
  const reported = new Set(passed.map(({ texts }) => dom.cut(dom.clean(texts.join(" ")), 120)));
  return [...reported].slice(-mostReported);
}

function see(records: readonly MutationRecord[]): void {
  for (const { type, target, addedNodes } of records) {
    if (due.size >= mostDue) break;
    for (const node of type === "childList" ? addedNodes : [target]) add(node);
  }
  askSoon();
}

function add(node: Node): void {
  const element = node instanceof Element ? node : native.parentElement(node);
  if (element && due.size < mostDue) due.set(element, mostFrames);
}

function askSoon(): void {
  if (isAsking || due.size === 0) return;
  isAsking = true;
  requestAnimationFrame(() => {
    isAsking = false;
    ask();
    askSoon();
  });
}

function ask(): void {
  dom.begin();
  for (const [element, frames] of [...due]) {
    const texts = isMessage(element) ? textsIn(element) : undefined;
    const isWaitedFor = texts?.length === 0 && frames > 1;
    if (isWaitedFor) due.set(element, frames - 1);
    else due.delete(element);
    if (texts && texts.length > 0) note(element, texts);
  }
}

function isMessage(element: Element): boolean {
  const holder = native.shadowRoot(element) ?? element;
  const said = native.isConnected(element) ? (native.textContent(holder) ?? "").trim() : "";
  return said !== "" && said.length <= longest;
}

function note(element: Element, texts: string[]): void {
  noted.push({ element: new WeakRef(element), texts });
  if (noted.length > mostNoted) noted.shift();
}

/** The texts in an element that can be read now. */
function textsIn(element: Element): string[] {
  if (!native.isConnected(element) || !sight.rendered(element) || sight.veiled(element)) return [];
  return dom.children(element).flatMap((child) => {
    if (child instanceof Element) return textsIn(child);
    const text = dom.isText(child) ? dom.clean(native.nodeValue(child) ?? "") : "";
    return /[\p{L}\p{N}]/u.test(text) && sight.legible(element, [child]) ? [text] : [];
  });
}
