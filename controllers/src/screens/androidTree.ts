import type { Space } from "../contract.ts";
import type { UiNode } from "./tree.ts";
import { scanTree } from "./xml.ts";

/** The roots of a screen, its rotation in quarters, and whether it was cut; `isWide` where the source says its size. */
export type ScannedScreen = { roots: UiNode[]; quarters: number; isCut: boolean; isWide?: boolean };

/**
 * Reads the XML of UiAutomator: of `uiautomator dump`, whose nodes are `<node class="…">`, and of its server, which names
 * them after their classes. Undefined when it holds no whole hierarchy.
 */
export function scanScreen(xml: string): ScannedScreen | undefined {
  const found = scanTree(xml, "hierarchy", toNode);
  if (found === undefined) return undefined;
  const { roots, attributes, isCut } = found;
  const [width, height] = ["width", "height"].map((name) => Number(attributes.get(name) ?? 0));
  return {
    roots,
    isCut,
    quarters: Number(attributes.get("rotation") ?? 0),
    ...(width && height && { isWide: width > height }),
  };
}

const rotations = [0, 90, 180, 270] as const;
export const rotationOf = (quarters: number): Space["rotation"] => rotations[quarters & 3] ?? 0;

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

/** What a class of Android says; undefined for a container or a view of an app's own. */
const roleOfClass = (className: string): string | undefined =>
  roles.find(([ending]) => ending.test(className))?.[1];

function toNode(attributes: ReadonlyMap<string, string>, parent: UiNode | undefined): UiNode {
  const text = (name: string) => attributes.get(name) ?? "";
  const flag = (name: string) => attributes.get(name) === "true";
  const [, left = 0, top = 0, right = 0, bottom = 0] =
    /^\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]$/.exec(text("bounds"))?.map(Number) ?? [];
  return {
    className: text("class"),
    role: roleOfClass(text("class")),
    packageName: text("package"),
    id: text("resource-id"),
    text: text("text"),
    description: text("content-desc"),
    hint: text("hint"),
    bounds: { x: left, y: top, width: right - left, height: bottom - top },
    checkable: flag("checkable"),
    checked: flag("checked"),
    clickable: flag("clickable"),
    longClickable: flag("long-clickable"),
    enabled: attributes.get("enabled") !== "false",
    focusable: flag("focusable"),
    focused: flag("focused"),
    scrollable: flag("scrollable"),
    password: flag("password"),
    selected: flag("selected"),
    parent,
    children: [],
  };
}
