import type { Space } from "../contract.ts";
import type { UiNode } from "../screens/tree.ts";
import { scanTree } from "./xml.ts";

/** `isWide` where the source says the size of the screen. */
export type ScannedScreen = {
  roots: UiNode[];
  rotation: Space["rotation"];
  isCut: boolean;
  isWide?: boolean;
};

/**
 * Reads the XML of UiAutomator: of `uiautomator dump`, whose nodes are `<node class="…">`, and of its server, which names
 * them after their classes. Undefined when it holds no whole hierarchy.
 */
export function scanScreen(xml: string): ScannedScreen | undefined {
  const found = scanTree(xml, "hierarchy", toNode);
  if (found === undefined) return undefined;
  const { roots, attributes, isCut } = found;
  const [width, height, quarters] = ["width", "height", "rotation"].map((name) =>
    Number(attributes.get(name)),
  );
  return {
    roots,
    isCut,
    rotation: rotations[(quarters ?? 0) & 3] ?? 0,
    ...(width && height && { isWide: width > height }),
  };
}

/** By quarters of a turn. */
export const rotations = [0, 90, 180, 270] as const;

/** As Android writes it: `com.example/.Main`. */
export function locationOf(packageName: string, activity: string): string {
  if (activity === "") return packageName;
  const own = activity.startsWith(`${packageName}.`) ? activity.slice(packageName.length) : activity;
  return `${packageName}/${own}`;
}

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

/** The role of a class of Android; empty for a container or a custom view. */
const roleOfClass = (className: string): string =>
  roles.find(([ending]) => ending.test(className))?.[1] ?? "";

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
    disabled: attributes.get("enabled") === "false",
    focusable: flag("focusable"),
    focused: flag("focused"),
    scrollable: flag("scrollable"),
    password: flag("password"),
    selected: flag("selected"),
    parent,
    children: [],
  };
}
