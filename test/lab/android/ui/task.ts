import { newWindowState, type WindowState } from "./layout.ts";
import type { NewPopup, Popup } from "./popups.ts";
import type { App, Screen, Value, Values } from "./views.ts";

type Entry = {
  screen: string;
  key: string;
  values: Record<string, Value>;
  state: WindowState;
};

type Playback = { state: "playing" | "paused" | "stopped"; baseMs: number; since: number };

/** An app on the device: what it keeps, and while it runs, its screens one above the other. */
export class Task {
  readonly app: App;
  readonly granted = new Set<string>();
  popups: Popup[] = [];
  isRunning = false;
  isHung = false;
  #kept: Record<string, Value>;
  #entries: Entry[] = [];
  #playback: Playback = { state: "stopped", baseMs: 0, since: 0 };
  #opened = 0;

  constructor(app: App) {
    this.app = app;
    this.#kept = { ...app.kept };
  }

  get entry(): Entry {
    const entry = this.#entries.at(-1);
    if (!entry) throw new Error(`${this.app.packageName} has no screen: it does not run.`);
    return entry;
  }

  get screen(): Screen {
    return screenOf(this.app, this.entry.screen);
  }

  values(): Values {
    return { ...this.#kept, ...this.entry.values };
  }

  set(value: string, to: Value): void {
    if (value in this.#kept) this.#kept[value] = to;
    else this.entry.values[value] = to;
  }

  start(screen: string): void {
    this.isRunning = true;
    this.#entries = [];
    this.open(screen);
  }

  stop(): void {
    this.isRunning = false;
    this.isHung = false;
    this.popups = [];
    this.#entries = [];
    this.#playback = { state: "stopped", baseMs: 0, since: 0 };
  }

  clearData(): void {
    this.stop();
    this.#kept = { ...this.app.kept };
    this.granted.clear();
  }

  open(screen: string, values: Values = {}): void {
    this.#opened += 1;
    const key = `${this.app.packageName}#${this.#opened}`;
    this.#entries.push({ screen, key, values: { ...values }, state: newWindowState() });
  }

  /** The screens above the first one end, and this one comes above it. */
  switchTo(screen: string): void {
    this.#entries.splice(1);
    if (this.entry.screen !== screen) this.open(screen);
  }

  replace(screen: string, values: Values): void {
    this.#entries.pop();
    this.open(screen, values);
  }

  /** False where the first screen is in front. */
  back(): boolean {
    if (this.#entries.length < 2) return false;
    this.#entries.pop();
    return true;
  }

  ask(popup: NewPopup): void {
    this.#opened += 1;
    this.popups.push({ ...popup, key: `${this.app.packageName}!${this.#opened}`, state: newWindowState() });
  }

  get playing(): Playback["state"] {
    return this.#playback.state;
  }

  /** The title is that of the screen that plays, wherever the user has gone. */
  media(now: number): { title: string; state: Playback["state"]; positionMs: number } | undefined {
    const player = this.#player();
    if (!player?.plays || this.#playback.state === "stopped") return undefined;
    const title = String(player.entry.values.film ?? player.plays.title);
    return { title, state: this.#playback.state, positionMs: this.positionMs(now) };
  }

  positionMs(now: number): number {
    const { state, baseMs, since } = this.#playback;
    const most = this.#player()?.plays?.durationMs ?? Number.POSITIVE_INFINITY;
    return Math.min(most, Math.max(0, state === "playing" ? baseMs + now - since : baseMs));
  }

  play(state: Playback["state"], now: number): void {
    this.#playback = { state, baseMs: state === "stopped" ? 0 : this.positionMs(now), since: now };
  }

  seek(byMs: number, now: number): void {
    this.#playback = { ...this.#playback, baseMs: Math.max(0, this.positionMs(now) + byMs), since: now };
  }

  #player() {
    const entry = this.#entries.findLast(({ screen }) => screenOf(this.app, screen).plays);
    return entry && { entry, plays: screenOf(this.app, entry.screen).plays };
  }
}

export const firstScreen = (app: App): string => Object.keys(app.screens)[0] ?? "";

function screenOf(app: App, name: string): Screen {
  const screen = app.screens[name];
  if (!screen) throw new Error(`${app.packageName} has no screen ${name}.`);
  return screen;
}
