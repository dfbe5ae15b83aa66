import type { DeviceFinding, FindingKind, LogLine } from "../src/index.ts";
import { apps, type Item, type Screen, screens } from "./screens.ts";

/** Rows that fit on the screen at once. */
export const rowsShown = 4;
const keptLines = 1_000;

export const boxKeys = [
  ...["UP", "DOWN", "LEFT", "RIGHT", "OK", "BACK", "HOME"],
  ...["VOLUME_UP", "VOLUME_DOWN", "MUTE", "POWER"],
] as const;
export type BoxKey = (typeof boxKeys)[number];

export type Dialog = { text: string; accept(): void };

/**
 * The state of a set-top box: screens, a focus that the D-pad moves, a form, faults that can be switched on. It does
 * nothing by itself: only keys, touches and faults change it.
 */
export class Box {
  screen = "home";
  /** Place of the focus among those items that can have it. */
  focus = 0;
  /** The first row that is shown. */
  top = 0;
  volume = 20;
  muted = false;
  dialog: Dialog | undefined;
  /** Counts everything that changes what is shown. */
  changes = 0;
  readonly values = new Map<string, string>();
  readonly checked = new Set<string>();
  readonly lines: LogLine[] = [];
  private readonly going = new Map<FindingKind, DeviceFinding["at"]>();
  private readonly listeners = new Set<(finding: DeviceFinding) => void>();
  private readonly watchers: (() => void)[] = [];
  private isOn = true;
  private seq = 0;

  current(): Screen {
    const screen = screens[this.screen];
    if (!screen) throw new Error(`The simulated device has no screen ${this.screen}`);
    return screen;
  }

  /** The items that can be seen without scrolling, in their order. */
  shown(): readonly Item[] {
    return this.current().items.slice(this.top, this.top + rowsShown);
  }

  focusable(): Item[] {
    return this.current().items.filter((item) => item.role !== "heading");
  }

  focused(): Item | undefined {
    return this.focusable()[this.focus];
  }

  /** Nothing is lit: it is in standby, or its picture is gone. */
  isDark(): boolean {
    return !this.isOn || this.has("blackscreen");
  }

  /** The app whose screen is in front; that of the launcher is simulated.home. */
  front(): string {
    let screen = this.screen;
    for (;;) {
      const app = apps.find((one) => one.screen === screen);
      if (app) return app.id;
      screen = screens[screen]?.back ?? "home";
    }
  }

  open(screen: string): void {
    this.screen = screen;
    this.focus = 0;
    this.top = 0;
    this.changed(`opened ${screen}`);
  }

  activate(item: Item): void {
    const go = () => {
      if (item.opens !== undefined) this.open(item.opens);
    };
    if (item.asks !== undefined) {
      this.ask({ text: item.asks, accept: go });
      return;
    }
    if (item.role === "checkbox" && !this.checked.delete(item.id)) this.checked.add(item.id);
    this.focusOn(item);
    go();
    this.changed(`activated ${item.id}`);
  }

  focusOn(item: Item): void {
    const place = this.focusable().indexOf(item);
    if (place >= 0) this.focus = place;
    this.reveal(item);
  }

  write(item: Item, text: string): void {
    this.values.set(item.id, text);
    this.changed(`wrote into ${item.id}`);
  }

  press(key: BoxKey): void {
    if (!this.isOn && key !== "POWER") return;
    if (key === "UP" || key === "LEFT") this.move(-1);
    else if (key === "DOWN" || key === "RIGHT") this.move(1);
    else if (key === "HOME") this.open("home");
    else if (key === "BACK") this.open(this.current().back ?? this.screen);
    else if (key === "OK") this.pressOk();
    else if (key === "POWER") this.power();
    else this.setVolume(key);
  }

  /** Scrolls by rows; false when there is nothing further that way. */
  scroll(rows: number): boolean {
    const last = Math.max(this.current().items.length - rowsShown, 0);
    const top = Math.min(Math.max(this.top + rows, 0), last);
    if (top === this.top) return false;
    this.top = top;
    this.changed("scrolled");
    return true;
  }

  /** Scrolls until the item is seen. */
  reveal(item: Item): void {
    const row = this.current().items.indexOf(item);
    if (row < this.top) this.scroll(row - this.top);
    else if (row >= this.top + rowsShown) this.scroll(row - this.top - rowsShown + 1);
  }

  /** Answers the question that is asked. */
  answerDialog(accept: boolean): void {
    const { dialog } = this;
    this.dialog = undefined;
    if (accept) dialog?.accept();
    this.changed(`answered ${accept ? "yes" : "no"}`);
  }

  /** Calls the listener when it shows something else; remotes of one box see what others do. */
  onChange(listener: () => void): void {
    this.watchers.push(listener);
  }

  has(kind: FindingKind): boolean {
    return this.going.has(kind);
  }

  /** Begins or ends a fault, and reports it to its listeners. */
  setFault(kind: FindingKind, on: boolean): void {
    if (this.has(kind) === on) return;
    const at = performance.now();
    if (on) this.going.set(kind, at);
    else this.going.delete(kind);
    if (kind === "app_crash" && on) this.open("home");
    this.changed(`${kind} ${on ? "began" : "ended"}`, on ? "error" : "info");
    this.report({ kind, state: on ? "began" : "ended", at });
  }

  onFinding(listener: (finding: DeviceFinding) => void): () => void {
    this.listeners.add(listener);
    for (const [kind, at] of this.going) listener({ kind, state: "began", at });
    return () => this.listeners.delete(listener);
  }

  private report(finding: DeviceFinding): void {
    for (const listener of this.listeners) listener(finding);
  }

  private ask(dialog: Dialog): void {
    this.dialog = dialog;
    this.changed(`asked ${dialog.text}`);
  }

  private pressOk(): void {
    const item = this.focused();
    if (this.dialog) this.answerDialog(true);
    else if (item) this.activate(item);
  }

  private move(step: number): void {
    const items = this.focusable();
    this.focus = Math.min(Math.max(this.focus + step, 0), Math.max(items.length - 1, 0));
    const item = items[this.focus];
    if (item) this.reveal(item);
    this.changed("moved the focus", "debug");
  }

  /** A dark screen is reported as a black screen, whatever switched it off. */
  private power(): void {
    this.isOn = !this.isOn;
    this.changed(this.isOn ? "switched on" : "switched off");
    if (!this.has("blackscreen")) {
      this.report({ kind: "blackscreen", state: this.isOn ? "ended" : "began", at: performance.now() });
    }
  }

  private setVolume(key: "VOLUME_UP" | "VOLUME_DOWN" | "MUTE"): void {
    if (key === "MUTE") this.muted = !this.muted;
    else this.volume = Math.min(100, Math.max(0, this.volume + (key === "VOLUME_UP" ? 1 : -1)));
    this.changed(`volume ${this.muted ? "off" : this.volume}`);
  }

  private changed(text: string, level: LogLine["level"] = "info"): void {
    this.changes += 1;
    for (const watcher of this.watchers) watcher();
    this.seq += 1;
    this.lines.push({ seq: this.seq, at: new Date().toISOString(), level, source: "box", text });
    if (this.lines.length > keptLines) this.lines.shift();
  }
}
