import type { Frame } from "../contract.ts";
import type { DeviceFinding, FindingSource, Moment } from "../ports.ts";
import { atMost, pause } from "../waiting/deadlines.ts";
import type { CrashEvent } from "./crashReader.ts";

/** Until the log is read again that ended by itself. */
const againMs = 2_000;
const pictureMs = 10_000;

type Kind = "app_crash" | "anr";
type Listener = (finding: DeviceFinding) => void;

export type CrashSource = {
  /** The kinds that the device reports. */
  kinds: readonly Kind[];
  /** Reports what happens from now on, until the log ends or `signal` aborts. */
  follow(report: (event: CrashEvent) => void, signal: AbortSignal): Promise<void>;
  takePicture(signal: AbortSignal): Promise<Frame>;
};

/** Crashes and ANRs from the log, with a picture. One lasts until its app starts again. */
export function createFindings(source: CrashSource): FindingSource {
  const watch = new CrashWatch(source);
  return { kinds: source.kinds, onFinding: (listener) => watch.listen(listener) };
}

class CrashWatch {
  readonly #source: CrashSource;
  readonly #listeners = new Set<Listener>();
  /** By kind and package. */
  readonly #going = new Map<string, DeviceFinding & { kind: Kind }>();
  #control: AbortController | undefined;

  constructor(source: CrashSource) {
    this.#source = source;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    for (const finding of this.#going.values()) listener(finding);
    if (this.#control === undefined) {
      this.#control = new AbortController();
      void this.#read(this.#control.signal).catch(() => undefined);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#control?.abort(new Error("There are no listeners any more."));
      this.#control = undefined;
      this.#going.clear();
    };
  }

  /** A log that ends is read again, as the device's next connection gives it. */
  async #read(signal: AbortSignal): Promise<void> {
    // In their order: an app may run again before the picture of its crash is there.
    let noting: Promise<void> = Promise.resolve();
    const note = (event: CrashEvent) => {
      const at = performance.now();
      noting = noting.then(() => this.#note(event, at, signal)).catch(() => undefined);
    };
    while (!signal.aborted) {
      await this.#source.follow(note, signal).catch(() => undefined);
      await pause(againMs, signal);
    }
  }

  async #note(event: CrashEvent, at: Moment, signal: AbortSignal): Promise<void> {
    if (event.type === "started") return this.#ended(event.packageName, at);
    const { kind, packageName, excerpt } = event;
    const key = `${kind} ${packageName}`;
    if (this.#going.has(key)) return;
    const limit = atMost(signal, pictureMs);
    const frame = await this.#source.takePicture(limit).catch(() => undefined);
    if (signal.aborted) return;
    const facts = { package: packageName, excerpt };
    const finding = { kind, state: "began" as const, at, facts, ...(frame && { frame }) };
    this.#going.set(key, finding);
    this.#report(finding);
  }

  /** The app runs again. Of two apps that crashed, the one that still has keeps the finding going. */
  #ended(packageName: string, at: Moment): void {
    for (const kind of this.#source.kinds) {
      const wasGoing = this.#going.delete(`${kind} ${packageName}`);
      const isGoing = [...this.#going.values()].some((one) => one.kind === kind);
      if (wasGoing && !isGoing) this.#report({ kind, state: "ended", at });
    }
  }

  #report(finding: DeviceFinding): void {
    for (const listener of [...this.#listeners]) listener(finding);
  }
}
