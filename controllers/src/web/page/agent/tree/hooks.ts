/**
 * Runs in the page's own world, before the page's scripts. It notes listeners, since a page cannot be asked for them later, and
 * reads what frameworks keep on elements. Pages replace built-ins, so code that runs later calls only functions taken from the
 * browser here, and uses no syntax that calls others: no spread, no array destructuring, no `for of`.
 */

/** Names of the events between our world and the page's; the page cannot guess them. */
export type HookNames = { ask: string; listens: string; doubled: string; closed: string };

/** The hooks answer yes by preventing the default of the event that asks. */
export type HookQuestion = "news" | "frameworks" | "handler" | "hears beforeinput" | "hears input";

type Noted = "listens" | "doubled" | "closed";

const { apply, get, getOwnPropertyDescriptor, defineProperty, ownKeys } = Reflect;
const { addEventListener, dispatchEvent } = EventTarget.prototype;
const { composedPath, preventDefault } = Event.prototype;
const { attachShadow } = Element.prototype;
const { startsWith } = String.prototype;
const { add: addTo, has: isIn } = Set.prototype;
const { add: addWeak, has: isInWeak } = WeakSet.prototype;
const { deref } = WeakRef.prototype;
const own = { Proxy, CustomEvent, WeakRef, Node, ShadowRoot, Element, document, globalThis };
const getterOf = (holder: object, name: string) =>
  getOwnPropertyDescriptor(holder, name)?.get ?? (() => undefined);
const detail = getterOf(CustomEvent.prototype, "detail");
const isConnected = getterOf(Node.prototype, "isConnected");
const parentNode = getterOf(Node.prototype, "parentNode");
const host = getterOf(ShadowRoot.prototype, "host");
const mode = getterOf(ShadowRoot.prototype, "mode");

const isFromStart = document.readyState === "loading";
const presses = new Set(
  "click dblclick mousedown mouseup pointerdown pointerup touchstart touchend".split(" "),
);
const inputs = "beforeinput input change keydown keypress keyup textInput paste".split(" ");
const heard = new Set<string>();
const noted = { listens: new WeakSet(), doubled: new WeakSet(), closed: new WeakSet() };
/** Not yet reported to our world. */
let news: { kind: Noted; target: WeakRef<object> }[] = [];

/** Notes listeners from now on, and answers {@link HookQuestion}. */
export function installHooks(names: HookNames): void {
  if ("__labwrightHooks" in globalThis) return;
  const answer = (event: Event) => {
    const target = apply(composedPath, event, [])[0];
    const question: string = apply(detail, event, []);
    if (question === "news") reportNews(names);
    if (target && isTrue(question, target)) apply(preventDefault, event, []);
  };
  const listen = () => apply(addEventListener, own.globalThis, [names.ask, answer, true]);
  // `document.open` removes all listeners of the window, but none of `performance`.
  apply(addEventListener, performance, [names.ask, listen, true]);
  watchListeners();
  watchShadows();
  for (const holder of [HTMLElement.prototype, SVGElement.prototype])
    for (const type of ["click", "mousedown", "pointerdown"]) watchProperty(holder, type);
  defineProperty(globalThis, "__labwrightHooks", { value: true });
}

function watchListeners(): void {
  const value = new own.Proxy(addEventListener, {
    apply(_, self, args: unknown[]) {
      if (args[1]) noteListener(self, `${args[0]}`);
      return apply(addEventListener, self ?? own.globalThis, args);
    },
  });
  const descriptor = getOwnPropertyDescriptor(EventTarget.prototype, "addEventListener");
  defineProperty(EventTarget.prototype, "addEventListener", { ...descriptor, value });
}

