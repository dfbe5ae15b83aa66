import type { Space } from "@labwright/controllers";
import {
  type Clock,
  type LabUi,
  type Media,
  type Point,
  realClock,
  type UiEvent,
  type UiNode,
  type UiWindow,
} from "../labUi.ts";
import { Desk, type DeskOptions } from "./desk.ts";
import { pressKey } from "./keys.ts";
import { nodesOf } from "./nodes.ts";
import { Pictures } from "./picture.ts";
import type { Surface } from "./surfaces.ts";
import { Touch } from "./touch.ts";

export type LabScreenOptions = Pick<DeskOptions, "screen" | "isTv" | "page"> & { clock?: Clock };

export const createLabUi = (options: LabScreenOptions): LabUi => new LabScreen(options);

class LabScreen implements LabUi {
  readonly density: number;
  clipboard = "";
  readonly #desk: Desk;
  readonly #touch: Touch;
  readonly #pictures = new Pictures();

  constructor({ clock = realClock, ...options }: LabScreenOptions) {
    this.density = options.screen.density;
    this.#desk = new Desk({ ...options, clock, onKey: (code) => this.key(code) });
    this.#touch = new Touch(this.#desk);
  }

  get faults() {
    return this.#desk.faults;
  }

  get isTv(): boolean {
    return this.#desk.isTv;
  }

  get isOn(): boolean {
    return this.#desk.isOn;
  }

  space(display?: number): Space {
    return this.#desk.space(display);
  }

  windows(display = 0): readonly UiWindow[] {
    return this.#desk.surfaces(display).map((surface) => windowOf(surface, display));
  }

  active(display = 0): UiWindow {
    return windowOf(this.#desk.activeSurface(display), display);
  }

  front(): { packageName: string; activity: string } {
    const { app, screen } = this.#desk.running.front;
    return { packageName: app.packageName, activity: screen.activity };
  }

  running(): readonly string[] {
    return this.#desk.running.packages;
  }

  isIdle(): boolean {
    return !this.faults.neverIdle && this.#desk.running.front.screen.neverIdle !== true;
  }

  keyboardShown(): boolean {
    return this.#desk.isKeyboardShown();
  }

  media(): Media | undefined {
    const { player } = this.#desk.running;
    const media = player?.media(this.#desk.now());
    return player && media && { packageName: player.app.packageName, ...media };
  }

  toasts() {
    return this.#desk.running.toasts;
  }

  tap(point: Point): void {
    if (this.isOn) this.#touch.tap(point);
  }

  longPress(point: Point): void {
    if (this.isOn) this.#touch.longPress(point);
  }

  swipe(from: Point, to: Point, durationMs: number): void {
    if (this.isOn) this.#touch.swipe(from, to, durationMs);
  }

  drag(from: Point, to: Point): void {
    if (this.isOn) this.#touch.drag(from, to);
  }

  pinch(center: Point, scale: number): void {
    if (this.isOn) this.#touch.pinch(center, scale);
  }

  key(code: number, options: { long?: boolean; meta?: number } = {}): void {
    const { page } = this.#desk;
    if (this.isOn && page?.hasKeys && page.press(code)) return;
    pressKey(this.#desk, code, { ...options, isOn: this.isOn });
  }

  type(text: string): void {
    const { page } = this.#desk;
    if (page?.hasKeys) page.type(text);
    else this.#desk.write((before) => before + text);
  }

  setText(node: UiNode, text: string): boolean {
    return this.#desk.setText(node, text);
  }

  focusOn(node: UiNode): boolean {
    return this.#desk.focusOn(node);
  }

  apps() {
    return [...this.#desk.running.tasks.values()].map(({ app: { packageName, label, links } }) => {
      return { packageName, label, schemes: links ? [links.scheme] : [] };
    });
  }

  activities(packageName: string): readonly string[] {
    const app = this.#desk.running.tasks.get(packageName)?.app;
    return app ? [...new Set(Object.values(app.screens).map(({ activity }) => activity))] : [];
  }

  start(target: { packageName: string; activity?: string }) {
    return this.#after(() => this.#desk.running.start(target));
  }

  open(uri: string) {
    return this.#after(() => this.#desk.running.open(uri));
  }

  stop(packageName: string): void {
    this.#after(() => this.#desk.running.stop(packageName));
  }

  clearData(packageName: string): void {
    this.#after(() => this.#desk.running.clearData(packageName));
  }

  install(packageName: string, label: string): void {
    this.#after(() => this.#desk.running.install(packageName, label));
  }

  uninstall(packageName: string): void {
    this.#after(() => this.#desk.running.uninstall(packageName));
  }

  permission(packageName: string, permission: string, granted: boolean): void {
    const permissions = this.#desk.running.tasks.get(packageName)?.granted;
    if (granted) permissions?.add(permission);
    else permissions?.delete(permission);
  }

  granted(packageName: string): readonly string[] {
    return [...(this.#desk.running.tasks.get(packageName)?.granted ?? [])];
  }

  crash(packageName: string, reason: string): void {
    this.#after(() => this.#desk.running.crash(packageName, reason));
  }

  notResponding(packageName: string, reason: string): void {
    this.#after(() => this.#desk.running.notResponding(packageName, reason));
  }

  rotate(rotation: Space["rotation"]): void {
    this.#after(() => {
      if (!this.isTv) this.#desk.rotation = rotation;
    });
  }

  configure(look: { night?: boolean; fontScale?: number; locale?: string }): void {
    this.#after(() => {
      this.#desk.look = { ...this.#desk.look, ...look };
    });
  }

  notifications(open: boolean): void {
    this.#desk.notifications(open);
  }

  home(): void {
    this.#desk.home();
  }

  power(on: boolean): void {
    this.#desk.power(on);
  }

  async settle(): Promise<void> {
    await this.#desk.page?.settle();
  }

  async picture(display = 0) {
    const desk = this.#desk;
    const page = await desk.page?.picture();
    return this.#pictures.take(this.isOn ? desk.surfaces(display) : [], {
      space: desk.space(display),
      scale: desk.scale,
      fontScale: desk.look.fontScale,
      isNight: desk.look.night,
      showsFocus: this.isTv,
      page: page?.toString("base64"),
      movingAt: this.isIdle() ? undefined : desk.now(),
    });
  }

  onEvent(listener: (event: UiEvent) => void): () => void {
    return this.#desk.onEvent(listener);
  }

  #after<T>(change: () => T): T {
    const result = change();
    this.#desk.changed();
    return result;
  }
}

function windowOf(surface: Surface, display: number): UiWindow {
  const { kind, packageName, activity, title, isSecure, root, state } = surface;
  const node = nodesOf(root, packageName, state.focus);
  if (!node) throw new Error(`The window ${title} has no size.`);
  return { kind, packageName, ...(activity && { activity }), title, isSecure, display, root: node };
}
