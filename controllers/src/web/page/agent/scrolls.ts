/**
 * Knows when a document scrolls, or is about to because a script asked for it. Runs inside the page, from before the page's
 * own first script.
 */
export class InpageScrolls {
  /** A smooth scroll begins this many frames after it was asked for, at the latest; one that is there already never does. */
  private readonly framesToBegin = 6;
  private asked: { scroller: Element | null; behavior: unknown } | undefined;
  private framesLeft = 0;
  private isMoving = false;

  constructor(
    /** Called at each step of a scroll. */
    private readonly moved: () => void,
    private readonly hear: (type: string, listener: () => void) => void,
    private readonly wrapped: <F extends object>(
      own: F,
      call: (self: unknown, args: unknown[]) => unknown,
    ) => F,
  ) {}

  watch(): void {
    this.hear("scroll", () => this.step(true));
    this.hear("scrollend", () => this.step(false));
    this.hear("hashchange", () => this.note(undefined, []));
    for (const holder of [Element.prototype, globalThis])
      for (const name of ["scrollTo", "scrollBy", "scroll", "scrollIntoView", "scrollTop", "scrollLeft"])
        this.watchProperty(holder, name);
  }

  /** What was scrolled may be gone, and its scroll never ends. */
  forget(): void {
    this.isMoving = false;
  }

  isGoingOn(): boolean {
    return this.isMoving || (this.framesLeft > 0 && this.isSmooth());
  }

  frameDrawn(): void {
    if (this.framesLeft > 0) this.framesLeft--;
  }

  /** A method, or a property that scrolls when it is set. */
  private watchProperty(holder: object, name: string): void {
    const descriptor = Object.getOwnPropertyDescriptor(holder, name);
    for (const key of ["value", "set"] as const) {
      const own: unknown = descriptor?.[key];
      if (typeof own !== "function") continue;
      const watched = this.wrapped(own, (self, args) => {
        this.note(self, args);
        return Reflect.apply(own, self, args);
      });
      Object.defineProperty(holder, name, { ...descriptor, [key]: watched });
    }
  }

  private note(self: unknown, [first]: unknown[]): void {
    const behavior = first instanceof Object && "behavior" in first ? first.behavior : "auto";
    this.asked = { scroller: self instanceof Element ? self : document.scrollingElement, behavior };
    this.framesLeft = this.framesToBegin;
  }

  private step(isMoving: boolean): void {
    this.isMoving = isMoving;
    this.framesLeft = 0;
    this.moved();
  }

  /** Asked for only while the page is looked at: the style of an element is not to be had for nothing. */
  private isSmooth(): boolean {
    if (this.asked === undefined) return false;
    const { scroller, behavior } = this.asked;
    if (behavior === "smooth") return true;
    for (let at = behavior === "auto" ? scroller : null; at !== null; at = at.parentElement)
      if (getComputedStyle(at).scrollBehavior === "smooth") return true;
    return false;
  }
}
