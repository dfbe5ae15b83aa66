import type { Rect, Space } from "@labwright/controllers";
import type { UiWindow } from "../labUi.ts";
import { everyPlaced, Layout, newWindowState, type Placed, type WindowState } from "./layout.ts";
import type { Popup } from "./popups.ts";
import * as system from "./system.ts";
import type { Task } from "./task.ts";
import type { App, Glance, View } from "./views.ts";

export type Surface = {
  kind: UiWindow["kind"];
  packageName: string;
  activity?: string;
  title: string;
  isSecure: boolean;
  root: Placed;
  state: WindowState;
  task: Task | undefined;
  popup: Popup | undefined;
};

export type Scene = {
  space: Space;
  scale: number;
  fontScale: number;
  language: string;
  hasBars: boolean;
  task: Task;
  glance: Glance;
  /** Of the system, above those of the app. */
  popups: readonly Popup[];
  toasts: readonly { packageName: string; text: string }[];
  isKeyboardShown: boolean;
  /** The shade with news of these apps; undefined while it is closed. */
  news: readonly App[] | undefined;
  systemStates: SystemStates;
};

export type SystemStates = { bars: WindowState; keyboard: WindowState; shade: WindowState };
export const newSystemStates = (): SystemStates => ({
  bars: newWindowState(),
  keyboard: newWindowState(),
  shade: newWindowState(),
});

export const shadeTitle = "NotificationShade";
const keyboardShare = 0.38;

export function surfacesOf(scene: Scene): Surface[] {
  const popups = [...scene.task.popups, ...scene.popups];
  return [
    appSurface(scene),
    ...popups.map((popup) => popupSurface(scene, popup)),
    ...(scene.isKeyboardShown ? [keyboardSurface(scene)] : []),
    ...(scene.hasBars ? barSurfaces(scene) : []),
    ...(scene.news ? [shadeSurface(scene, scene.news)] : []),
    ...scene.toasts.map((toast) => toastSurface(scene, toast)),
  ];
}

export function secondDisplay(space: Space, scale: number): Surface {
  const state = newWindowState();
  const layout = new Layout({ density: scale, fontScale: 1 }, state);
  const rect = { x: 0, y: 0, width: space.width, height: space.height };
  return {
    kind: "application",
    packageName: system.systemUi,
    title: "SecondDisplay",
    isSecure: false,
    state,
    task: undefined,
    popup: undefined,
    root: layout.place(windowOf(system.secondScreen()), { rect, key: "second" }),
  };
}

const whole = ({ space }: Scene): Rect => ({ x: 0, y: 0, width: space.width, height: space.height });

const barHeights = ({ hasBars, scale }: Scene) => ({
  status: hasBars ? Math.round(system.statusBarHeight * scale) : 0,
  navigation: hasBars ? Math.round(system.navigationBarHeight * scale) : 0,
});

function keyboardRect(scene: Scene): Rect {
  const { width, height } = scene.space;
  const own = Math.round(height * keyboardShare);
  return { x: 0, y: height - barHeights(scene).navigation - own, width, height: own };
}

const layoutOf = ({ scale, fontScale }: Scene, state: WindowState) =>
  new Layout({ density: scale, fontScale }, state);

const frame = (children: readonly View[], more: Partial<View> = {}): View => ({
  className: "android.widget.FrameLayout",
  flow: "column",
  children,
  ...more,
});

const windowOf = (view: View): View =>
  frame([frame([{ ...view, weight: 1 }], { id: "android:id/content", weight: 1 })]);

function appSurface(scene: Scene): Surface {
  const { task, glance, space } = scene;
  const { entry, screen, app } = task;
  const bars = barHeights(scene);
  const window = {
    x: 0,
    y: bars.status,
    width: space.width,
    height: space.height - bars.status - bars.navigation,
  };
  const view = windowOf(translated(screen.view(glance), app.texts?.[scene.language]));
  const layout = layoutOf(scene, entry.state);
  const root = layout.place(view, { rect: window, key: entry.key });
  const hidden = scene.isKeyboardShown ? hiddenFocus(root, entry.state, keyboardRect(scene).y) : 0;
  const rect = { ...window, y: window.y - hidden };
  return {
    kind: "application",
    packageName: app.packageName,
    activity: screen.activity,
    title: `${app.packageName}/${app.packageName}${screen.activity}`,
    isSecure: screen.isSecure === true,
    root: hidden > 0 ? layout.place(view, { rect, key: entry.key, window }) : root,
    state: entry.state,
    task,
    popup: undefined,
  };
}

