import type { Rect, Space } from "../contract.ts";

/** One node of a screen, as accessibility gives it. */
export type UiNode = {
  className: string;
  /** What its class says it is; undefined for a container. */
  role: string | undefined;
  packageName: string;
  /** `com.example:id/name`; empty where it has none. */
  id: string;
  text: string;
  description: string;
  hint: string;
  bounds: Rect;
  checkable: boolean;
  checked: boolean;
  clickable: boolean;
  longClickable: boolean;
  enabled: boolean;
  focusable: boolean;
  focused: boolean;
  scrollable: boolean;
  password: boolean;
  selected: boolean;
  parent: UiNode | undefined;
  children: UiNode[];
};

/** A look at a screen: its windows' roots, how it is turned, and which activity is in front. */
export type UiTree = {
  roots: readonly UiNode[];
  rotation: Space["rotation"];
  front: { packageName: string; activity: string };
  /** Of the display as it is turned and folded now, where the device says it. */
  size?: { width: number; height: number };
  /** A keyboard covers a part of it; which one, Android does not say. */
  isKeyboardShown: boolean;
  /** Nobody sees it: the screen is off. */
  isDark?: boolean;
  /** It has more than is read: what is not here may be there. */
  isCut: boolean;
  /** It did not come to rest: what it holds may have moved since. */
  isBusy?: boolean;
  /** What could not be read, a line each. */
  notices?: readonly string[];
};

/** Where trees come from: one back end of several. */
export type TreeSource = {
  /** Throws TREE_EMPTY, NOT_IDLE, UIA_BUSY. */
  read(signal: AbortSignal): Promise<UiTree>;
  /** Something was sent to the screen: what was known of its rest counts no more. */
  driven(): void;
};

/** A node and all below it, in reading order. */
export function* nodesBelow(node: UiNode): Generator<UiNode> {
  yield node;
  for (const child of node.children) yield* nodesBelow(child);
}
