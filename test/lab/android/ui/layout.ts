import type { Rect } from "@labwright/controllers";
import type { View } from "./views.ts";

/** What a window remembers of its views between two layouts, by their keys: pixels that were scrolled, and the focus. */
export type WindowState = {
  offsets: Map<string, number>;
  focus: string | undefined;
  /** The focus is in a field, for which the keyboard is shown. */
  isTyping: boolean;
};

export const newWindowState = (): WindowState => ({ offsets: new Map(), focus: undefined, isTyping: false });

export type Scrolling = { axis: "x" | "y"; at: number; most: number };

/** A view with its place on the screen in pixels. `visible` is the part of it that its scroll areas and window show. */
export type Placed = {
  view: View;
  key: string;
  rect: Rect;
  visible: Rect | undefined;
  parent: Placed | undefined;
  children: Placed[];
  scrolling: Scrolling | undefined;
};

export type Metrics = { density: number; fontScale: number };

const letterWidth = 0.55;
const lineHeight = 1.35;
export const textSizeOf = (view: View): number => view.textSize ?? 16;

export class Layout {
  readonly #metrics: Metrics;
  readonly #state: WindowState;

  constructor(metrics: Metrics, state: WindowState) {
    this.#metrics = metrics;
    this.#state = state;
  }

  /** `window` is what can be seen of it: without one, its whole rect. */
  place(view: View, { rect, key, window = rect }: { rect: Rect; key: string; window?: Rect }): Placed {
    return this.#place(view, rect, { key, clip: window, parent: undefined });
  }

