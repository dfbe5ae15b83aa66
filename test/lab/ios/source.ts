import type { LabUi, UiNode, UiWindow } from "../android/labUi.ts";
import type { TreeNode } from "../android/uia2/tree.ts";
import { isAlert } from "./alerts.ts";
import { bundleIdOf } from "./names.ts";

type Attributes = [name: string, value: string | number | boolean | undefined][];

const prefix = "XCUIElementType";
/** Types by the ends of the classes that the apps of the laboratory are made of. */
const types: readonly (readonly [ending: RegExp, type: string])[] = [
  [/(?:Switch|CheckBox|ToggleButton)$/, "Switch"],
  [/(?:Button|Spinner|CheckedTextView)$/, "Button"],
  [/ImageView$/, "Image"],
  [/SeekBar$/, "Slider"],
  [/ProgressBar$/, "ProgressIndicator"],
  [/(?:RecyclerView|ListView|GridView)$/, "Table"],
  [/ScrollView$/, "ScrollView"],
  [/WebView$/, "WebView"],
];

/** The tree of the app in front, in the order and with the attributes that WebDriverAgent writes. */
export function treeOf(ui: LabUi): TreeNode {
  const scope = element("AppiumAUT", [], undefined);
  const { packageName } = ui.front();
  const label = ui.apps().find((one) => one.packageName === packageName)?.label ?? packageName;
  const { width, height } = ui.space();
  const place: Attributes = [
    ["x", 0],
    ["y", 0],
    ["width", width],
    ["height", height],
  ];
  const app = element(
    `${prefix}Application`,
    [...said({ name: label, label }), ...place, ["index", 0], ["bundleId", bundleIdOf(packageName)]],
    scope,
  );
  for (const window of windowsOf(ui)) addWindow(app, window, { ui, place });
  return scope;
}

const windowsOf = (ui: LabUi): readonly UiWindow[] =>
  ui
    .windows()
    .filter(({ kind, title }) => !["system", "toast"].includes(kind) || title === "NotificationShade");

type Adding = { ui: LabUi; place: Attributes };

function addWindow(app: TreeNode, window: UiWindow, { ui, place }: Adding): void {
  const index: Attributes = [["index", app.children.length]];
  const own = element(`${prefix}Window`, [...said({}), ...place, ...index], app);
  const { root, kind } = window;
  if (kind === "keyboard") addNode(own, root, ui, `${prefix}Keyboard`);
  else if (isAlert(window)) addNode(own, root, ui, `${prefix}Alert`, titleOf(root));
  else addNode(own, root, ui);
}

const titleOf = (root: UiNode): string =>
  root.children.find(({ className, text }) => className.endsWith("TextView") && text)?.text ?? "";

function addNode(parent: TreeNode, node: UiNode, ui: LabUi, given?: string, label?: string): void {
  const tag = given ?? `${prefix}${typeOf(node, parent)}`;
  const words = label === undefined ? wordsOf(node, tag) : { name: label, label };
  const { x, y, width, height } = node.bounds;
  const own = element(
    tag,
    [
      ...said({ ...words, enabled: node.enabled, accessible: node.clickable || node.text !== undefined }),
      ["x", x],
      ["y", y],
      ["width", width],
      ["height", height],
      ["index", parent.children.length],
      ["placeholderValue", node.hint],
      ...(ui.isTv ? ([["focused", node.focused]] satisfies Attributes) : []),
    ],
    parent,
    node,
  );
  for (const child of node.children) addNode(own, child, ui);
}

function typeOf(node: UiNode, parent: TreeNode): string {
  const { className, password, clickable } = node;
  if (className.endsWith("EditText")) return password ? "SecureTextField" : "TextField";
  const found = types.find(([ending]) => ending.test(className))?.[1];
  if (found !== undefined) return found;
  if (className.endsWith("TextView")) return clickable ? "Button" : "StaticText";
  if (!clickable) return "Other";
  return parent.tag === `${prefix}Table` ? "Cell" : "Button";
}

type Words = { name?: string | undefined; label?: string | undefined; value?: string | undefined };

/** An identifier of the app's makers is the name; without one the label is. */
function wordsOf(node: UiNode, tag: string): Words {
  const identifier = node.resourceId?.startsWith("android:") ? undefined : node.resourceId?.split("/")[1];
  const isField = node.hint !== undefined;
  const label = node.contentDescription ?? (isField ? undefined : node.text);
  return { name: identifier ?? label, label, value: shownValue(node, tag) };
}

function shownValue(node: UiNode, tag: string): string | undefined {
  if (tag.endsWith("Switch")) return node.checked ? "1" : "0";
  if (tag.endsWith("Slider")) return `${Math.round(Number(node.text ?? 0))}%`;
  if (tag.endsWith("Button")) return node.checked || node.selected ? "1" : undefined;
  return node.text;
}

function said({
  name,
  label,
  value,
  enabled = true,
  accessible = false,
}: Words & Partial<Pick<UiNode, "enabled">> & { accessible?: boolean }): Attributes {
  return [
    ["value", value],
    ["name", name],
    ["label", label],
    ["enabled", enabled],
    ["visible", true],
    ["accessible", accessible],
  ];
}

function element(tag: string, attributes: Attributes, parent: TreeNode | undefined, node?: UiNode): TreeNode {
  const all: Attributes = parent === undefined ? attributes : [["type", tag], ...attributes];
  const written = all.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const own: TreeNode = { tag, attributes: new Map(written), node, parent, children: [] };
  parent?.children.push(own);
  return own;
}
