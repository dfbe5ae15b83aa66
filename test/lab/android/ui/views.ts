import type { Rect } from "@labwright/controllers";
import type { PagePart } from "../labUi.ts";

/** What apps are made of: plain data. Sizes are in dp, text sizes in sp, so that each screen lays itself out. */
export type Value = string | number | boolean;
export type Values = Readonly<Record<string, Value>>;

type Condition = { value: string; is: Value } | { value: string; matches: RegExp };

export type Button = { text: string; id?: string; actions: readonly Action[] };
export type Dialog = { title: string; message?: string; buttons: readonly Button[] };

/** What a tap, a key or a text does. `{{name}}` in a text that it sets is the value of that name. */
export type Action =
  | { do: "go"; screen: string; with?: Values }
  /** Ends the screens above the app's first one, and shows this one. */
  | { do: "switch to"; screen: string }
  | { do: "replace"; screen: string; with?: Values }
  | { do: "set"; value: string; to: Value }
  | { do: "toggle"; value: string }
  | { do: "add"; value: string; amount: number }
  | { do: "append"; value: string; text: string }
  | { do: "erase"; value: string }
  | { do: "toast"; text: string }
  | { do: "ask"; dialog: Dialog }
  | { do: "choose"; value: string; options: readonly string[] }
  | { do: "when"; condition: Condition; yes: readonly Action[]; no: readonly Action[] }
  | { do: "need permission"; permission: string; yes: readonly Action[]; no: readonly Action[] }
  | { do: "grant" | "deny"; permission: string }
  | { do: "play" | "pause" | "stop" | "play or pause" }
  | { do: "seek"; byMs: number }
  | { do: "crash" | "hang"; reason: string }
  | { do: "launch"; packageName: string }
  | { do: "close app"; packageName: string }
  | { do: "type"; text: string }
  | { do: "press"; code: number };

export type View = {
  className: string;
  id?: string;
  /** Distinguishes it from its siblings where it has no id and they may change places. */
  name?: string;
  text?: string;
  description?: string;
  hint?: string;
  /** `free`: each child is placed at its `at`. */
  flow?: "column" | "row" | "grid" | "free";
  /** In pixels, from the corner of its parent. */
  at?: Rect;
  /** The page of a real browser is shown in it, if the device has one. */
  isPage?: boolean;
  /** The part of a page that it is. */
  part?: PagePart;
  columns?: number;
  /** Scrolls the way that its children flow. */
  scrolls?: boolean;
  width?: number;
  height?: number;
  /** Its share of the space that is left over. */
  weight?: number;
  padding?: number;
  textSize?: number;
  look?: "title" | "button" | "key" | "card" | "bar" | "icon" | "dialog" | "toast";
  children?: readonly View[];
  /** The value that a text typed here goes to. */
  field?: string;
  isPassword?: boolean;
  /** Only the app's own keyboard writes in the field. */
  takesNoKeys?: boolean;
  checked?: boolean;
  isDisabled?: boolean;
  /** A D-pad does not lead the focus out of it. */
  keepsFocus?: boolean;
  isDraggable?: boolean;
  /** A position between 0 and `most` that a finger sets. */
  range?: { value: string; at: number; most: number };
  /** The value in percent that two fingers change. */
  zooms?: string;
  onTap?: readonly Action[];
  onLongPress?: readonly Action[];
  onDoubleTap?: readonly Action[];
  onDrop?: readonly Action[];
};

export type Glance = {
  values: Values;
  positionMs: number;
  isPlaying: boolean;
  apps: readonly { packageName: string; label: string }[];
  /** Packages of the apps that were used, the latest first. */
  recent: readonly string[];
  /** Undefined on a device without a browser for its WebViews. */
  page: { title: string; parts: readonly PagePart[] } | undefined;
};

export type Screen = {
  activity: string;
  view(glance: Glance): View;
  isSecure?: boolean;
  neverIdle?: boolean;
  plays?: { title: string; durationMs: number };
};