/** A closed shadow root cannot be found once it is there. */
function watchShadows(): void {
  const value = new own.Proxy(attachShadow, {
    apply(_, self, args: unknown[]) {
      const root: unknown = apply(attachShadow, self, args);
      if (root instanceof own.ShadowRoot && apply(mode, root, []) === "closed") note("closed", self);
      return root;
    },
  });
  const descriptor = getOwnPropertyDescriptor(own.Element.prototype, "attachShadow");
  defineProperty(own.Element.prototype, "attachShadow", { ...descriptor, value });
}

/** `element.onclick = …` */
function watchProperty(holder: object, type: string): void {
  const descriptor = getOwnPropertyDescriptor(holder, `on${type}`);
  const browsers = descriptor?.set;
  if (!browsers) return;
  const set = new own.Proxy(browsers, {
    apply(_, self, args: unknown[]) {
      if (typeof args[0] === "function") noteListener(self, type);
      return apply(browsers, self, args);
    },
  });
  defineProperty(holder, `on${type}`, { ...descriptor, set });
}

function noteListener(self: unknown, type: string): void {
  const target = typeof self === "object" && self !== null ? self : own.globalThis;
  apply(addTo, heard, [type]);
  if (apply(isIn, presses, [type])) note("listens", target);
  if (type === "dblclick") note("doubled", target);
}

function note(kind: Noted, target: object): void {
  if (apply(isInWeak, noted[kind], [target])) return;
  apply(addWeak, noted[kind], [target]);
  news[news.length] = { kind, target: new own.WeakRef(target) };
}

function reportNews(names: HookNames): void {
  const kept: typeof news = [];
  for (let at = 0; at < news.length; at++) {
    const one = news[at];
    const target: object | undefined = one && apply(deref, one.target, []);
    if (!one || !target) continue;
    if (target instanceof own.Node && !apply(isConnected, target, [])) kept[kept.length] = one;
    else apply(dispatchEvent, target, [new own.CustomEvent(names[one.kind], { composed: true })]);
  }
  news = kept;
}

function isTrue(question: string, target: object): boolean {
  if (question === "frameworks") return hasFrameworks();
  if (question === "handler") return hasHandler(target);
  if (question === "hears beforeinput") return mayHear(target, "beforeinput") || mayHear(target, "textInput");
  return question === "hears input" && mayHearInput(target);
}

/** React leaves a mark on the document, and Svelte on all elements. */
function hasFrameworks(): boolean {
  const keys = ownKeys(own.document);
  for (let at = 0; at < keys.length; at++) if (begins(keys[at], "_reactListen")) return true;
  return "__click" in own.Element.prototype;
}

/** React keeps an element's handlers in an expando and listens at the root; Svelte 5 delegates through `__click`. */
function hasHandler(element: object): boolean {
  const keys = ownKeys(element);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at];
    if (key === "__click") return true;
    const isOfReact = begins(key, "__reactProps$") || begins(key, "__reactEventHandlers$");
    if (key !== undefined && isOfReact && isPressed(get(element, key))) return true;
  }
  return false;
}

const begins = (key: unknown, start: string): boolean =>
  typeof key === "string" && apply(startsWith, key, [start]);

const isPressed = (props: unknown): boolean =>
  typeof props === "object" &&
  props !== null &&
  (typeof get(props, "onClick") === "function" ||
    typeof get(props, "onMouseDown") === "function" ||
    typeof get(props, "onPointerDown") === "function");

/** Whether a listener on the page may receive an event of this type on `element`. */
function mayHear(element: object, type: string): boolean {
  if (!isFromStart || apply(isIn, heard, [type])) return true;
  const name = `on${type}`;
  for (let at: unknown = element; typeof at === "object" && at !== null; at = above(at))
    if (get(at, name)) return true;
  return Boolean(get(own.globalThis, name));
}

function mayHearInput(element: object): boolean {
  for (let at = 0; at < inputs.length; at++) if (mayHear(element, inputs[at] ?? "")) return true;
  return false;
}

const above = (node: object): unknown => apply(node instanceof own.ShadowRoot ? host : parentNode, node, []);
