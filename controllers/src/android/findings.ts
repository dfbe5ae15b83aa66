import type { Frame } from "../contract.ts";
import type { DeviceFinding, FindingSource } from "../ports.ts";
import { pause } from "../waiting/deadlines.ts";
import { type CrashEvent, CrashReader } from "./crashes.ts";
import type { AndroidDevice } from "./device.ts";

/** Until the log is read again that ended by itself. */
const againMs = 2_000;
const pictureMs = 10_000;
/** Only who tells of crashes, from now on: what was written before is over. */
const logLine =
  'logcat -v threadtime -v epoch -b main,system,crash -T "$(date +%s).000" -s AndroidRuntime:E DEBUG:F ActivityManager:I ActivityTaskManager:I';

const kinds = ["app_crash", "anr"] as const;
type Kind = (typeof kinds)[number];
type Listener = (finding: DeviceFinding) => void;

/**
 * Crashes and apps that do not respond, as the log tells them, with a picture. One goes on until its app is started again.
 * The log is read for as long as somebody listens.
 */
export function createFindings(
  device: AndroidDevice,
  takePicture: (signal: AbortSignal) => Promise<Frame>,
): FindingSource {
  const watch = new CrashWatch(device, takePicture);
  return { kinds, onFinding: (listener) => watch.listen(listener) };
}

class CrashWatch {
  readonly #device: AndroidDevice;
  readonly #takePicture: (signal: AbortSignal) => Promise<Frame>;
  readonly #listeners = new Set<Listener>();
  /** By kind and package. */
  readonly #going = new Map<string, DeviceFinding & { kind: Kind }>();
  #control: AbortController | undefined;

  constructor(device: AndroidDevice, takePicture: (signal: AbortSignal) => Promise<Frame>) {
    this.#device = device;
    this.#takePicture = takePicture;
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
      this.#control?.abort(new Error("Nobody listens any more."));
      this.#control = undefined;
      this.#going.clear();
    };
  }

  /** Ends with its connection: the next listener begins on the next one. */
  async #read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#device.isAlive()) {
        const crashes = new CrashReader((event) => void this.#note(event, signal));
        try {
          for await (const bytes of this.#device.link().stream(logLine, signal)) crashes.push(bytes);
        } catch {
          // The connection is gone; the next attempt shows.
        }
        crashes.end();
      }
      await pause(againMs, signal);
    }
  }

  async #note(event: CrashEvent, signal: AbortSignal): Promise<void> {
    if (event.type === "started") return this.#ended(event.packageName);
    const { kind, packageName, excerpt } = event;
    const key = `${kind} ${packageName}`;
    if (this.#going.has(key)) return;
    const finding = { kind, state: "began" as const, at: performance.now() };
    this.#going.set(key, { ...finding, facts: { package: packageName, excerpt } });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(pictureMs)]);
    const frame = await this.#takePicture(limit).catch(() => undefined);
    if (signal.aborted) return;
    const told: DeviceFinding & { kind: Kind } = {
      ...finding,
      facts: { package: packageName, excerpt },
      ...(frame && { frame }),
    };
    if (this.#going.has(key)) this.#going.set(key, told);
    this.#tell(told);
  }

  /** The app runs again. Of two apps that crashed, the one that still has keeps the finding going. */
  #ended(packageName: string): void {
    for (const kind of kinds) {
      const wasGoing = this.#going.delete(`${kind} ${packageName}`);
      const isGoing = [...this.#going.values()].some((one) => one.kind === kind);
      if (wasGoing && !isGoing) this.#tell({ kind, state: "ended", at: performance.now() });
    }
  }

  #tell(finding: DeviceFinding): void {
    for (const listener of [...this.#listeners]) listener(finding);
  }
}
