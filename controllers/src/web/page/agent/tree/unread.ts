import type { InpageDom } from "./dom.ts";
import { native } from "./native.ts";
import type { InpageWorld } from "./world.ts";

/** Smaller ones, in CSS pixels of an edge, show nothing that is read. */
const LEAST_EDGE = 16;

/** Knows what of the page is shown and cannot be read: a test may look for what stands there. Runs inside the page. */
export class InpageUnread {
  private readonly css = "canvas,img[usemap],object[data],embed[src]";
  private readonly kinds: Readonly<Record<string, string>> = {
    ...{ canvas: "a canvas", img: "an image map" },
    ...{ object: "an embedded document", embed: "an embedded document" },
  };

  constructor(
    private readonly dom: InpageDom,
    private readonly world: InpageWorld,
  ) {}

  /** What is there, each once, with how many there are. To be asked when the page was walked. */
  list(): string[] {
    const shown = new Map<string, number>();
    const count = (what: string) => shown.set(what, (shown.get(what) ?? 0) + 1);
    const unread = [...this.dom.walked].flatMap((root) => [...native.querySelectorAll(root, this.css)]);
    for (const element of unread.filter(this.isShown)) count(this.kinds[native.localName(element)] ?? "");
    for (const host of this.world.closedHosts().filter(this.isShown))
      count(`the closed shadow root of <${native.localName(host)}>`);
    return [...shown].map(([what, times]) => (times === 1 ? what : `${what} (${times} times)`));
  }

  private readonly isShown = (element: Element): boolean => {
    const { width, height } = this.dom.box(element);
    return width >= LEAST_EDGE && height >= LEAST_EDGE && this.dom.seen(element);
  };
}
