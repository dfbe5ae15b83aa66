import type { Rect, Space } from "@labwright/controllers";

/** Time on the device. In tests it passes only when they advance it. */
export type Clock = {
  now(): number;
  /** Runs `work` when so many milliseconds have passed; returns what cancels it. */
  after(ms: number, work: () => void): () => void;
};

export const realClock: Clock = {
  now: () => Date.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Pixels of the display as it is turned now. */
export type Point = { x: number; y: number };

export type UiNode = {
  /** The same for as long as the node is there; no other node ever has it. */
  key: string;
  className: string;
  packageName: string;
  resourceId?: string;
  text?: string;
  contentDescription?: string;
  hint?: string;
  bounds: Rect;
  checkable: boolean;
  checked: boolean;
  clickable: boolean;
  longClickable: boolean;
  enabled: boolean;
  focusable: boolean;
  focused: boolean;
  scrollable: boolean;
  password: boolean;
  selected: boolean;
  children: readonly UiNode[];
};

export const nodesBelow = (node: UiNode): UiNode[] => [node, ...node.children.flatMap(nodesBelow)];

/** `toast` windows are seen by those who listen for them, not in a dump. `isSecure`: no picture may be taken of it. */
export type UiWindow = {
  kind: "application" | "dialog" | "keyboard" | "system" | "toast";
  packageName: string;
  activity?: string;
  title: string;
  isSecure: boolean;
  display: number;
  root: UiNode;
};

/** What a screen did by itself or by an input, in the order in which it happened; the shell writes its log of it. */
export type UiEvent =
  | { type: "started"; packageName: string; activity: string; tookMs: number; cold: boolean }
  | { type: "stopped"; packageName: string }
  | { type: "crashed"; packageName: string; reason: string }
  | { type: "not responding"; packageName: string; reason: string }
  | { type: "toast"; packageName: string; text: string }
  | { type: "changed" };

export type Media = {
  packageName: string;
  title: string;
  state: "playing" | "paused" | "stopped";
  positionMs: number;
};

export type UiFaults = {
  /** Something on it always moves, so nothing that waits for rest ends by itself. */
  neverIdle: boolean;
  nullRoots: number;
  /** A keyboard covers the lower part, whatever has the focus. */
  keyboardUp: boolean;
  /** The device has keys of its own: it takes text without a keyboard on its screen. */
  hasHardwareKeyboard: boolean;
  secondDisplay: { width: number; height: number } | undefined;
};

/** A part of a page as accessibility sees it. `bounds` are in pixels of the display, from the corner of the WebView. */
export type PagePart = {
  id: number;
  className: string;
  resourceId: string;
  text: string;
  hint?: string;
  bounds: Rect;
  clickable: boolean;
  isField: boolean;
  isPassword: boolean;
  isFocused: boolean;
  checked?: boolean;
};

/** Where a page is shown. Another `key` is another WebView, which loads the page anew. */
export type PageArea = { key: string; packageName: string; width: number; height: number; scale: number };

/** The page of a WebView. What is sent to it is done later, in its order; `settle` resolves when all of it is done. */
export type LabPage = {
  readonly title: string;
  /** As they were when it settled last. */
  readonly parts: readonly PagePart[];
  /** The keys go to it: it was touched last. */
  hasKeys: boolean;
  show(area: PageArea): void;
  tap(at: Point): void;
  swipe(from: Point, to: Point): void;
  type(text: string): void;
  /** By Android's key code; false for a key that is not the page's. */
  press(code: number): boolean;
  setText(id: number, text: string): void;
  settle(): Promise<void>;
  /** A PNG of its area, when it has settled; undefined while it is not shown. */
  picture(): Promise<Buffer | undefined>;
};

/** What the shell and the UiAutomator2 server know of the screen of one device. Every change is there when a call returns, but for those of a page. */
export type LabUi = {
  readonly faults: UiFaults;
  /** Dots per inch: 160 where a dp is a pixel. */
  readonly density: number;
  readonly isTv: boolean;
  readonly isOn: boolean;
  /** Of a display as it is turned now; 0 is the one of the device itself. */
  space(display?: number): Space;
  /** Bottom first; what is in front is last. */
  windows(display?: number): readonly UiWindow[];
  /** The window that has the input focus, whose root a dump shows: an open shade, else a dialog, else the app. */
  active(display?: number): UiWindow;
  /** The activity in front; a launcher always is when nothing else is. */
  front(): { packageName: string; activity: string };
  /** Packages with a process, in the order in which they were started. */
  running(): readonly string[];
  isIdle(): boolean;
  keyboardShown(): boolean;
  media(): Media | undefined;
  toasts(): readonly { packageName: string; text: string }[];
  clipboard: string;

  tap(point: Point): void;
  longPress(point: Point): void;
  /** One finger along a way; how far a list runs on depends on how fast it was at the end. */
  swipe(from: Point, to: Point, durationMs: number): void;
  drag(from: Point, to: Point): void;
  pinch(center: Point, scale: number): void;
  /** By Android's key codes; `meta` is Android's meta state. */
  key(code: number, options?: { long?: boolean; meta?: number }): void;
  /** Appends to the field that has the focus; does nothing without one. */
  type(text: string): void;
  /** The text of the node in place of what it had; false where it is not a field. */
  setText(node: UiNode, text: string): boolean;
  focusOn(node: UiNode): boolean;

  /** The apps that the screen has, with the schemes of the deep links that they take. */
  apps(): readonly { packageName: string; label: string; schemes: readonly string[] }[];
  /** Activities of an app, `.Main` first; none where the screen has no such app. */
  activities(packageName: string): readonly string[];
  start(target: {
    packageName: string;
    activity?: string;
  }): "started" | "brought to front" | "no such activity";
  /** The app that a deep link opens; undefined where no app takes it. */
  open(uri: string): { packageName: string; activity: string } | undefined;
  stop(packageName: string): void;
  clearData(packageName: string): void;
  /** An app that was installed later has one screen with its name. */
  install(packageName: string, label: string): void;
  uninstall(packageName: string): void;
  permission(packageName: string, permission: string, granted: boolean): void;
  /** The permissions of an app, also those given in a dialog. */
  granted(packageName: string): readonly string[];
  /** The app dies, and the dialog of the system says so. */
  crash(packageName: string, reason: string): void;
  notResponding(packageName: string, reason: string): void;

  rotate(rotation: Space["rotation"]): void;
  configure(settings: { night?: boolean; fontScale?: number; locale?: string }): void;
  notifications(open: boolean): void;
  home(): void;
  power(on: boolean): void;

  /** The display as raw RGBA, row by row; black where a window in front is secure. */
  picture(display?: number): Promise<{ width: number; height: number; rgba: Uint8Array; isSecure: boolean }>;
  onEvent(listener: (event: UiEvent) => void): () => void;
  /** Resolves when a page has done what was sent to it. All else is there at once. */
  settle(): Promise<void>;
};
