import type { Rect, Space } from "../contract.ts";

/** One thing on a screen. A driver says what its source has; a flag that is left out is false. */
export type UiNode = {
  /** Such as "button"; empty for a container. */
  role: string;
  text: string;
  bounds: Rect;
  children: UiNode[];
  parent?: UiNode | undefined;
  className?: string;
  packageName?: string;
  /** What its app's makers call it, such as `com.example:id/name`. */
  id?: string;
  description?: string;
  hint?: string;
  checkable?: boolean;
  checked?: boolean;
  clickable?: boolean;
  longClickable?: boolean;
  disabled?: boolean;
  focusable?: boolean;
  focused?: boolean;
  scrollable?: boolean;
  password?: boolean;
  selected?: boolean;
};

/** One snapshot of a screen. What the source does not say is left out. */
export type UiTree = {
  roots: readonly UiNode[];
  space: Space;
  app?: string;
  /** A title that is not a node. */
  title?: string;
  /** The screen in front by a name that is the same whenever it is shown, such as `com.example/.Main`. */
  location?: string;
  /** Keys drive it: what can have the focus can be used. */
  byKeys?: boolean;
  /** A keyboard covers a part of it; which one, Android does not say. */
  isKeyboardShown?: boolean;
  /** The screen is off. */
  isDark?: boolean;
  /** Not all of it was read. */
  isCut?: boolean;
  /** It did not get idle: its nodes may have moved since. */
  isBusy?: boolean;
  /** What could not be read, a line each. */
  notices?: readonly string[];
};

export type TreeSource = {
  /** Throws TREE_EMPTY, NOT_IDLE, UIA_BUSY. */
  read(signal: AbortSignal): Promise<UiTree>;
  /** An input was sent: what was known about idling is outdated. */
  driven?(): void;
  /** Whether something was sent since the latest `read` that this reader did not send. */
  isOutdated?(): boolean;
};

export function* nodesBelow(node: UiNode): Generator<UiNode> {
  yield node;
  for (const child of node.children) yield* nodesBelow(child);
}

export const allNodes = ({ roots }: Pick<UiTree, "roots">): UiNode[] =>
  roots.flatMap((root) => [...nodesBelow(root)]);

/** The space of a screen of this natural size when it is turned. */
export const turnedSpace = (
  { width, height }: { width: number; height: number },
  rotation: Space["rotation"],
): Space => (rotation % 180 === 0 ? { width, height, rotation } : { width: height, height: width, rotation });

export const isField = ({ role }: UiNode): boolean => role === "textbox";

export const isSlider = ({ role }: UiNode): boolean => role === "slider";

/**
 * A user can touch the node itself. A box or switch that cannot be touched belongs to its row; a slider of Android is
 * dragged and not clicked, and one that only shows something takes no focus.
 */
export const isActing = (node: UiNode): boolean =>
  node.clickable === true ||
  node.longClickable === true ||
  isField(node) ||
  (isSlider(node) && node.focusable === true);

export const isScroller = (node: UiNode): boolean => node.scrollable === true && !isField(node);

/** Nodes below one that a user acts on, without those that are acted on by themselves. */
export function* ownBelow(node: UiNode): Generator<UiNode> {
  for (const child of node.children) {
    if (isActing(child) || isScroller(child)) continue;
    yield child;
    yield* ownBelow(child);
  }
}

/** The role of a node that a user acts on: its own, else of the one switch in it, else what it stands in. */
export function roleOfActing(node: UiNode): string {
  const { role } = node;
  if (role !== "" && !/^(text|img|list|grid|document)$/.test(role)) return role;
  const inner = switchIn(node);
  if (inner !== undefined) return inner.role || "checkbox";
  if (node.checkable) return "checkbox";
  return /^(list|grid)$/.test(node.parent?.role ?? "") ? "listitem" : "button";
}

/** The box or switch that a row shows and that is pressed with the row. */
export function switchIn(row: UiNode): UiNode | undefined {
  for (const node of nodesBelow(row)) if (node !== row && node.checkable && !node.clickable) return node;
  return undefined;
}
