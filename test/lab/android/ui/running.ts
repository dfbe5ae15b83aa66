import type { Clock, UiEvent } from "../labUi.ts";
import type { Device } from "./actions.ts";
import { newWindowState } from "./layout.ts";
import { crashed, type NewPopup, notResponding, type Popup } from "./popups.ts";
import { firstScreen, Task } from "./task.ts";
import { type App, column, heading } from "./views.ts";

const toastMs = 2_000;
const unnamedStart = { cold: 420, warm: 90 };

type RunningOptions = {
  home: App;
  apps: readonly App[];
  clock: Clock;
  /** The keys that a keyboard on the screen presses. */
  keys: Pick<Device, "type" | "key">;
  emit(event: UiEvent): void;
};

/** The apps of a device: which there are, which run, which is in front, and what the system shows above them. */
export class Running implements Device {
  readonly home: Task;
  readonly tasks = new Map<string, Task>();
  popups: Popup[] = [];
  toasts: { packageName: string; text: string }[] = [];
  readonly #options: RunningOptions;
  /** Those that run, in the order in which they were started, and in that in which they were in front. */
  #started: Task[] = [];
  #order: Task[] = [];
  #made = 0;

  constructor(options: RunningOptions) {
    this.#options = options;
    this.home = new Task(options.home);
    for (const task of [this.home, ...options.apps.map((app) => new Task(app))]) {
      this.tasks.set(task.app.packageName, task);
    }
    this.#launch(this.home);
  }

  get front(): Task {
    return this.#order.at(-1) ?? this.home;
  }

  get packages(): readonly string[] {
    return this.#started.map(({ app }) => app.packageName);
  }

  /** Packages of the apps that were in front, the latest first. */
  get recent(): readonly string[] {
    return this.#order.toReversed().flatMap((task) => (task === this.home ? [] : task.app.packageName));
  }

  get player(): Task | undefined {
    return this.#order.findLast((task) => task.media(this.now()));
  }

  now(): number {
    return this.#options.clock.now();
  }

  type(text: string): void {
    this.#options.keys.type(text);
  }

  key(code: number): void {
    this.#options.keys.key(code);
  }

  start({ packageName, activity }: { packageName: string; activity?: string }) {
    const task = this.tasks.get(packageName);
    const screen = task && screenOf(task.app, activity);
    if (!task || screen === undefined) return "no such activity";
    if (!task.isRunning) {
      this.#launch(task, screen);
      return "started";
    }
    const isNew = screen !== firstScreen(task.app) && task.entry.screen !== screen;
    if (isNew) task.open(screen);
    this.toFront(task);
    this.#reportStart(task, false);
    return isNew ? "started" : "brought to front";
  }

  open(uri: string): { packageName: string; activity: string } | undefined {
    const [, scheme, name = "", argument = ""] = /^([a-z][\w+.-]*):\/\/([^/?#]*)\/?([^?#]*)/i.exec(uri) ?? [];
    for (const task of this.tasks.values()) {
      const { links, packageName } = task.app;
      const value = links?.scheme === scheme ? links?.screens[name] : undefined;
      if (value === undefined) continue;
      if (!task.isRunning) this.#launch(task, firstScreen(task.app));
      task.open(name, value === "" ? {} : { [value]: decoded(argument) });
      this.toFront(task);
      this.#reportStart(task, false);
      return { packageName, activity: task.screen.activity };
    }
    return undefined;
  }

  stop(packageName: string): void {
    const task = this.tasks.get(packageName);
    if (!task?.isRunning) return;
    this.#end(task);
    this.#options.emit({ type: "stopped", packageName });
  }

  clearData(packageName: string): void {
    this.stop(packageName);
    this.tasks.get(packageName)?.clearData();
  }

  install(packageName: string, label: string): void {
    if (this.tasks.has(packageName)) return;
    const view = () => column([heading(label)]);
    const app = { packageName, label, screens: { main: { activity: ".Main", view } } };
    this.tasks.set(packageName, new Task(app));
  }

  uninstall(packageName: string): void {
    if (packageName === this.home.app.packageName) return;
    this.stop(packageName);
    this.tasks.delete(packageName);
  }

  crash(packageName: string, reason: string): void {
    const task = this.tasks.get(packageName);
    if (!task?.isRunning) return;
    this.#options.emit({ type: "crashed", packageName, reason });
    this.#end(task);
    this.#ask(crashed(packageName, task.app.label));
  }

  notResponding(packageName: string, reason: string): void {
    const task = this.tasks.get(packageName);
    if (!task?.isRunning || task.isHung) return;
    task.isHung = true;
    this.#options.emit({ type: "not responding", packageName, reason });
    this.#ask(notResponding(packageName, task.app.label));
  }

  toast(packageName: string, text: string): void {
    const toast = { packageName, text };
    this.toasts = [...this.toasts, toast];
    this.#options.emit({ type: "toast", packageName, text });
    this.#options.clock.after(toastMs, () => {
      this.toasts = this.toasts.filter((one) => one !== toast);
      this.#options.emit({ type: "changed" });
    });
  }

  /** An app that the user goes on waiting for may be used again. */
  close(popup: Popup): void {
    for (const task of this.tasks.values()) {
      task.popups = task.popups.filter((one) => one !== popup);
      if (task.app.packageName === popup.waitsFor) task.isHung = false;
    }
    this.popups = this.popups.filter((one) => one !== popup);
  }

  /** To one of the launcher's own screens. */
  goHome(screen = firstScreen(this.home.app)): void {
    this.home.switchTo(screen);
    this.toFront(this.home);
  }

  toFront(task: Task): void {
    this.#order = [...this.#order.filter((one) => one !== task), task];
  }

  #ask(popup: NewPopup): void {
    this.#made += 1;
    this.popups = [...this.popups, { ...popup, key: `system!${this.#made}`, state: newWindowState() }];
  }

  #launch(task: Task, screen = firstScreen(task.app)): void {
    task.start(screen);
    this.#started.push(task);
    this.toFront(task);
    this.#reportStart(task, true);
  }

  #reportStart(task: Task, cold: boolean): void {
    const { app, screen } = task;
    const { cold: coldMs, warm } = app.startMs ?? unnamedStart;
    const started = {
      packageName: app.packageName,
      activity: screen.activity,
      tookMs: cold ? coldMs : warm,
      cold,
    };
    this.#options.emit({ type: "started", ...started });
  }

  #end(task: Task): void {
    const wasInFront = this.front === task;
    task.stop();
    this.#started = this.#started.filter((one) => one !== task);
    this.#order = this.#order.filter((one) => one !== task);
    if (task === this.home) this.#launch(task);
    else if (wasInFront) this.toFront(this.home);
  }
}

function screenOf(app: App, activity: string | undefined): string | undefined {
  if (activity === undefined) return firstScreen(app);
  const name = activity.startsWith(app.packageName) ? activity.slice(app.packageName.length) : activity;
  return Object.keys(app.screens).find((screen) => app.screens[screen]?.activity === name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
