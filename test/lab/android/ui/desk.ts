import type { Rect, Space } from "@labwright/controllers";
import type { Clock, LabPage, UiEvent, UiFaults, UiNode } from "../labUi.ts";
import { perform } from "./actions.ts";
import { launcher } from "./apps/launcher.ts";
import { samples } from "./apps/samples.ts";
import { settings } from "./apps/settings.ts";
import { shopApp } from "./apps/shop.ts";
import { tvLauncher } from "./apps/tv.ts";
import { focusables } from "./keys.ts";
import { everyPlaced, type Placed } from "./layout.ts";
import { isFocusable } from "./nodes.ts";
import type { Popup } from "./popups.ts";
import { Running } from "./running.ts";
import type { KeyStage } from "./stage.ts";
import {
  newSystemStates,
  type Scene,
  type Surface,
  secondDisplay,
  shadeTitle,
  surfacesOf,
} from "./surfaces.ts";
import type { Action, Value } from "./views.ts";

export type DeskOptions = {
  /** In its natural rotation; `density` in dots per inch. */
  screen: { width: number; height: number; density: number };
  isTv: boolean;
  clock: Clock;
  page?: LabPage;
  onKey(code: number): void;
};

/** The windows of the device, one above the other, and what can be done to them. */
export class Desk implements KeyStage {
  readonly faults: UiFaults = {
    neverIdle: false,
    nullRoots: 0,
    keyboardUp: false,
    hasHardwareKeyboard: false,
    secondDisplay: undefined,
  };
  readonly scale: number;
  readonly isTv: boolean;
  readonly running: Running;
  readonly page: LabPage | undefined;
  isOn = true;
  look = { night: false, fontScale: 1, locale: "en-US" };
  rotation: Space["rotation"] = 0;
  readonly #natural: { width: number; height: number };
  readonly #clock: Clock;
  readonly #listeners = new Set<(event: UiEvent) => void>();
  readonly #systemStates = newSystemStates();
  #isShadeOpen = false;

  constructor({ screen, isTv, clock, page, onKey }: DeskOptions) {
    this.page = page;
    this.scale = screen.density / 160;
    this.isTv = isTv;
    this.#natural = screen;
    this.#clock = clock;
    this.running = new Running({
      home: isTv ? tvLauncher : launcher,
      apps: [settings, shopApp, samples],
      clock,
      keys: { key: onKey, type: (text) => this.write((before) => before + text) },
      emit: (event) => this.emit(event),
    });
  }

  now(): number {
    return this.#clock.now();
  }

  space(display = 0): Space {
    if (display > 0) return { ...(this.faults.secondDisplay ?? { width: 0, height: 0 }), rotation: 0 };
    const { width, height } = this.#natural;
    const isTurned = this.rotation % 180 !== 0;
    return { width: isTurned ? height : width, height: isTurned ? width : height, rotation: this.rotation };
  }

