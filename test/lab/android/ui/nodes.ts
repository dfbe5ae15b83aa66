import type { UiNode } from "../labUi.ts";
import type { Placed } from "./layout.ts";
import type { View } from "./views.ts";

const isField = (view: View) => view.field !== undefined;
const isClickable = (view: View): boolean =>
  view.onTap !== undefined || isField(view) || view.part?.clickable === true;
export const isFocusable = (view: View): boolean =>
  (isClickable(view) || view.range !== undefined) && !view.isDisabled;

export function shownText(view: View): string | undefined {
  if (view.range) return `${view.range.at}.0`;
  if (!isField(view)) return view.text;
  if (!view.text) return view.hint;
  return view.isPassword ? "•".repeat([...view.text].length) : view.text;
}

export function nodesOf(placed: Placed, packageName: string, focus: string | undefined): UiNode | undefined {
  const { view, visible } = placed;
  if (!visible) return undefined;
  const text = shownText(view);
  return {
    key: placed.key,
    className: view.className,
    packageName,
    ...(view.id && { resourceId: view.part ? view.id : resourceId(packageName, view.id) }),
    ...(text !== undefined && { text }),
    ...(view.description !== undefined && { contentDescription: view.description }),
    ...(view.hint !== undefined && { hint: view.hint }),
    bounds: visible,
    checkable: view.checked !== undefined,
    checked: view.checked === true,
    clickable: isClickable(view),
    longClickable: view.onLongPress !== undefined || isField(view),
    enabled: !view.isDisabled,
    focusable: isFocusable(view),
    focused: placed.key === focus || view.part?.isFocused === true,
    scrollable: (placed.scrolling?.most ?? 0) > 0,
    password: view.isPassword === true,
    selected: false,
    children: placed.children.flatMap((child) => nodesOf(child, packageName, focus) ?? []),
  };
}

const resourceId = (packageName: string, id: string): string =>
  id.includes(":") ? id : `${packageName}:id/${id.toLowerCase().replace(/\W+/g, "_")}`;
