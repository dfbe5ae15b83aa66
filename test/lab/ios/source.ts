import type { LabUi, UiNode, UiWindow } from "../android/labUi.ts";
import { type Attributes, xmlElement, xmlHead } from "../webdriver/wire.ts";
import { isAlert } from "./alerts.ts";
import { bundleIdOf } from "./names.ts";

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

/** The app in front, in the order and with the attributes that WebDriverAgent writes. */
export function sourceOf(ui: LabUi): string {
  const { packageName } = ui.front();
  const label = ui.apps().find((one) => one.packageName === packageName)?.label ?? packageName;
  const place = { x: 0, y: 0, ...sizeOf(ui) };
  const words = wordsAttributes({ name: label, label });
  const tag = `${prefix}Application`;
  const attributes = { type: tag, ...words, ...place, index: 0, bundleId: bundleIdOf(packageName) };
  const windows = windowsOf(ui).map((window, index) => windowElement(ui, window, { ...place, index }));
  return xmlHead + xmlElement("AppiumAUT", {}, "", xmlElement(tag, attributes, "  ", windows.join("")));
}

function sizeOf(ui: LabUi) {
  const { width, height } = ui.space();
  return { width, height };
}

const windowsOf = (ui: LabUi): readonly UiWindow[] =>
  ui
    .windows()
    .filter(({ kind, title }) => !["system", "toast"].includes(kind) || title === "NotificationShade");

function windowElement(ui: LabUi, window: UiWindow, place: Attributes): string {
  const tag = `${prefix}Window`;
  const { root, kind } = window;
  const alert = isAlert(window) ? "Alert" : undefined;
  const given = kind === "keyboard" ? "Keyboard" : alert;
  const below = nodeElement(root, { ui, depth: 3, index: 0, parentType: "Window" }, given);
  return xmlElement(tag, { type: tag, ...wordsAttributes({}), ...place }, "    ", below);
}

const titleOf = (root: UiNode): string =>
  root.children.find(({ className, text }) => className.endsWith("TextView") && text)?.text ?? "";

type Place = { ui: LabUi; depth: number; index: number; parentType: string };

function nodeElement(node: UiNode, { ui, depth, index, parentType }: Place, given?: string): string {
  const type = given ?? typeOf(node, parentType);
  const tag = prefix + type;
  const title = titleOf(node);
  const words = type === "Alert" ? { name: title, label: title } : wordsOf(node, type);
  const accessible = node.clickable || node.text !== undefined;
  const attributes = {
    type: tag,
    ...wordsAttributes({ ...words, enabled: node.enabled, accessible }),
    ...node.bounds,
    index,
    placeholderValue: node.hint,
    focused: ui.isTv ? node.focused : undefined,
  };
  const below = node.children.map((child, at) =>
    nodeElement(child, { ui, depth: depth + 1, index: at, parentType: type }),
  );
  return xmlElement(tag, attributes, "  ".repeat(depth), below.join(""));
}

function typeOf({ className, password, clickable }: UiNode, parentType: string): string {
  if (className.endsWith("EditText")) return password ? "SecureTextField" : "TextField";
  const found = types.find(([ending]) => ending.test(className))?.[1];
  if (found !== undefined) return found;
  if (className.endsWith("TextView")) return clickable ? "Button" : "StaticText";
  if (!clickable) return "Other";
  return parentType === "Table" ? "Cell" : "Button";
}

type Words = { name?: string | undefined; label?: string | undefined; value?: string | undefined };

/** An identifier of the app's makers is the name; without one the label is. */
function wordsOf(node: UiNode, type: string): Words {
  const identifier = node.resourceId?.startsWith("android:") ? undefined : node.resourceId?.split("/")[1];
  const isField = node.hint !== undefined;
  const label = node.contentDescription ?? (isField ? undefined : node.text);
  return { name: identifier ?? label, label, value: shownValue(node, type) };
}

function shownValue(node: UiNode, type: string): string | undefined {
  if (type === "Switch") return node.checked ? "1" : "0";
  if (type === "Slider") return `${Math.round(Number(node.text ?? 0))}%`;
  if (type === "Button") return node.checked || node.selected ? "1" : undefined;
  return node.text;
}

const wordsAttributes = ({
  name,
  label,
  value,
  enabled = true,
  accessible = false,
}: Words & { enabled?: boolean; accessible?: boolean }): Attributes => ({
  value,
  name,
  label,
  enabled,
  visible: true,
  accessible,
});
