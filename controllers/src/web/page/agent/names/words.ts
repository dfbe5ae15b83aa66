/** Reads the text of an element. */
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as sight from "../tree/sight.ts";

/** Receives text in reading order: `gap` before and after a block, `line` for a line break. */
type TextSink = {
  write(text: string, parent: Element): void;
  gap(): void;
  line(): void;
  isOver(node: Node): boolean;
};

/**
 * Visible text of an element in reading order, with the alternative text of images. `hidden` also reads hidden text. Ends in `…`
 * after 4,000 characters.
 */
export function read(element: Element, hidden = false, skips: (node: Node) => boolean = () => false): string {
  const parts: string[] = [];
  let left = 4000;
  const write = (text: string) => {
    left -= text.length + 1;
    parts.push(text);
  };
  const gap = () => void parts.push(" ");
  textBelow(element, hidden, { write, gap, line: gap, isOver: (node) => left <= 0 || skips(node) });
  const text = dom.clean(parts.join("").slice(0, 4000));
  return left < 0 ? `${text}…` : text;
}

/** The same text, complete and as it stands on the screen. */
export function shown(element: Element): string {
  const writer = dom.writer();
  const { write, edge: gap, line } = writer;
  textBelow(element, false, { write, gap, line, isOver: () => false });
  return writer.read();
}

function textBelow(element: Element, hidden: boolean, to: TextSink): void {
  const visit = (node: Node, parent: Element): void => {
    if (to.isOver(node)) return;
    if (dom.isText(node)) to.write(native.nodeValue(node) ?? "", parent);
    else if (node instanceof Element) below(node, parent);
  };
  const below = (node: Element, parent: Element): void => {
    const isBreak = native.localName(node) === "br";
    if (isBreak) to.line();
    if (isBreak || !isRead(node, hidden)) return;
    const own = embedded(node);
    if (own === undefined) textWithin(node, to, dom.children(node), visit);
    else to.write(` ${own} `, parent);
  };
  // A branch of a tree is named without its leaves.
  const isBranch = native.getAttribute(element, "role") === "treeitem";
  const own = dom
    .children(element)
    .filter(
      (child) => !isBranch || !(child instanceof Element) || !native.matches(child, "[role=group],ul,ol"),
    );
  textWithin(element, to, own, visit);
}

function textWithin(
  element: Element,
  to: TextSink,
  children: readonly Node[],
  visit: (node: Node, parent: Element) => void,
): void {
  if (/^(script|style|template|noscript)$/.test(native.localName(element))) return;
  const isBlock = !dom.isInline(element);
  if (isBlock) to.gap();
  for (const child of children) visit(child, element);
  if (isBlock) to.gap();
}

function isRead(node: Element, hidden: boolean): boolean {
  return native.getAttribute(node, "aria-hidden") !== "true" && (hidden || sight.rendered(node));
}

/** The text that replaces a child's own text; undefined if its children are to be read. */
function embedded(node: Element): string | undefined {
  const label = native.getAttribute(node, "aria-label");
  if (label) return label;
  if (node instanceof HTMLImageElement) return node.alt;
  if (native.localName(node) === "svg")
    return [...native.children(node)].find((child) => native.localName(child) === "title")?.textContent ?? "";
  if (native.matches(node, "select,textarea,input")) {
    return native.matches(node, "input[type=button],input[type=submit],input[type=reset]")
      ? (native.getAttribute(node, "value") ?? "")
      : "";
  }
  return undefined;
}
