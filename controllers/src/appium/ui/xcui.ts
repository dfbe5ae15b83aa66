import type { Rect } from "../../contract.ts";
import { scanTree } from "../../phones/xml.ts";
import { nodesBelow, type UiNode } from "../../screens/tree.ts";

const prefix = "XCUIElementType";
const container = "AppiumAUT";

/** Roles by types of XCUITest. A type without a role is a container, or a cell, which gets its role from its list. */
const roles: Readonly<Record<string, string>> = {
  ...{ TextField: "textbox", SecureTextField: "textbox", SearchField: "textbox", TextView: "textbox" },
  ...{ Button: "button", Icon: "button", Key: "button", PopUpButton: "button", MenuButton: "button" },
  ...{ Stepper: "group", SegmentedControl: "tablist", TabBar: "tablist", Tab: "tab", Link: "link" },
  ...{ Switch: "switch", Toggle: "switch", CheckBox: "checkbox", RadioButton: "radio" },
  ...{ Slider: "slider", PickerWheel: "combobox", DatePicker: "group", MenuItem: "menuitem" },
  ...{ StaticText: "text", Image: "img", ProgressIndicator: "progressbar", ActivityIndicator: "progressbar" },
  ...{
    Table: "list",
    CollectionView: "list",
    WebView: "document",
    Alert: "alertdialog",
    Sheet: "alertdialog",
  },
};

const acting = new Set([
  ...["TextField", "SecureTextField", "SearchField", "TextView", "Button", "Icon", "PopUpButton"],
  ...["MenuButton", "Tab", "Link", "Switch", "Toggle", "CheckBox", "RadioButton", "Slider"],
  ...["PickerWheel", "MenuItem", "Cell"],
]);
const switching = new Set(["Switch", "Toggle", "CheckBox", "RadioButton"]);
const scrolling = new Set(["Table", "CollectionView", "ScrollView"]);

export type XcuiScreen = {
  roots: UiNode[];
  /** The name of the app in front, or its bundle id where the source has it. */
  app: string;
  size: { width: number; height: number };
  isKeyboardShown: boolean;
  isCut: boolean;
};

/**
 * Reads XCUITest's page source. The keys of a keyboard are left out. An alert of the system may be a second app, after the one
 * in front. Undefined if it holds no whole app.
 */
export function scanXcui(source: string): XcuiScreen | undefined {
  const xml = source.includes(`<${container}`) ? source : `<${container}>${source}</${container}>`;
  let app: string | undefined;
  const scanned = scanTree(xml, container, (attributes, parent) => {
    if (parent === undefined) app ??= attributes.get("bundleId") ?? attributes.get("name") ?? "";
    return toNode(attributes, parent);
  });
  if (scanned === undefined) return undefined;
  const { roots, isCut } = scanned;
  const [root] = roots;
  if (root === undefined || app === undefined) return undefined;
  const { width, height } = root.bounds;
  return { roots, app, size: { width, height }, isKeyboardShown: cutKeyboards(roots), isCut };
}

function cutKeyboards(roots: readonly UiNode[]): boolean {
  const keyboards = roots
    .flatMap((root) => [...nodesBelow(root)])
    .filter(({ className }) => className === `${prefix}Keyboard`);
  for (const keyboard of keyboards) {
    const siblings = keyboard.parent?.children;
    siblings?.splice(siblings.indexOf(keyboard), 1);
  }
  return keyboards.some(({ bounds }) => bounds.height > 0);
}

function toNode(attributes: ReadonlyMap<string, string>, parent: UiNode | undefined): UiNode {
  const text = (name: string) => attributes.get(name) ?? "";
  const className = text("type");
  const type = className.slice(prefix.length);
  const role = roles[type] ?? "";
  const isField = role === "textbox";
  const isShown = text("visible") !== "false";
  const focused = text("focused") === "true";
  return {
    className,
    role,
    id: identifierIn(attributes),
    ...wordsIn(attributes, role),
    hint: isField ? text("placeholderValue") : "",
    bounds: isShown ? boundsIn(attributes) : nowhere,
    checkable: switching.has(type),
    checked: switching.has(type) && isOn(text("value")),
    clickable: acting.has(type),
    disabled: text("enabled") === "false",
    focusable: acting.has(type) || focused,
    focused,
    scrollable: scrolling.has(type),
    password: type === "SecureTextField",
    selected: (type === "Button" || type === "Tab") && isOn(text("value")),
    parent,
    children: [],
  };
}

const isOn = (value: string) => value === "1" || value === "true";

/** The name is the developer's identifier, else the visible text. */
function identifierIn(attributes: ReadonlyMap<string, string>): string {
  const name = attributes.get("name") ?? "";
  return name === attributes.get("label") || name === attributes.get("value") ? "" : name;
}

/** A field is named by its label and holds its value; other elements have one of the two as their text. */
function wordsIn(attributes: ReadonlyMap<string, string>, role: string) {
  const [label = "", value = ""] = [attributes.get("label"), attributes.get("value")];
  if (role === "textbox" || role === "slider") return { text: value, description: label };
  if (role === "combobox") return { text: value || label, description: "" };
  if (role === "") return { text: "", description: "" };
  return { text: label || (role === "text" ? value : ""), description: "" };
}

const nowhere: Rect = { x: 0, y: 0, width: 0, height: 0 };

function boundsIn(attributes: ReadonlyMap<string, string>): Rect {
  const number = (name: string) => Math.round(Number(attributes.get(name) ?? 0)) || 0;
  return { x: number("x"), y: number("y"), width: number("width"), height: number("height") };
}