  heightOf(view: View, width: number): number {
    const own = this.#dp(view.height ?? 0);
    const inner = width - 2 * this.#dp(view.padding ?? 0);
    return Math.max(own, this.#textHeight(view, inner), this.#contentHeight(view, inner));
  }

  #place(
    view: View,
    rect: Rect,
    { key, clip, parent }: { key: string; clip: Rect | undefined; parent: Placed | undefined },
  ): Placed {
    const visible = clip && overlap(rect, clip);
    const placed: Placed = { view, key, rect, visible, parent, children: [], scrolling: undefined };
    const padding = this.#dp(view.padding ?? 0);
    const inner = inset(rect, padding);
    const rects = this.#childRects(view, inner);
    placed.scrolling = this.#scrolling(view, inner, rects, key);
    const names = new Set<string>();
    (view.children ?? []).forEach((child, index) => {
      const childRect = rects[index];
      if (!childRect) return;
      placed.children.push(
        this.#place(child, moved(childRect, placed.scrolling), {
          key: `${key}/${nameAmong(names, child, index)}`,
          clip: visible && placed.scrolling ? overlap(inner, visible) : visible,
          parent: placed,
        }),
      );
    });
    return placed;
  }

  #scrolling(view: View, inner: Rect, rects: readonly Rect[], key: string): Scrolling | undefined {
    if (!view.scrolls) return undefined;
    const axis = view.flow === "row" ? "x" : "y";
    const [start, length] = axis === "x" ? [inner.x, inner.width] : [inner.y, inner.height];
    const end = Math.max(
      0,
      ...rects.map((rect) => (axis === "x" ? rect.x + rect.width : rect.y + rect.height)),
    );
    const most = Math.max(0, end - start - length);
    const at = Math.min(Math.max(this.#state.offsets.get(key) ?? 0, 0), most);
    this.#state.offsets.set(key, at);
    return { axis, at, most };
  }

  /** Where the children are before anything is scrolled. */
  #childRects(view: View, inner: Rect): Rect[] {
    const children = view.children ?? [];
    if (view.flow === "grid") return this.#gridRects(view, inner);
    if (view.flow === "free")
      return children.flatMap(({ at }) => (at ? [{ ...at, x: inner.x + at.x, y: inner.y + at.y }] : []));
    if (view.flow === "row") {
      const widths = shares(children, inner.width, (child) => this.#widthOf(child, inner));
      return inARow(widths, inner.x).map(({ at, length }) => ({ ...inner, x: at, width: length }));
    }
    const heights = shares(children, inner.height, (child) =>
      this.heightOf(child, this.#widthIn(child, inner)),
    );
    return inARow(heights, inner.y).map(({ at, length }, index) => {
      const width = this.#widthIn(children[index], inner);
      return { x: inner.x, y: at, width, height: length };
    });
  }

  #gridRects(view: View, inner: Rect): Rect[] {
    const children = view.children ?? [];
    const columns = view.columns ?? 1;
    const width = Math.floor(inner.width / columns);
    const height = Math.max(0, ...children.map((child) => this.heightOf(child, width)));
    return children.map((child, index) => ({
      x: inner.x + (index % columns) * width,
      y: inner.y + Math.floor(index / columns) * height,
      width: child.width === undefined ? width : Math.min(width, this.#dp(child.width)),
      height: child.height === undefined ? height : this.heightOf(child, width),
    }));
  }

  #contentHeight(view: View, width: number): number {
    const children = view.children ?? [];
    const padding = 2 * this.#dp(view.padding ?? 0);
    if (children.length === 0) return 0;
    if (view.flow === "row") {
      const widths = shares(children, width, (child) => this.#widthOf(child, { width }));
      return (
        padding + Math.max(...children.map((child, index) => this.heightOf(child, widths[index] ?? width)))
      );
    }
    if (view.flow === "grid") {
      const columns = view.columns ?? 1;
      const height = Math.max(...children.map((child) => this.heightOf(child, width / columns)));
      return padding + height * Math.ceil(children.length / columns);
    }
    return padding + children.reduce((sum, child) => sum + this.heightOf(child, width), 0);
  }

  #textHeight(view: View, width: number): number {
    if (view.text === undefined && view.hint === undefined) return 0;
    const size = this.#dp(textSizeOf(view) * this.#metrics.fontScale);
    const wanted = Math.ceil(((view.text ?? "").length * size * letterWidth) / Math.max(width, size));
    // A field has one line, in which its text scrolls.
    const lines = view.field === undefined ? Math.max(1, wanted) : 1;
    return Math.round(lines * size * lineHeight + this.#dp(8));
  }

  #widthIn(child: View | undefined, inner: Rect): number {
    return child?.width === undefined ? inner.width : Math.min(inner.width, this.#dp(child.width));
  }

  /** In a row: its own width, else that of its text or of its children. */
  #widthOf(child: View, inner: { width: number }): number {
    if (child.width !== undefined) return this.#dp(child.width);
    const size = this.#dp(textSizeOf(child) * this.#metrics.fontScale);
    const ownText =
      child.text === undefined ? 0 : Math.ceil(child.text.length * size * letterWidth) + this.#dp(24);
    const widths = (child.children ?? []).map((one) => this.#widthOf(one, inner));
    const content =
      child.flow === "row" ? widths.reduce((sum, width) => sum + width, 0) : Math.max(0, ...widths);
    return Math.min(inner.width, Math.max(ownText, content + 2 * this.#dp(child.padding ?? 0)));
  }

  #dp(size: number): number {
    return Math.round(size * this.#metrics.density);
  }
}

/** The lengths of all: what they want, and for those with a weight their part of what is left. */
function shares(children: readonly View[], length: number, wanted: (child: View) => number): number[] {
  const lengths = children.map((child) => (child.weight ? 0 : wanted(child)));
  const left = Math.max(0, length - lengths.reduce((sum, one) => sum + one, 0));
  const weights = children.reduce((sum, { weight }) => sum + (weight ?? 0), 0);
  return children.map(({ weight }, index) =>
    weight ? Math.floor((left * weight) / weights) : (lengths[index] ?? 0),
  );
}

function inARow(lengths: readonly number[], start: number): { at: number; length: number }[] {
  let next = start;
  return lengths.map((length) => {
    const at = next;
    next += length;
    return { at, length };
  });
}

/** A view is the same one when it has the same id, else the same name, else the same place among its siblings. */
function nameAmong(names: Set<string>, view: View, index: number): string {
  const name = view.id || view.name || String(index);
  const unique = names.has(name) ? `${name}~${index}` : name;
  names.add(unique);
  return unique;
}

const moved = (rect: Rect, scrolling: Scrolling | undefined): Rect => {
  if (!scrolling) return rect;
  return scrolling.axis === "x"
    ? { ...rect, x: rect.x - scrolling.at }
    : { ...rect, y: rect.y - scrolling.at };
};

const inset = ({ x, y, width, height }: Rect, by: number): Rect => ({
  x: x + by,
  y: y + by,
  width: Math.max(0, width - 2 * by),
  height: Math.max(0, height - 2 * by),
});

export function overlap(one: Rect, other: Rect): Rect | undefined {
  const x = Math.max(one.x, other.x);
  const y = Math.max(one.y, other.y);
  const width = Math.min(one.x + one.width, other.x + other.width) - x;
  const height = Math.min(one.y + one.height, other.y + other.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : undefined;
}

export function* everyPlaced(placed: Placed): Generator<Placed> {
  yield placed;
  for (const child of placed.children) yield* everyPlaced(child);
}
