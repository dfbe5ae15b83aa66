import { nodesBelow, type UiNode } from "./tree.ts";

/** Roles by the end of a class's name: the first that fits. Classes of apps usually end like those that they extend. */
const roles: readonly (readonly [ending: RegExp, role: string])[] = [
  [/(?:EditText|AutoCompleteTextView|SearchAutoComplete|TextInputEditText)$/, "textbox"],
  [/RadioButton$/, "radio"],
  [/CheckBox$|CheckedTextView$/, "checkbox"],
  [/Switch(?:Compat|Material)?$|ToggleButton$/, "switch"],
  [/Spinner$/, "combobox"],
  [/(?:SeekBar|RatingBar|Slider)$/, "slider"],
  [/Button$|Chip$/, "button"],
  [/ProgressBar$|ProgressIndicator$/, "progressbar"],
  [/(?:TabWidget|TabLayout)$/, "tablist"],
  [/ImageView$|\.Image$/, "img"],
  [/TextView$/, "text"],
  [/(?:ListView|RecyclerView|ViewPager2?)$/, "list"],
  [/GridView$/, "grid"],
  [/WebView$/, "document"],
];

/** What the class says; undefined for a container or a view of an app's own. */
export const roleOfClass = (className: string): string | undefined =>
  roles.find(([ending]) => ending.test(className))?.[1];

export const isField = (node: UiNode): boolean => roleOfClass(node.className) === "textbox";

/** A user can touch the node itself. A box or switch that cannot be touched belongs to its row. */
export const isActing = (node: UiNode): boolean => node.clickable || node.longClickable || isField(node);

/** Things in a screen that only hold others. */
export const isScroller = (node: UiNode): boolean => node.scrollable && !isField(node);

/** Nodes below one that a user acts on, without those that are acted on by themselves. */
export function* ownBelow(node: UiNode): Generator<UiNode> {
  for (const child of node.children) {
    if (isActing(child) || isScroller(child)) continue;
    yield child;
    yield* ownBelow(child);
  }
}

/** The role of a node that a user acts on: that of its class, else of the one switch in it, else what it stands in. */
export function roleOfActing(node: UiNode): string {
  const role = roleOfClass(node.className);
  if (role !== undefined && !/^(text|img|list|grid|document)$/.test(role)) return role;
  const inner = switchIn(node);
  if (inner !== undefined) return roleOfClass(inner.className) ?? "checkbox";
  if (node.checkable) return "checkbox";
  return isInList(node) ? "listitem" : "button";
}

/** The box or switch that a row shows and that is pressed with the row. */
export function switchIn(row: UiNode): UiNode | undefined {
  for (const node of nodesBelow(row)) if (node !== row && node.checkable && !node.clickable) return node;
  return undefined;
}

const isInList = ({ parent }: UiNode): boolean =>
  parent !== undefined && /^(list|grid)$/.test(roleOfClass(parent.className) ?? "");
