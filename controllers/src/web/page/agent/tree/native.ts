/**
 * The browser's own accessors and methods. `form.parentElement` is the form's field of that name if it has one, and `document.x`
 * may be an image, so forms and the document are read with these only.
 */

function getter<T extends object, K extends keyof T>(type: { prototype: T }, name: K): (target: T) => T[K] {
  const get = Object.getOwnPropertyDescriptor(type.prototype, name)?.get;
  if (!get) throw new Error(`This browser has no ${type.prototype}.${String(name)}`);
  return (target) => get.call(target);
}

type Root = Document | ShadowRoot;
type Scope = Root | Element;

const of = {
  element: Element.prototype,
  document: Document.prototype,
  shadow: ShadowRoot.prototype,
  node: Node.prototype,
};
const isContentEditable = getter(HTMLElement, "isContentEditable");
const activeIn = {
  document: getter(Document, "activeElement"),
  shadow: getter(ShadowRoot, "activeElement"),
};

const protoOf = (scope: Scope) =>
  scope instanceof Element ? of.element : scope instanceof Document ? of.document : of.shadow;

type Tags = HTMLElementTagNameMap;

function querySelectorAll<K extends keyof Tags>(scope: Scope, tag: K): NodeListOf<Tags[K]>;
function querySelectorAll(scope: Scope, css: string): NodeListOf<Element>;
function querySelectorAll(scope: Scope, css: string): NodeListOf<Element> {
  return protoOf(scope).querySelectorAll.call(scope, css);
}

function querySelector(scope: Scope, css: string): Element | null {
  return protoOf(scope).querySelector.call(scope, css);
}

function closest<K extends keyof Tags>(element: Element, tag: K): Tags[K] | null;
function closest(element: Element, css: string): Element | null;
function closest(element: Element, css: string): Element | null {
  return of.element.closest.call(element, css);
}

export const native = {
  assignedSlot: getter(Element, "assignedSlot"),
  childElementCount: getter(Element, "childElementCount"),
  childNodes: getter(Node, "childNodes"),
  children: getter(Element, "children"),
  classList: getter(Element, "classList"),
  className: getter(Element, "className"),
  clientLeft: getter(Element, "clientLeft"),
  clientHeight: getter(Element, "clientHeight"),
  clientTop: getter(Element, "clientTop"),
  clientWidth: getter(Element, "clientWidth"),
  firstChild: getter(Node, "firstChild"),
  id: getter(Element, "id"),
  innerText: getter(HTMLElement, "innerText"),
  isConnected: getter(Node, "isConnected"),
  isContentEditable: (element: Element): boolean =>
    element instanceof HTMLElement && isContentEditable(element),
  localName: getter(Element, "localName"),
  nextElementSibling: getter(Element, "nextElementSibling"),
  nextSibling: getter(Node, "nextSibling"),
  namespaceURI: getter(Element, "namespaceURI"),
  nodeType: getter(Node, "nodeType"),
  nodeValue: getter(Node, "nodeValue"),
  offsetHeight: getter(HTMLElement, "offsetHeight"),
  parentElement: getter(Node, "parentElement"),
  previousElementSibling: getter(Element, "previousElementSibling"),
  previousSibling: getter(Node, "previousSibling"),
  scrollHeight: getter(Element, "scrollHeight"),
  scrollLeft: getter(Element, "scrollLeft"),
  scrollTop: getter(Element, "scrollTop"),
  scrollWidth: getter(Element, "scrollWidth"),
  shadowRoot: getter(Element, "shadowRoot"),
  textContent: getter(Node, "textContent"),
  checkVisibility: (element: Element, options: CheckVisibilityOptions): boolean =>
    of.element.checkVisibility.call(element, options),
  closest,
  contains: (node: Node, other: Node | null): boolean => of.node.contains.call(node, other),
  getAttribute: (element: Element, name: string): string | null =>
    of.element.getAttribute.call(element, name),
  getBoundingClientRect: (element: Element): DOMRect => of.element.getBoundingClientRect.call(element),
  getClientRects: (element: Element): DOMRectList => of.element.getClientRects.call(element),
  getRootNode: (node: Node): Node => of.node.getRootNode.call(node),
  hasAttribute: (element: Element, name: string): boolean => of.element.hasAttribute.call(element, name),
  matches: (element: Element, css: string): boolean => of.element.matches.call(element, css),
  querySelector,
  querySelectorAll,
  activeElement: (root: Root): Element | null =>
    root instanceof Document ? activeIn.document(root) : activeIn.shadow(root),
  elementFromPoint: (root: Root, x: number, y: number): Element | null =>
    (root instanceof Document ? of.document : of.shadow).elementFromPoint.call(root, x, y),
  getElementById: (root: Root, id: string): Element | null =>
    (root instanceof Document ? of.document : of.shadow).getElementById.call(root, id),
  body: getter(Document, "body"),
  documentElement: getter(Document, "documentElement"),
  title: getter(Document, "title"),
  evaluate: (xpath: string, type: number): XPathResult =>
    of.document.evaluate.call(document, xpath, document, null, type, null),
  createElement: (tag: string): HTMLElement => of.document.createElement.call(document, tag),
  dispatchEvent: (target: EventTarget, event: Event): boolean =>
    EventTarget.prototype.dispatchEvent.call(target, event),
  execCommand: (command: string, value: string): boolean =>
    of.document.execCommand.call(document, command, false, value),
  hasFocus: (): boolean => of.document.hasFocus.call(document),
};
