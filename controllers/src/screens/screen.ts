import type { Element, Rect, Space } from "../contract.ts";
import type { Node } from "../elements/nodes.ts";
import { canAlwaysBe, type States } from "../elements/stateTable.ts";
import { tidy } from "../elements/text.ts";
import { clipped } from "../spaces.ts";
import { cut, nameOf, nameOfScroller, ownWords, showsHint, wordsIn } from "./names.ts";
import {
  allNodes,
  isActing,
  isField,
  isScroller,
  isSlider,
  nodesBelow,
  ownBelow,
  roleOfActing,
  switchIn,
  type UiNode,
  type UiTree,
} from "./tree.ts";

/** A touchable node that covers more of the screen is background. */
const largestRow = 0.4;

/** An element of a snapshot with the node that it was made of. `key` names the same thing in the next snapshot. */
export type Seen = Node & { key: string; node: UiNode; element: Omit<Element, "ref"> & { rect: Rect } };

export type Screen = { seen: readonly Seen[]; texts: readonly string[]; tree: UiTree; space: Space };

export const seenAgain = ({ seen }: Screen, { key }: Seen): Seen | undefined =>
  seen.find((one) => one.key === key);

export function toScreen(tree: UiTree): Screen {
  const { space } = tree;
  const builder = new ScreenBuilder(tree);
  for (const root of tree.roots) builder.add(root, 0, false);
  return { seen: builder.seen, texts: textsOf(tree), tree, space };
}

/** Every text that can be seen, once for each place. */
function textsOf(tree: UiTree): string[] {
  const shown = allNodes(tree).filter(({ bounds }) => clipped(bounds, tree.space) !== undefined);
  const texts = shown.flatMap(({ text, description = "" }) => [...new Set([tidy(text), tidy(description)])]);
  return [tree.title ?? "", ...texts].filter((text) => text !== "");
}

class ScreenBuilder {
  readonly seen: Seen[] = [];
  /** How often each key was met: the second twin has another one. */
  private readonly keys = new Map<string, number>();
  private readonly firstWords = new Map<UiNode, string>();

  constructor(private readonly tree: UiTree) {}

  /** `inRow`: the node stands in a row that is pressed as a whole, and whose name or text has its words. */
  add(node: UiNode, depth: number, inRow: boolean): void {
    const takesFocus = this.tree.byKeys && node.focusable && !isScroller(node);
    const acts = isActing(node) || (node.checkable && !inRow) || takesFocus === true;
    const made = this.elementOf(node, { depth, acts, inRow });
    if (made) this.seen.push(made);
    const below = made === undefined || made.role === "text" ? depth : depth + 1;
    const inner = !isScroller(node) && (acts ? made !== undefined : inRow);
    for (const child of node.children) this.add(child, below, inner);
  }

  private elementOf(
    node: UiNode,
    { depth, acts, inRow }: { depth: number; acts: boolean; inRow: boolean },
  ): Seen | undefined {
    const rect = clipped(node.bounds, this.tree.space);
    if (rect === undefined) return undefined;
    if (isScroller(node)) return this.scroller(node, { depth, rect });
    if (acts) return this.isBackground(node, rect) ? undefined : this.acting(node, { depth, rect });
    return inRow ? undefined : this.said(node, { depth, rect });
  }

  /** A touchable node behind most of the screen is not a row. */
  private isBackground(node: UiNode, rect: Rect): boolean {
    const { space } = this.tree;
    const share = (rect.width * rect.height) / (space.width * space.height);
    return share > largestRow && node.children.length > 0 && ownWords(node) === "";
  }

  private acting(node: UiNode, place: Pick<Seen["element"], "depth" | "rect">): Seen {
    const { name, guessed } = nameOf(node);
    const value = heldBy(node);
    const all = value === undefined ? wordsIn(node).join(" ") : "";
    const about = [...(guessed ? ["(name guessed)"] : []), ...(node.password ? ["password"] : [])];
    return this.make(node, {
      role: roleOfActing(node),
      name,
      ...(all !== name && all !== "" && { text: cut(all) }),
      ...(value !== undefined && { value }),
      ...(about.length > 0 && { about }),
      states: statesOf(node, switchOf(node)),
      ...place,
      interactive: true,
    });
  }