export type App = {
  packageName: string;
  label: string;
  /** Its first screen is shown when it starts. */
  screens: Readonly<Record<string, Screen>>;
  /** What it keeps until its data is cleared. Other values are gone with the screen that set them. */
  kept?: Values;
  /** `scheme://screen/argument` opens a screen with the argument as its value. */
  links?: { scheme: string; screens: Readonly<Record<string, string>> };
  /** Texts in other languages, by the language and the English text. */
  texts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  startMs?: { cold: number; warm: number };
};

const widget = (name: string) => `android.widget.${name}`;

export const column = (children: readonly View[], more: Partial<View> = {}): View => ({
  className: widget("LinearLayout"),
  flow: "column",
  children,
  ...more,
});

export const row = (children: readonly View[], more: Partial<View> = {}): View =>
  column(children, { flow: "row", ...more });

export const list = (id: string, children: readonly View[], more: Partial<View> = {}): View =>
  column(children, {
    className: "androidx.recyclerview.widget.RecyclerView",
    id,
    scrolls: true,
    weight: 1,
    ...more,
  });

export const rail = (id: string, children: readonly View[], more: Partial<View> = {}): View =>
  list(id, children, { flow: "row", weight: 0, ...more });

export const scrollArea = (children: readonly View[], more: Partial<View> = {}): View =>
  column(children, { className: widget("ScrollView"), scrolls: true, weight: 1, ...more });

export const text = (content: string, more: Partial<View> = {}): View => ({
  className: widget("TextView"),
  text: content,
  ...more,
});

export const heading = (content: string): View => text(content, { id: "title", look: "title", textSize: 22 });

export const button = (content: string, onTap: readonly Action[], more: Partial<View> = {}): View => ({
  className: widget("Button"),
  text: content,
  look: "button",
  height: 48,
  onTap,
  ...more,
});

export const field = (value: string, hint: string, values: Values, more: Partial<View> = {}): View => ({
  className: widget("EditText"),
  id: value,
  field: value,
  text: String(values[value] ?? ""),
  hint,
  height: 56,
  ...more,
});

const box =
  (className: string) =>
  (value: string, content: string, values: Values, more: Partial<View> = {}): View => ({
    className: widget(className),
    id: value,
    text: content,
    height: 48,
    checked: values[value] === true,
    onTap: [{ do: "toggle", value }],
    ...more,
  });

export const checkBox = box("CheckBox");
export const toggle = box("Switch");

export const radio = (value: string, option: string, values: Values): View => ({
  className: widget("RadioButton"),
  id: `${value}_${option.toLowerCase()}`,
  text: option,
  height: 48,
  checked: values[value] === option,
  onTap: [{ do: "set", value, to: option }],
});

export const spinner = (value: string, label: string, options: readonly string[], values: Values): View => ({
  className: widget("Spinner"),
  id: value,
  description: label,
  height: 48,
  flow: "row",
  children: [text(String(values[value] ?? options[0] ?? ""), { id: "chosen", height: 48 })],
  onTap: [{ do: "choose", value, options }],
});

export const seekBar = (value: string, label: string, values: Values): View => ({
  className: widget("SeekBar"),
  id: value,
  description: label,
  height: 48,
  range: { value, at: Number(values[value] ?? 0), most: 100 },
});

export const icon = (id: string, onTap: readonly Action[], more: Partial<View> = {}): View => ({
  className: widget("ImageButton"),
  id,
  look: "icon",
  width: 48,
  height: 48,
  onTap,
  ...more,
});

export const when = (condition: Condition, yes: readonly Action[], no: readonly Action[] = []): Action => ({
  do: "when",
  condition,
  yes,
  no,
});

/** A row of a list: what it says is in its children, what a tap does is its own. */
export const item = (content: string, onTap: readonly Action[], more: readonly View[] = []): View =>
  row([text(content, { weight: 1 }), ...more], { name: content, height: 64, padding: 8, onTap });
