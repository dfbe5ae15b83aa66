import type { LabUi, UiNode } from "../labUi.ts";

/** A node as the page source shows it; the root and toasts are not nodes of the screen. */
export type TreeNode = {
  tag: string;
  attributes: ReadonlyMap<string, string>;
  node: UiNode | undefined;
  parent: TreeNode | undefined;
  children: TreeNode[];
};

export type TreeOptions = {
  roots: readonly UiNode[];
  toast: string | undefined;
  /** Layouts that say nothing and do nothing are left out, and their children take their place. */
  isCompressed: boolean;
  maxDepth: number;
};

/** The hierarchy with its attributes in the order in which the server writes them (UiElementSnapshot). */
export function treeOf(ui: LabUi, options: TreeOptions): TreeNode {
  const { rotation, width, height } = appSpace(ui);
  const attributes: [string, string][] = [
    ["index", "0"],
    ["class", "hierarchy"],
    ["rotation", String(rotation / 90)],
    ["width", String(width)],
    ["height", String(height)],
  ];
  const tree: TreeNode = {
    tag: "hierarchy",
    attributes: new Map(attributes),
    node: undefined,
    parent: undefined,
    children: [],
  };
  for (const root of options.roots) add(tree, root, { ...options, depth: 1 });
  if (options.toast !== undefined) tree.children.push(toastNode(tree, options.toast));
  return tree;
}

/** Without the navigation bar, as Display.getSize has it. */
function appSpace(ui: LabUi) {
  const space = ui.space();
  const bar = ui.windows().find(({ title }) => title === "NavigationBar0")?.root.bounds;
  return { ...space, height: space.height - (bar?.height ?? 0) };
}

function add(parent: TreeNode, node: UiNode, options: TreeOptions & { depth: number }): void {
  if (options.depth > options.maxDepth) return;
  if (options.isCompressed && isUnimportant(node)) {
    for (const child of node.children) add(parent, child, options);
    return;
  }
  const attributes = new Map(attributesOf(node, parent.children.length));
  const own: TreeNode = { tag: tagOf(node), attributes, node, parent, children: [] };
  parent.children.push(own);
  for (const child of node.children) add(own, child, { ...options, depth: options.depth + 1 });
}

const isUnimportant = ({ text, contentDescription, resourceId, clickable, scrollable }: UiNode) =>
  !text && !contentDescription && !resourceId && !clickable && !scrollable;

const tagOf = ({ className }: UiNode) => className.replace(/[$@#&]/g, ".") || "android.view.View";

export const boundsOf = ({ bounds: { x, y, width, height } }: UiNode): string =>
  `[${x},${y}][${x + width},${y + height}]`;

function attributesOf(node: UiNode, index: number): [string, string][] {
  const isField = node.hint !== undefined;
  const all: [string, string | number | boolean | undefined][] = [
    ["index", index],
    ["package", node.packageName],
    ["class", node.className],
    ["text", node.text ?? ""],
    ["content-desc", node.contentDescription],
    ["resource-id", node.resourceId],
    ["checkable", node.checkable],
    ["checked", node.checked],
    ["clickable", node.clickable],
    ["enabled", node.enabled],
    ["focusable", node.focusable],
    ["focused", node.focused],
    ["long-clickable", node.longClickable],
    ["password", node.password],
    ["scrollable", node.scrollable],
    ["selected", node.selected],
    ["bounds", boundsOf(node)],
    ["displayed", true],
    ["hint", node.hint],
    ["showing-hint", isField ? node.text === node.hint : undefined],
  ];
  return all.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
}

function toastNode(parent: TreeNode, text: string): TreeNode {
  const attributes: [string, string][] = [
    ["index", String(parent.children.length)],
    ["package", "com.android.settings"],
    ["class", "android.widget.Toast"],
    ["text", text],
    ["bounds", "[0,0][0,0]"],
    ["displayed", "false"],
  ];
  return {
    tag: "android.widget.Toast",
    attributes: new Map(attributes),
    node: undefined,
    parent,
    children: [],
  };
}

export const sourceOf = (tree: TreeNode): string =>
  `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n${xml(tree, "")}`;

function xml({ tag, attributes, children }: TreeNode, indent: string): string {
  const written = [...attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
  if (children.length === 0) return `${indent}<${tag}${written} />\n`;
  const below = children.map((child) => xml(child, `${indent}  `)).join("");
  return `${indent}<${tag}${written}>\n${below}${indent}</${tag}>\n`;
}

const escapes: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
  "\n": "&#10;",
};

/** What XML has no place for becomes a question mark, as on the device. */
const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "?")
    .replace(/[<>&"\n]/g, (one) => escapes[one] ?? one);

export function* everyNode(tree: TreeNode): Generator<TreeNode> {
  for (const child of tree.children) {
    yield child;
    yield* everyNode(child);
  }
}
