/** Asks the hooks in the page's own world: see `hooks.ts`. */
import type { HookNames, HookQuestion } from "./hooks.ts";
import { native } from "./native.ts";

/** Set by {@link connect}. */
let names: HookNames = { ask: "", listens: "", doubled: "", closed: "" };
const listening = new WeakSet<EventTarget>();
const doubled = new WeakSet<EventTarget>();
let closed: WeakRef<Element>[] = [];
let hasFrameworks = false;

export function connect(given: HookNames): void {
  names = given;
}

/** To be called before the page is read. */
export function begin(): void {
  // Listeners are added again on both sides, since `document.open` removes them.
  isTrue(performance, "news");
  window.addEventListener(names.listens, noteListener, true);
  window.addEventListener(names.doubled, noteDoubled, true);
  window.addEventListener(names.closed, noteClosed, true);
  isTrue(window, "news");
  hasFrameworks = isTrue(window, "frameworks");
}

export function listens(element: EventTarget): boolean {
  return listening.has(element) || (hasFrameworks && isTrue(element, "handler"));
}

export function isDoubled(element: EventTarget): boolean {
  return doubled.has(element);
}

/** Elements with a closed shadow root that a script has made. */
export function closedHosts(): Element[] {
  const hosts = closed.flatMap((one) => one.deref() ?? []);
  return hosts.filter((host) => native.isConnected(host));
}

/** Whether the page may listen to `beforeinput` or `textInput`, which the browser's editing command does not send. */
export function mayHearTyping(field: Element): boolean {
  return isTrue(field, "hears beforeinput");
}

/** Whether the page may listen to changes of a field's value. */
export function mayHearInput(field: Element): boolean {
  return isTrue(field, "hears input");
}

const noteListener = (event: Event): void => note(listening, event);
const noteDoubled = (event: Event): void => note(doubled, event);

const noteClosed = (event: Event): void => {
  const [target] = event.composedPath();
  closed = closed.filter((one) => one.deref() !== undefined);
  if (target instanceof Element) closed.push(new WeakRef(target));
};

function note(set: WeakSet<EventTarget>, event: Event): void {
  const [target] = event.composedPath();
  if (target) set.add(target);
}

function isTrue(target: EventTarget, question: HookQuestion): boolean {
  const event = new CustomEvent(names.ask, { detail: question, cancelable: true, composed: true });
  return !native.dispatchEvent(target, event);
}
