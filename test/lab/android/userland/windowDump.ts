import type { LabUi, UiNode, UiWindow } from "../labUi.ts";

const xmlHead = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>";

/** What `uiautomator dump` writes (AOSP, AccessibilityNodeInfoDumper): the window in front, or all of them. */
export function dumpXml(ui: LabUi, apiLevel: number, options: { allWindows: boolean }): string {
  const rotation = ui.space().rotation / 90;
  const nodes = (window: UiWindow) => nodeXml(window.root, 0, apiLevel);
  if (!options.allWindows)
    return `${xmlHead}<hierarchy rotation="${rotation}">${nodes(ui.active())}</hierarchy>`;
  const windows = ui
    .windows()
    .filter(({ kind }) => kind !== "toast")
    .map(
      (window, index) =>
        `<window index="${index}" title="${escapeXml(window.title)}">${nodes(window)}</window>`,
    );
  return `${xmlHead}<displays><display id="0">${windows.join("")}</display></displays>`;
}

function nodeXml(node: UiNode, index: number, apiLevel: number): string {
  const children = node.children.filter(isShown).map((child, place) => nodeXml(child, place, apiLevel));
  const attributes = attributesOf(node, index, apiLevel)
    .map(([name, value]) => `${name}="${escapeXml(String(value))}"`)
    .join(" ");
  return children.length === 0 ? `<node ${attributes} />` : `<node ${attributes}>${children.join("")}</node>`;
}

const isShown = ({ bounds }: UiNode) => bounds.width > 0 && bounds.height > 0;

function attributesOf(node: UiNode, index: number, apiLevel: number): [string, string | number | boolean][] {
  const { x, y, width, height } = node.bounds;
  const isNameless = node.clickable && node.enabled && !hasName(node);
  return [
    ...(isNameless ? [["NAF", true] as [string, boolean]] : []),
    ["index", index],
    ["text", node.text ?? ""],
    ["resource-id", node.resourceId ?? ""],
    ["class", node.className],
    ["package", node.packageName],
    ["content-desc", node.contentDescription ?? ""],
    ["checkable", node.checkable],
    ["checked", node.checked],
    ["clickable", node.clickable],
    ["enabled", node.enabled],
    ["focusable", node.focusable],
    ["focused", node.focused],
    ["scrollable", node.scrollable],
    ["long-clickable", node.longClickable],
    ["password", node.password],
    ["selected", node.selected],
    ["bounds", `[${x},${y}][${x + width},${y + height}]`],
    ...(apiLevel >= 34
      ? ([
          ["drawing-order", index],
          ["hint", node.hint ?? ""],
        ] as [string, string | number][])
      : []),
  ];
}

function hasName({ text, contentDescription, children }: UiNode): boolean {
  return [text, contentDescription].some((one) => one !== undefined && one !== "") || children.some(hasName);
}

/** Also what XML may not hold: the dumper writes a full stop in its place. */
function escapeXml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;")
    .replace(/[^\t\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ".");
}
