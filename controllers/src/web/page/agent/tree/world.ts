import type { HookNames, HookQuestion } from "./hooks.ts";
import { native } from "./native.ts";

/** Asks the page's own world what only it knows: see `hooks.ts`. Runs inside the page. */
export class InpageWorld {
  private readonly listening = new WeakSet<EventTarget>();
  private readonly doubled = new WeakSet<EventTarget>();
  private closed: WeakRef<Element>[] = [];
  private hasFrameworks = false;

  constructor(private readonly names: HookNames) {}

  /** To be called once before each look. */
  begin(): void {
    // Again each time, on both sides, since `document.open` takes every listener away.
    this.isTrue(performance, "news");
    addEventListener(this.names.listens, this.noteListener, true);
    addEventListener(this.names.doubled, this.noteDoubled, true);
    addEventListener(this.names.closed, this.noteClosed, true);
    this.isTrue(globalThis, "news");
    this.hasFrameworks = this.isTrue(globalThis, "frameworks");
  }

  listens(element: EventTarget): boolean {
    return this.listening.has(element) || (this.hasFrameworks && this.isTrue(element, "handler"));
  }

  isDoubled(element: EventTarget): boolean {
    return this.doubled.has(element);
  }

  /** Elements of the document with a closed shadow root that a script has made. */
  closedHosts(): Element[] {
    const hosts = this.closed.flatMap((one) => one.deref() ?? []);
    return hosts.filter((host) => native.isConnected(host));
  }

  /** Whether the page may hear of text before it is put into a field. Not what the browser's own editing command sends. */
  mayHearTyping(field: Element): boolean {
    return this.isTrue(field, "hears beforeinput");
  }

  /** Whether the page may hear that a field has another value. */
  mayHearInput(field: Element): boolean {
    return this.isTrue(field, "hears input");
  }

  private readonly noteListener = (event: Event): void => this.note(this.listening, event);
  private readonly noteDoubled = (event: Event): void => this.note(this.doubled, event);

  private readonly noteClosed = (event: Event): void => {
    const [target] = event.composedPath();
    this.closed = this.closed.filter((one) => one.deref() !== undefined);
    if (target instanceof Element) this.closed.push(new WeakRef(target));
  };

  private note(set: WeakSet<EventTarget>, event: Event): void {
    const [target] = event.composedPath();
    if (target) set.add(target);
  }

  private isTrue(target: EventTarget, question: HookQuestion): boolean {
    const event = new CustomEvent(this.names.ask, { detail: question, cancelable: true, composed: true });
    return !native.dispatchEvent(target, event);
  }
}
