/**
 * The page's tree as it is drawn, with shadow roots opened and slots filled, and a cache of what was read of its nodes, from one
 * {@link begin} to the next.
 */
import { tidy } from "../../../../elements/text.ts";
import { native } from "./native.ts";

export type Region = { left: number; top: number; right: number; bottom: number };

/** Cached properties of a node. */
class Known {
  style: CSSStyleDeclaration | undefined = undefined;
  display: string | undefined = undefined;
  position: string | undefined = undefined;
  box: DOMRect | undefined = undefined;
  rendered: boolean | undefined = undefined;
  /** Hidden, with its contents: see `sight.ts`. */
  veiled: boolean | undefined = undefined;
  /** Its back is turned to the user. */
  away: boolean | undefined = undefined;
  /** Where the contents in its flow can be seen. */
  flow: Region | undefined = undefined;
  /** It lies in a collapsed box that hides its overflow. */
  folded: boolean | undefined = undefined;
  /** It listens for presses. */
  listens: boolean | undefined = undefined;
  name: string | undefined = undefined;
  /** Its own words, in lower case. */
  words: string | undefined = undefined;
  /** Of a table: whether it holds data, and its headers. */
  table: { isData: boolean; headers: string } | undefined = undefined;
  /** Of a document or shadow root: the labels of its fields. */
  labels: ReadonlyMap<Element, readonly Element[]> | undefined = undefined;
}

const nodes = new Map<Node, Known>();
let elements: readonly Element[] | undefined;
/** The document, and the shadow roots whose children were read. */
export const walked = new Set<Document | ShadowRoot>();

/** Clears the cache; to be called before the page is read. */
export function begin(): void {
  elements = undefined;
  nodes.clear();
  walked.clear();
  walked.add(document);
}

export function known(node: Node): Known {
  let found = nodes.get(node);
  if (!found) {
    found = new Known();
    nodes.set(node, found);
  }
  return found;
}

export function style(element: Element): CSSStyleDeclaration {
  const of = known(element);
  of.style ??= getComputedStyle(element);
  return of.style;
}

export function display(element: Element): string {
  const of = known(element);
  of.display ??= style(element).display;
  return of.display;
}

export function position(element: Element): string {
  const of = known(element);
  of.position ??= style(element).position;
  return of.position;
}

export function box(element: Element): DOMRect {
  const of = known(element);
  of.box ??= native.getBoundingClientRect(element);
  return of.box;
}

/** Child nodes as they are drawn: those of the shadow root in place of the element's own, assigned nodes for a slot. */
export function children(element: Element): readonly Node[] {
  const shadow = native.shadowRoot(element);
  if (shadow) {
    walked.add(shadow);
    return childrenOf(shadow);
  }
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  return childrenOf(element);
}

function childrenOf(node: Node): Node[] {
  const found: Node[] = [];
  for (let child = native.firstChild(node); child; child = native.nextSibling(child)) found.push(child);
  return found;
}

export function parent(element: Element): Element | undefined {
  const above = native.assignedSlot(element) ?? native.parentElement(element);
  if (above) return above;
  const root = native.getRootNode(element);
  return root instanceof ShadowRoot ? root.host : undefined;
}

export const isText = (node: Node): boolean => native.nodeType(node) === Node.TEXT_NODE;

/** The document or shadow root of an element; undefined for a detached one. */
export function rootOf(element: Element): Document | ShadowRoot | undefined {
  const root = native.getRootNode(element);
  return root instanceof Document || root instanceof ShadowRoot ? root : undefined;
}

/** The elements that an attribute names by their ids. */
export function named(element: Element, attribute: string): Element[] {
  const root = rootOf(element);
  const ids = (native.getAttribute(element, attribute) ?? "").split(/\s+/).filter((id) => id !== "");
  return root ? ids.flatMap((id) => native.getElementById(root, id) ?? []) : [];
}

