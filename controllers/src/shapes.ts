export type Rect = { x: number; y: number; width: number; height: number };

/**
 * The plane that rects are in: its size in pixels, and how far the device's screen is turned clockwise from its natural
 * position. Rects of one space go into another of the same shape, scaled and turned; see `spaces.ts`.
 */
export type Space = { width: number; height: number; rotation: 0 | 90 | 180 | 270 };

/**
 * What a selector goes by. `id` is also a resource id, `label` also a content description or accessibility id; `native` is
 * what the device's own driver reads: a UiSelector, an iOS predicate.
 */
export const selectorKinds = [
  "testid",
  "role",
  "label",
  "placeholder",
  "id",
  "text",
  "css",
  "xpath",
  "native",
] as const;
export type SelectorKind = (typeof selectorKinds)[number];

/** One way to find an element again, in the selector grammar of `click_element` and its like; `score` is 0..1, best first. */
export type Selector = {
  kind: SelectorKind;
  selector: string;
  unique: boolean;
  score: number;
};

/**
 * One thing on a screen, alike for every kind of device. `ref` is good in any action while the element lives.
 * `depth` is its level in the tree; `interactive` says that a user can act on it; `rect` is in the space of its dump.
 * A name, text or value too long for a dump ends in `… 12 more`, counted in characters.
 */
export type Element = {
  ref: string;
  role: string;
  name: string;
  text?: string;
  value?: string;
  /** All that a list offers, in its order. */
  choices?: readonly string[];
  /** How many choices there are beyond those, in a screen with very many. */
  moreChoices?: number;
  /** The headers of the table that a row is in, in one line. */
  headers?: string;
  /** What a field takes and the error shown for it, a few words each. */
  about?: readonly string[];
  /** How it differs from others of the same role and name. */
  apart?: string;
  states: readonly string[];
  rect?: Rect & { window?: string; display?: string };
  depth: number;
  interactive: boolean;
  selectors?: readonly Selector[];
};

/**
 * One snapshot of a screen, elements in reading order. Generations count up from 1 for each device; the last two stay usable.
 * `space` is that of the elements' rects; an element may lie beyond its edges.
 */
export type Dump = {
  generation: number;
  /** The address (web), the activity (Android) or the screen's name. */
  location: string;
  title: string;
  space: Space;
  elements: readonly Element[];
  /** What `interactiveOnly` left out, where the snapshot has it all the same; absent where it does not. */
  others?: readonly Element[];
  /** Texts besides the elements, where the page compares them itself. */
  texts?: TextNews;
  /** What is shown and cannot be read, such as a canvas; absent where nothing is. */
  unread?: readonly string[];
  /** A dialog that is open or was answered since the last snapshot, tabs opened, and the like: one line each. */
  notices: readonly string[];
};

/** What became of a page's texts since the snapshot before, of any caller; nothing for a page without one. */
export type TextNews = {
  /** New texts, and those that said something else; `was` is empty for a new one. */
  changed: readonly { element: Element; was: string }[];
  /** How many more may have changed. */
  more: number;
  gone: readonly string[];
  /** Texts that came and went between the two snapshots. */
  passed: readonly string[];
  /** The first texts of a page without elements. */
  first: readonly Element[];
};

/**
 * A picture of the screen as the device gave it; its space is that of its own pixels. `bytes` is a whole PNG or JPEG file;
 * `takenAt` is ISO 8601 UTC.
 */
export type Frame = Space & {
  mimeType: "image/png" | "image/jpeg";
  bytes: Uint8Array;
  takenAt: string;
};