/** How far the app moves up for its field that the keyboard would hide (adjustPan). */
function hiddenFocus(root: Placed, { focus, isTyping }: WindowState, keyboardTop: number): number {
  if (!isTyping) return 0;
  for (const { key, rect } of everyPlaced(root)) {
    if (key === focus) return Math.max(0, rect.y + rect.height - keyboardTop);
  }
  return 0;
}

function popupSurface(scene: Scene, popup: Popup): Surface {
  const { space, scale, task } = scene;
  const layout = layoutOf(scene, popup.state);
  const width = Math.round(Math.min(space.width * 0.85, 400 * scale));
  const view = frame([popup.view], { look: "dialog" });
  const height = Math.min(layout.heightOf(view, width), Math.round(space.height * 0.8));
  const x = Math.round((space.width - width) / 2);
  const y = Math.round((space.height - height) / 2);
  return {
    kind: "dialog",
    packageName: popup.packageName,
    title: popup.title,
    isSecure: false,
    state: popup.state,
    task,
    popup,
    root: layout.place(view, { rect: { x, y, width, height }, key: popup.key }),
  };
}

type Part = {
  kind: UiWindow["kind"];
  packageName: string;
  title: string;
  view: View;
  rect: Rect;
  key: string;
};

function systemSurface(scene: Scene, state: WindowState, part: Part): Surface {
  const { kind, packageName, title, view, rect, key } = part;
  const root = layoutOf(scene, state).place(view, { rect, key });
  return { kind, packageName, title, isSecure: false, root, state, task: undefined, popup: undefined };
}

const keyboardSurface = (scene: Scene): Surface =>
  systemSurface(scene, scene.systemStates.keyboard, {
    kind: "keyboard",
    packageName: system.inputMethod,
    title: "InputMethod",
    view: system.keyboard(),
    rect: keyboardRect(scene),
    key: "keyboard",
  });

function barSurfaces(scene: Scene): Surface[] {
  const { width, height } = scene.space;
  const { status, navigation } = barHeights(scene);
  const bar = (title: string, view: View, rect: Rect) =>
    systemSurface(scene, scene.systemStates.bars, {
      kind: "system",
      packageName: system.systemUi,
      title,
      view,
      rect,
      key: title,
    });
  return [
    bar("StatusBar", system.statusBar(), { x: 0, y: 0, width, height: status }),
    bar("NavigationBar0", system.navigationBar(), {
      x: 0,
      y: height - navigation,
      width,
      height: navigation,
    }),
  ];
}

const shadeSurface = (scene: Scene, news: readonly App[]): Surface =>
  systemSurface(scene, scene.systemStates.shade, {
    kind: "system",
    packageName: system.systemUi,
    title: shadeTitle,
    view: system.shade(news),
    rect: whole(scene),
    key: "shade",
  });

function toastSurface(scene: Scene, { packageName, text }: { packageName: string; text: string }): Surface {
  const { width, height } = scene.space;
  const view = system.toastView(text);
  const own = Math.round(width * 0.7);
  const tall = layoutOf(scene, newWindowState()).heightOf(view, own);
  return systemSurface(scene, newWindowState(), {
    kind: "toast",
    packageName,
    title: "Toast",
    view,
    key: `toast ${text}`,
    rect: { x: Math.round((width - own) / 2), y: Math.round(height * 0.82), width: own, height: tall },
  });
}

function translated(view: View, texts: Readonly<Record<string, string>> | undefined): View {
  if (!texts) return view;
  return {
    ...view,
    ...(view.text !== undefined && view.field === undefined && { text: texts[view.text] ?? view.text }),
    ...(view.children && { children: view.children.map((child) => translated(child, texts)) }),
  };
}