/** The node is the element or inside it, shadow roots included. */
export function isWithin(node: Element | null, element: Element): boolean {
  for (let at = node ?? undefined; at; at = parent(at)) if (at === element) return true;
  return false;
}

/** Every element of the page, shadow roots included, in document order. */
export function everything(): readonly Element[] {
  elements ??= all(document);
  return elements;
}

/** Every element below `root`, shadow roots included, in document order. */
export function all(root: Document | Element | ShadowRoot): readonly Element[] {
  const found: Element[] = [];
  const visit = (scope: Document | Element | ShadowRoot) => {
    for (const element of native.querySelectorAll(scope, "*")) {
      found.push(element);
      const shadow = native.shadowRoot(element);
      if (shadow) visit(shadow);
    }
  };
  visit(root);
  return found;
}

/** Every match of a CSS selector, in each shadow root too. */
export function select(css: string, limit = 1000): Element[] {
  const found: Element[] = [];
  const roots: (Document | ShadowRoot)[] = [document];
  for (const root of roots) {
    found.push(...native.querySelectorAll(root, css));
    if (found.length > limit) break;
    for (const element of native.querySelectorAll(root, "*")) {
      const shadow = native.shadowRoot(element);
      if (shadow) roots.push(shadow);
    }
  }
  return found;
}

/** Tidy, without the bytes of `data:` addresses. */
export function clean(text: string): string {
  // Most texts need no cleaning.
  if (/^(?:[!-~]+(?: [!-~]+)*)?$/.test(text) && !text.includes("data:")) return text;
  return tidy(text.replace(/data:[\w/+.-]*[;,][^\s"')]{20,}/g, "data:…"));
}

/** At most `length` characters, and how many more there are; `+` if the text was not read to its end. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept = text.slice(0, length).trimEnd();
  const rest = text.length - kept.length;
  return text.length > 4000 && text.endsWith("…") ? `${kept} … ${rest}+ more` : `${kept} … ${rest} more`;
}

/** Joins text as it stands on the screen: white space by the style sheet, each block on its own line, case as written. */
export function writer(): {
  edge(): void;
  line(): void;
  write(text: string, parent: Element): void;
  read(): string;
} {
  let out = "";
  let isSoft = false;
  let isEdge = false;
  const dropSoft = () => {
    if (isSoft) out = out.slice(0, -1);
    isSoft = false;
  };
  const line = () => {
    dropSoft();
    isEdge = false;
    out += "\n";
  };
  const put = (text: string, isKept: boolean) => {
    const isStart = isEdge || isSoft || out === "" || out.endsWith("\n");
    const shown = isKept ? text : text.replace(/[ \t\n\r\f]+/g, " ").replace(/^ /, isStart ? "" : " ");
    if (shown === "") return;
    if (isEdge && out !== "" && !out.endsWith("\n")) line();
    isEdge = false;
    out += shown;
    isSoft = !isKept && shown.endsWith(" ");
  };
  return {
    edge: () => {
      isEdge = true;
    },
    line,
    write: (text, parent) => {
      const space = style(parent).whiteSpace;
      if (space !== "pre-line") return put(text, /^(pre|break)/.test(space));
      for (const [at, one] of text.split("\n").entries()) {
        if (at > 0) line();
        put(one, false);
      }
    },
    read: () => {
      dropSoft();
      return out.replace(/\n$/, "");
    },
  };
}

export function isInline(element: Element): boolean {
  const shown = display(element);
  return shown === "contents" || shown.startsWith("inline") || shown.startsWith("ruby");
}

/** The innermost element at a point of the view, also in shadow roots. */
export function hit({ x, y }: { x: number; y: number }): Element | null {
  let hit = native.elementFromPoint(document, x, y);
  for (let root = hit && native.shadowRoot(hit); root; root = native.shadowRoot(hit)) {
    const inner = native.elementFromPoint(root, x, y);
    if (inner === null || inner === hit) break;
    hit = inner;
  }
  return hit;
}
