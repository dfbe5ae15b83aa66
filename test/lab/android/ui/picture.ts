import { createHash } from "node:crypto";
import type { Rect, Space } from "@labwright/controllers";
import { type Placed, textSizeOf } from "./layout.ts";
import { shownText } from "./nodes.ts";
import type { Surface } from "./surfaces.ts";
import type { View } from "./views.ts";

type Appearance = {
  space: Space;
  scale: number;
  fontScale: number;
  isNight: boolean;
  /** A D-pad leads it, so it is drawn on all that has it, not on fields alone. */
  showsFocus: boolean;
  /** A PNG in base64 of the page of a WebView. */
  page: string | undefined;
  /** The time of something that moves; undefined when all is at rest. */
  movingAt: number | undefined;
};

type Picture = { width: number; height: number; rgba: Uint8Array; isSecure: boolean };

const kept = 2;

/** Draws what the windows show. A picture of 1080 by 2400 takes about 100 ms, so the last ones are kept. */
export class Pictures {
  readonly #drawn = new Map<string, Promise<Picture>>();

  take(surfaces: readonly Surface[], look: Appearance): Promise<Picture> {
    const isSecure = surfaces.some((surface) => surface.isSecure);
    const svg = drawing(surfaces, look);
    const hash = createHash("sha1").update(svg).digest("hex");
    const before = this.#drawn.get(hash);
    if (before) return before;
    const picture = rendered(svg, look.space, isSecure);
    this.#drawn.set(hash, picture);
    for (const oldest of [...this.#drawn.keys()].slice(0, -kept)) this.#drawn.delete(oldest);
    return picture;
  }
}

async function rendered(svg: string, { width, height }: Space, isSecure: boolean): Promise<Picture> {
  const { default: sharp } = await import("sharp");
  const rgba = await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer();
  return { width, height, rgba, isSecure };
}

function drawing(surfaces: readonly Surface[], look: Appearance): string {
  const { width, height } = look.space;
  const pen = new Pen(look);
  const isSecure = surfaces.some((surface) => surface.isSecure);
  const windows = surfaces.map((surface) => pen.window(surface));
  const moving = look.movingAt === undefined || isSecure ? "" : pen.moving(look.movingAt);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#000"/>${windows.join("")}${moving}</svg>`;
}

const day = { page: "#ffffff", ink: "#111111", bar: "#dde3ea", card: "#e8eef7", line: "#5f6368" };
const night = { page: "#111111", ink: "#eeeeee", bar: "#222831", card: "#2b3440", line: "#9aa0a6" };
const accent = "#1a5fb4";

class Pen {
  readonly #look: Appearance;
  readonly #colors: typeof day;

  constructor(look: Appearance) {
    this.#look = look;
    this.#colors = look.isNight ? night : day;
  }

  window({ root, isSecure, state }: Surface): string {
    if (isSecure) return box(root.rect, { fill: "#000" });
    return box(root.rect, { fill: this.#colors.page }) + this.#view(root, state.focus);
  }

  moving(at: number): string {
    const { width, height } = this.#look.space;
    const side = Math.round(12 * this.#look.scale);
    const x = Math.floor(at / 20) % Math.max(1, width - side);
    return box({ x, y: Math.round(height * 0.7), width: side, height: side }, { fill: accent });
  }

  #view(placed: Placed, focus: string | undefined): string {
    const { view, rect, visible } = placed;
    if (!visible) return "";
    const isFocused = placed.key === focus && (this.#look.showsFocus || view.field !== undefined);
    const own = this.#background(view, rect) + this.#marks(view, rect) + this.#text(view, rect);
    const line = 3 * this.#look.scale;
    const ring = isFocused
      ? box(inside(rect, line / 2), { fill: "none", stroke: "#d97706", width: line })
      : "";
    const { page } = this.#look;
    if (view.isPage && page !== undefined) return image(rect, page);
    const below = placed.children.map((child) => this.#view(child, focus)).join("");
    return clippedTo(visible, rect, own + ring) + below;
  }

  #background(view: View, rect: Rect): string {
    const { bar, card, page, line } = this.#colors;
    const thin = Math.max(1, this.#look.scale);
    if (view.look === "button") return box(inside(rect, 2 * thin), { fill: view.isDisabled ? line : accent });
    if (view.look === "bar" || view.look === "toast")
      return box(rect, { fill: view.look === "bar" ? bar : line });
    if (view.look === "card" || view.look === "key") return box(inside(rect, 2 * thin), { fill: card });
    if (view.look === "dialog") return box(rect, { fill: page, stroke: line, width: thin });
    if (view.look === "icon")
      return box(inside(rect, 12 * thin), { fill: "none", stroke: line, width: 2 * thin });
    if (view.field !== undefined)
      return box(inside(rect, 4 * thin), { fill: page, stroke: line, width: thin });
    return "";
  }

  /** What a switch, a box or a slider shows besides its text. */
  #marks(view: View, rect: Rect): string {
    const { line } = this.#colors;
    const { scale } = this.#look;
    if (view.range) {
      const { at, most } = view.range;
      const done = {
        ...rect,
        y: rect.y + rect.height / 2,
        height: 4 * scale,
        width: (rect.width * at) / most,
      };
      return box({ ...done, width: rect.width }, { fill: line }) + box(done, { fill: accent });
    }
    if (view.checked === undefined) return "";
    const side = 20 * scale;
    const mark = {
      x: rect.x + rect.width - 2 * side,
      y: rect.y + (rect.height - side) / 2,
      width: side,
      height: side,
    };
    return box(mark, { fill: view.checked ? accent : "none", stroke: line, width: 2 * scale });
  }

  #text(view: View, rect: Rect): string {
    const text = view.range ? undefined : shownText(view);
    if (!text) return "";
    const { scale, fontScale } = this.#look;
    const size = textSizeOf(view) * fontScale * scale;
    const isCentered = view.look === "button" || view.look === "card" || view.look === "key";
    const x = isCentered ? rect.x + rect.width / 2 : rect.x + 8 * scale;
    const lines = inLines(text, Math.max(1, Math.floor(rect.width / (size * 0.55))));
    const first = rect.y + (rect.height - (lines.length - 1) * size * 1.35) / 2 + size * 0.36;
    return lines
      .map((one, index) => this.#line(one, { view, x, y: first + index * size * 1.35, size, isCentered }))
      .join("");
  }

  #line(
    text: string,
    { view, x, y, size, isCentered }: { view: View; x: number; y: number; size: number; isCentered: boolean },
  ): string {
    const isHint = view.field !== undefined && !view.text;
    const light = view.look === "button" || view.look === "toast";
    const fill = light ? "#ffffff" : isHint ? this.#colors.line : this.#colors.ink;
    const anchor = isCentered ? ` text-anchor="middle"` : "";
    const weight = view.look === "title" ? ` font-weight="bold"` : "";
    return `<text x="${px(x)}" y="${px(y)}" font-family="sans-serif" font-size="${px(size)}" fill="${fill}"${anchor}${weight}>${escaped(text)}</text>`;
  }
}

/** Only what is partly hidden needs a frame of its own. */
function clippedTo(visible: Rect, rect: Rect, drawn: string): string {
  const isWhole = visible.width === rect.width && visible.height === rect.height;
  if (isWhole || drawn === "") return drawn;
  const { x, y, width, height } = visible;
  return `<svg x="${x}" y="${y}" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}">${drawn}</svg>`;
}

const image = ({ x, y, width, height }: Rect, png: string): string =>
  `<image x="${x}" y="${y}" width="${width}" height="${height}" href="data:image/png;base64,${png}"/>`;

const px = (size: number) => Math.round(size * 10) / 10;

function box(
  { x, y, width, height }: Rect,
  { fill, stroke, width: line = 0 }: { fill: string; stroke?: string; width?: number },
): string {
  const border = stroke ? ` stroke="${stroke}" stroke-width="${px(line)}"` : "";
  return `<rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" fill="${fill}"${border}/>`;
}

const inside = ({ x, y, width, height }: Rect, by: number): Rect => ({
  x: x + by,
  y: y + by,
  width: Math.max(0, width - 2 * by),
  height: Math.max(0, height - 2 * by),
});

function inLines(text: string, letters: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && `${line} ${word}`.length > letters) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

const escapes: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;" };
/** Without what XML has no place for. */
const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[<>&]/g, (one) => escapes[one] ?? "");