  surfaces(display = 0): readonly Surface[] {
    if (display === 0) {
      const surfaces = surfacesOf(this.#scene());
      if (this.isTv) startFocus(surfaces);
      return surfaces;
    }
    return this.faults.secondDisplay && display === 1 ? [secondDisplay(this.space(1), this.scale)] : [];
  }

  activeSurface(display = 0): Surface {
    const active = frontOf(this.surfaces(display));
    if (!active) throw new Error(`There is no display ${display}.`);
    return active;
  }

  isKeyboardShown(): boolean {
    const { keyboardUp, hasHardwareKeyboard } = this.faults;
    return keyboardUp || (!this.isTv && !hasHardwareKeyboard && this.#activeState.isTyping);
  }

  act(surface: Surface, actions: readonly Action[]): void {
    if (surface.popup) this.running.close(surface.popup);
    if (surface.title === shadeTitle) this.#isShadeOpen = false;
    perform(actions, surface.task, this.running);
    this.changed();
  }

  setValue(surface: Surface, value: string, to: Value): void {
    surface.task?.set(value, to);
    this.changed();
  }

  write(change: (text: string) => string): boolean {
    const surface = this.activeSurface();
    const focused = find(surface.root, surface.state.focus);
    if (focused?.view.takesNoKeys) return false;
    return focused !== undefined && this.#fill(surface, focused, change(focused.view.text ?? ""));
  }

  setText(node: UiNode, text: string): boolean {
    const found = this.#placed(node);
    return found !== undefined && this.#fill(found.surface, found.placed, text);
  }

  focusOn(node: UiNode): boolean {
    const found = this.#placed(node);
    if (!found || !isFocusable(found.placed.view)) return false;
    this.focus(found.surface, found.placed, { isTyping: found.placed.view.field !== undefined });
    return true;
  }

  focus(surface: Surface, placed: Placed, { isTyping }: { isTyping: boolean }): void {
    surface.state.focus = placed.key;
    surface.state.isTyping = isTyping;
    for (let area = placed.parent; area; area = area.parent) reveal(surface, area, placed.rect);
    this.changed();
  }

  scroll(surface: Surface, { key, scrolling }: Placed, by: number): void {
    if (!scrolling) return;
    const at = Math.round(Math.min(scrolling.most, Math.max(0, scrolling.at + by)));
    surface.state.offsets.set(key, at);
    this.changed();
  }

  endTyping(): boolean {
    const { isTyping } = this.#activeState;
    this.#activeState.isTyping = false;
    if (isTyping) this.changed();
    return isTyping;
  }

  control(action: Action): void {
    perform([action], this.running.player ?? this.running.front, this.running);
    this.changed();
  }

  back(): void {
    if (!this.isTv && this.endTyping()) return;
    const surface = this.activeSurface();
    if (this.#isShadeOpen) this.notifications(false);
    else if (surface.popup) this.cancel(surface, surface.popup);
    else if (this.running.front.back()) this.changed();
    else this.home();
  }

  cancel(surface: Surface, { cancel }: Popup): void {
    if (cancel) this.act(surface, cancel);
  }

  home(): void {
    this.#isShadeOpen = false;
    this.running.goHome();
    this.changed();
  }

  recent(): void {
    this.#isShadeOpen = false;
    this.running.goHome("recent");
    this.changed();
  }

  power(on = !this.isOn): void {
    this.isOn = on;
    this.changed();
  }

  notifications(open: boolean): void {
    this.#isShadeOpen = open && !this.isTv;
    this.changed();
  }

  onEvent(listener: (event: UiEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: UiEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  changed(): void {
    this.#showPage();
    this.emit({ type: "changed" });
  }

  /** In the WebView of the app in front; where it has none, the page stays as it is. */
  #showPage(): void {
    if (!this.page) return;
    const { root, packageName } = surfacesOf(this.#scene())[0] ?? {};
    const area = root && [...everyPlaced(root)].find(({ view }) => view.isPage);
    if (!area || packageName === undefined) this.page.hasKeys = false;
    else this.page.show({ ...area.rect, key: area.key, packageName, scale: this.scale });
  }

  get #activeState() {
    const { front, popups } = this.running;
    return popups.at(-1)?.state ?? front.popups.at(-1)?.state ?? front.entry.state;
  }

  #fill(surface: Surface, { view }: Placed, text: string): boolean {
    if (view.field === undefined || view.isDisabled) return false;
    if (view.part) {
      this.page?.setText(view.part.id, text);
      return true;
    }
    this.setValue(surface, view.field, text);
    return true;
  }

  #placed(node: UiNode): { surface: Surface; placed: Placed } | undefined {
    for (const surface of this.surfaces()) {
      const placed = find(surface.root, node.key);
      if (placed?.visible) return { surface, placed };
    }
    return undefined;
  }

  #scene(): Scene {
    const { home, front, popups, toasts, recent, tasks } = this.running;
    const apps = [...tasks.values()].flatMap((task) => (task === home ? [] : task.app));
    return {
      space: this.space(),
      scale: this.scale,
      fontScale: this.look.fontScale,
      language: this.look.locale.split(/[-_]/)[0] ?? "en",
      hasBars: !this.isTv,
      task: front,
      glance: {
        values: front.values(),
        positionMs: front.positionMs(this.now()),
        isPlaying: front.playing === "playing",
        apps,
        recent,
        page: this.page,
      },
      popups,
      toasts,
      isKeyboardShown: this.isKeyboardShown(),
      news: this.#isShadeOpen ? [shopApp, samples] : undefined,
      systemStates: this.#systemStates,
    };
  }
}

const frontOf = (surfaces: readonly Surface[]): Surface | undefined =>
  surfaces.findLast(({ kind, title }) => kind === "application" || kind === "dialog" || title === shadeTitle);

/** A television always has a focus: at first it is on what comes first. */
function startFocus(surfaces: readonly Surface[]): void {
  const surface = frontOf(surfaces);
  if (!surface || find(surface.root, surface.state.focus)) return;
  surface.state.focus = focusables(surface).find(({ visible }) => visible)?.key;
}

function find(root: Placed, key: string | undefined): Placed | undefined {
  for (const placed of everyPlaced(root)) if (placed.key === key) return placed;
  return undefined;
}

/** Scrolls an area by as little as shows the rect. */
function reveal(surface: Surface, { key, rect, scrolling }: Placed, wanted: Rect): void {
  if (!scrolling) return;
  const [start, length, at, size] =
    scrolling.axis === "x"
      ? [rect.x, rect.width, wanted.x, wanted.width]
      : [rect.y, rect.height, wanted.y, wanted.height];
  const beyond = Math.max(0, at + size - start - length);
  const before = Math.max(0, start - at);
  surface.state.offsets.set(key, Math.round(scrolling.at + beyond - before));
}
