import { setImmediate } from "node:timers/promises";
import { type Listed, listDevices, trackDevices } from "./adb/devices.ts";

/** Retry interval for a server that does not answer. */
const retryMs = 10_000;
const lookAgainMs = 3_000;

type Listener = () => void;

/** `connection` is another number each time the device comes back: adb may keep the number of its transport. */
export type Attached = Listed & { connection: number };

/** Tracks the devices of one adb server while it has a listener. It waits for a server and starts none. */
export class Hub {
  static readonly #hubs = new Map<number, Hub>();

  readonly #port: number;
  readonly #listeners = new Set<Listener>();
  #devices: readonly Attached[] = [];
  #connections = 0;
  /** The server answers, and its list is here. */
  #isSynced = false;
  #tracking: AbortController | undefined;
  /** Ends the pause before the next attempt. */
  #wake: () => void = () => {};

  private constructor(port: number) {
    this.#port = port;
  }

  /** One hub per server, so that each server is tracked once. */
  static at(port: number): Hub {
    const hub = Hub.#hubs.get(port) ?? new Hub(port);
    Hub.#hubs.set(port, hub);
    return hub;
  }

  list(): readonly Attached[] {
    return this.#devices;
  }

  find(serial: string): Attached | undefined {
    return this.#devices.find((device) => device.serial === serial);
  }

  isSynced(): boolean {
    return this.#isSynced;
  }

  /** Calls the listener at every change, until the function that it returns is called. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#tracking === undefined) {
      this.#tracking = new AbortController();
      void this.#track(this.#tracking.signal);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#tracking?.abort(new Error("The devices are not watched any more."));
      this.#tracking = undefined;
    };
  }

  /** Reads the list now: tracking reports a lost network device some ten seconds late. Throws ADB_SERVER_DOWN. */
  async refresh(signal: AbortSignal): Promise<void> {
    this.#note(await listDevices(this.#port, signal), true);
    this.#wake();
  }

  async #track(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#follow(signal);
      // Another watcher may have begun to track since.
      if (this.#tracking?.signal === signal || this.#tracking === undefined) this.#note([], false);
      if (!signal.aborted) await this.#pause(signal);
    }
  }

  /** Until the server ends; at once where none answers. */
  async #follow(signal: AbortSignal): Promise<void> {
    const timer = setInterval(() => this.#lookAgain(signal), lookAgainMs).unref();
    try {
      for await (const devices of trackDevices(this.#port, signal)) {
        if (signal.aborted) return;
        this.#note(devices, true);
        // A server may send lists without an end.
        await setImmediate();
      }
    } catch {
      // The next attempt shows whether one answers.
    } finally {
      clearInterval(timer);
    }
  }

  #lookAgain(signal: AbortSignal): void {
    if (this.#devices.length > 0) this.refresh(signal).catch(() => undefined);
  }

  #note(listed: readonly Listed[], isSynced: boolean): void {
    const before = JSON.stringify([this.#devices, this.#isSynced]);
    this.#devices = listed.map((device) => ({ ...device, connection: this.#connectionOf(device) }));
    this.#isSynced = isSynced;
    if (JSON.stringify([this.#devices, isSynced]) === before) return;
    for (const listener of [...this.#listeners]) listener();
  }

  #connectionOf({ serial, state, transport }: Listed): number {
    const known = this.find(serial);
    const isSame = known?.transport === transport && (known.state === "device" || state !== "device");
    return isSame ? known.connection : ++this.#connections;
  }

  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(end, retryMs).unref();
      this.#wake = end;
      signal.addEventListener("abort", end, { once: true });
    });
  }
}
