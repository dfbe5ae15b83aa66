import { fold, tidy } from "../elements/text.ts";
import { isActing, isField, isScroller, isSlider, nodesBelow, ownBelow, type UiNode } from "./tree.ts";

const longest = 200;
/** How near a label must be, in heights of the field. */
const nearestHeights = 2;
/** How many nodes are searched for a label. */
const mostBeside = 300;

/** A name, and whether it is only a guess: the app gave it none. */
export type Name = { name: string; guessed: boolean };

export const ownWords = ({ description = "", text }: UiNode): string => tidy(description) || tidy(text);

/** All that a row says, in reading order, each text once; what its switch says is its state. */
export function wordsIn(row: UiNode): string[] {
  const inner = [...ownBelow(row)].filter(({ checkable }) => !checkable).map(ownWords);
  return [...new Set([ownWords(row), ...inner].filter((text) => text !== ""))];
}

/** What a thing that is acted on is called: by its app, else after its id, else after what stands next to it. */
export function nameOf(node: UiNode): Name {
  // The text of these is their value.
  const holds = isField(node) || isSlider(node);
  const { id = "", description = "", hint = "" } = node;
  const given = holds ? tidy(description) || tidy(hint) : wordsIn(node)[0];
  if (given) return { name: cut(given), guessed: false };
  if (holds) return guess(meaningful(id).join(" ") || labelBeside(node) || words(id));
  return guess(words(id) || words(idBelow(node)) || labelBeside(node));
}

/** Older devices do not say which text of a field is its hint: there it is what its id says, too. */
export const showsHint = ({ text, hint = "", id = "" }: UiNode): boolean =>
  hint === "" ? text !== "" && fold(text) === meaningful(id).join(" ") : text === hint;

const guess = (name: string): Name => ({ name: cut(name), guessed: name !== "" });

/** A scroll area without words of its own is called after its id. */
export function nameOfScroller({ id = "", description = "" }: UiNode): Name {
  const given = tidy(description);
  return given ? { name: cut(given), guessed: false } : guess(words(id));
}

export const cut = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest)} … ${text.length - longest} more` : text;

const kinds =
  /^(?:field|input|btn|bt|iv|img|image|icon|ic|tv|txt|text|et|edit|fab|cb|rb|sw|view|action|button|id)$/;

/** `com.example:id/btn_search` as "search"; an id of nothing but kinds as these. */
const words = (id: string): string => meaningful(id).join(" ") || partsOf(id).join(" ");

const meaningful = (id: string): string[] => partsOf(id).filter((part) => !kinds.test(part));

const partsOf = (id: string): string[] =>
  id
    .replace(/^.*\//, "")
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_\W]+/)
    .filter((part) => part !== "");

/** A picture in a button often has the id that the button lacks. */
const idBelow = (node: UiNode): string => [...ownBelow(node)].find(({ id }) => id)?.id ?? "";

/** The nearest text above or left of a node, among those that share its parent or grandparent. */
function labelBeside(node: UiNode): string {
  const around = node.parent?.parent ?? node.parent;
  if (around === undefined) return "";
  let best = { distance: nearestHeights * Math.max(node.bounds.height, 1), text: "" };
  let looked = 0;
  for (const other of nodesBelow(around)) {
    if (++looked > mostBeside) break;
    const text = isActing(other) || isScroller(other) ? "" : tidy(other.text);
    const distance = text === "" ? Number.POSITIVE_INFINITY : distanceTo(node, other);
    if (distance < best.distance) best = { distance, text };
  }
  return best.text;
}

/** Infinite for what is neither above nor left of it. */
function distanceTo({ bounds }: UiNode, { bounds: other }: UiNode): number {
  const above = bounds.y - (other.y + other.height);
  const isAbove = above >= 0 && other.x < bounds.x + bounds.width && bounds.x < other.x + other.width;
  const left = bounds.x - (other.x + other.width);
  const isLeft = left >= 0 && other.y < bounds.y + bounds.height && bounds.y < other.y + other.height;
  if (isAbove) return above;
  return isLeft ? left : Number.POSITIVE_INFINITY;
}
