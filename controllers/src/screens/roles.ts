import { nodesBelow, type UiNode } from "./tree.ts";

export const isField = (node: UiNode): boolean => node.role === "textbox";

export const isSlider = (node: UiNode): boolean => node.role === "slider";

/**
 * A user can touch the node itself. A box or switch that cannot be touched belongs to its row; a slider of Android is
 * dragged and not clicked, and one that only shows something takes no focus.
 */
export const isActing = (node: UiNode): boolean =>
  node.clickable || node.longClickable || isField(node) || (isSlider(node) && node.focusable);

/** Things in a screen that only hold others. */
export const isScroller = (node: UiNode): boolean => node.scrollable && !isField(node);

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
  if (role !== undefined && !/^(text|img|list|grid|document)$/.test(role)) return role;
  const inner = switchIn(node);
  if (inner !== undefined) return inner.role ?? "checkbox";
  if (node.checkable) return "checkbox";
  return isInList(node) ? "listitem" : "button";
}

/** The box or switch that a row shows and that is pressed with the row. */
export function switchIn(row: UiNode): UiNode | undefined {
  for (const node of nodesBelow(row)) if (node !== row && node.checkable && !node.clickable) return node;
  return undefined;
}

const isInList = ({ parent }: UiNode): boolean =>
  parent !== undefined && /^(list|grid)$/.test(parent.role ?? "");