  private scroller(node: UiNode, place: Pick<Seen["element"], "depth" | "rect">): Seen {
    const { name, guessed } = nameOfScroller(node);
    const { role } = node;
    return this.make(node, {
      role: role === "list" || role === "grid" ? role : "region",
      name,
      about: [...(guessed ? ["(name guessed)"] : []), "scrolls"],
      states: statesOf(node),
      ...place,
      interactive: true,
    });
  }

  /** What is only read: a text, or a picture with a description. */
  private said(node: UiNode, place: Pick<Seen["element"], "depth" | "rect">): Seen | undefined {
    const name = ownWords(node);
    const { role } = node;
    if (name === "" && role !== "progressbar") return undefined;
    const isPicture = role === "img" || role === "progressbar";
    return this.make(node, {
      role: isPicture || role === "heading" ? role : "text",
      name: cut(name),
      states: statesOf(node),
      ...place,
      interactive: false,
    });
  }

  private make(node: UiNode, element: Seen["element"]): Seen {
    const { role, name } = element;
    // Before Android 14 a dump does not separate a hint from a text: a field is found by what it shows, too.
    const text = isField(node) && !node.password ? node.text || undefined : element.text;
    return {
      key: this.keyOf(node, role),
      node,
      element,
      role,
      name,
      ...(node.id && { id: node.id }),
      ...(text !== undefined && { text }),
    };
  }

  /** Made of role, id, words and row, since Android numbers nothing. Typed text is left out: it changes. */
  private keyOf(node: UiNode, role: string): string {
    const own = isField(node) ? "" : wordsIn(node).join(" ");
    const around = this.firstWordsIn(node.parent?.parent ?? node.parent);
    const key = [this.tree.app, role, node.id, node.className, own, around].join("\n");
    const count = this.keys.get(key) ?? 0;
    this.keys.set(key, count + 1);
    return `${key}\n${count}`;
  }

  private firstWordsIn(row: UiNode | undefined): string {
    if (row === undefined) return "";
    const known = this.firstWords.get(row);
    if (known !== undefined) return known;
    let found = ownWords(row);
    for (const node of ownBelow(row)) {
      if (found !== "") break;
      found = ownWords(node);
    }
    this.firstWords.set(row, found);
    return found;
  }
}

/** What a field holds; a field that shows its hint holds nothing. */
function heldBy(node: UiNode): string | undefined {
  if (isField(node)) return showsHint(node) ? "" : node.text;
  if (isSlider(node)) return node.text || undefined;
  // What was chosen stands in it, behind what it is called.
  return node.role === "combobox" ? wordsIn(node).at(-1) : undefined;
}

/** The node that shows whether a thing is on: of a row, the switch in it. */
const switchOf = (node: UiNode): UiNode => (node.checkable ? node : (switchIn(node) ?? node));

/** Every state that an element of a snapshot can be in, as it is now. */
export function statesOfNode(
  node: UiNode,
  role: string,
  { interactive }: Pick<Element, "interactive">,
): States {
  const switched = switchOf(node);
  const { focused = false, disabled = false, selected = false } = node;
  return {
    focused,
    ...((interactive || disabled || canAlwaysBe(role, "disabled")) && { disabled }),
    ...((switched.checkable || switched.checked) && { checked: switched.checked === true }),
    ...(canBeSelected(node) && { selected }),
    ...(isField(node) && { editable: !disabled }),
  };
}

/** Devices report selected=false for every node. It counts if a sibling is selected, as in a row of tabs. */
function canBeSelected(node: UiNode): boolean {
  const around = node.parent?.parent ?? node.parent;
  if (node.selected) return true;
  return around !== undefined && [...nodesBelow(around)].some(({ selected }) => selected);
}

/** `switched` is what shows whether a row is on. */
function statesOf(node: UiNode, switched = node): string[] {
  return [
    ...(node.disabled ? ["disabled"] : []),
    ...(switched.checked ? ["checked"] : []),
    ...(node.selected ? ["selected"] : []),
    ...(node.focused ? ["focused"] : []),
  ];
}
