import { type Attributes, xmlElement, xmlHead } from "../../webdriver/wire.ts";
import type { LabUi, UiNode } from "../labUi.ts";

/** The page source with the attributes in the order in which the server writes them (UiElementSnapshot). */
export function sourceOf(
  ui: LabUi,
  { toast, maxDepth }: { toast: string | undefined; maxDepth: number },
): string {
  const { rotation, width, height } = appSpace(ui);
  const attributes = { index: 0, class: "hierarchy", rotation: rotation / 90, width, height };
  const shown = elementOf(ui.active().root, { index: 0, depth: 1, maxDepth });
  const below = toast === undefined ? shown : shown + toastElement(toast);
  return xmlHead + xmlElement("hierarchy", attributes, "", below);
}

/** Without the navigation bar, as Display.getSize has it. */
function appSpace(ui: LabUi) {
  const space = ui.space();
  const bar = ui.windows().find(({ title }) => title === "NavigationBar0")?.root.bounds;
  return { ...space, height: space.height - (bar?.height ?? 0) };
}

type Place = { index: number; depth: number; maxDepth: number };

function elementOf(node: UiNode, { index, depth, maxDepth }: Place): string {
  if (depth > maxDepth) return "";
  const below = node.children.map((child, at) => elementOf(child, { index: at, depth: depth + 1, maxDepth }));
  return xmlElement(tagOf(node), { index, ...attributesOf(node) }, "  ".repeat(depth), below.join(""));
}

const tagOf = ({ className }: UiNode) => className.replace(/[$@#&]/g, ".") || "android.view.View";

export const attributesOf = (node: UiNode): Attributes => ({
  package: node.packageName,
  class: node.className,
  text: node.text ?? "",
  "content-desc": node.contentDescription,
  "resource-id": node.resourceId,
  checkable: node.checkable,
  checked: node.checked,
  clickable: node.clickable,
  enabled: node.enabled,
  focusable: node.focusable,
  focused: node.focused,
  "long-clickable": node.longClickable,
  password: node.password,
  scrollable: node.scrollable,
  selected: node.selected,
  bounds: boundsOf(node),
  displayed: true,
  hint: node.hint,
  "showing-hint": node.hint === undefined ? undefined : node.text === node.hint,
});

const boundsOf = ({ bounds: { x, y, width, height } }: UiNode): string =>
  `[${x},${y}][${x + width},${y + height}]`;

const toastElement = (text: string): string => {
  const name = "android.widget.Toast";
  const known = { index: 1, package: "com.android.settings", class: name, text };
  return xmlElement(name, { ...known, bounds: "[0,0][0,0]", displayed: false }, "  ", "");
};
