import { DeviceError } from "../errors.ts";
import type { ControllerFacts, ControllerStatus } from "../ports.ts";
import { SharedWork } from "../waiting/sharedWork.ts";

/** The connection handling that the drivers of phones share: opening, doubt, status, closing. */
export abstract class ConnectedDevice {
  readonly #opening = new SharedWork<void>();
  readonly #listeners = new Set<(status: ControllerStatus) => void>();
  #isDoubted = false;
  #reported = "";
  #beforeClose: () => Promise<void> = async () => undefined;

  abstract isAlive(): boolean;
  abstract status(): ControllerStatus;
  /** The facts that every controller reports; empty while it is not open. */
  abstract factsForAll(): ControllerFacts;
  /** Connects, in place of a connection that does not answer. */
  protected abstract connect(signal: AbortSignal): Promise<void>;
  protected abstract disconnect(): Promise<void>;
  /** Asks the device for any answer. Throws DeviceError if it gives none. */
  protected abstract ask(signal: AbortSignal): Promise<unknown>;

  open(signal: AbortSignal): Promise<void> {
    return this.#opening.join((own) => this.#open(own), signal);
  }

  /** Work that needs the connection, done before it is closed. */
  beforeClose(work: () => Promise<void>): void {
    this.#beforeClose = work;
  }

  async close(): Promise<void> {
    await this.#beforeClose();
    await this.disconnect();
    this.#isDoubted = false;
  }

  /** Has the next {@link open} ask the device for an answer. */
  doubt(): void {
    this.#isDoubted = this.isAlive();
  }

  life() {
    return {
      open: (signal: AbortSignal) => this.open(signal),
      close: () => this.close(),
      isAlive: () => this.isAlive(),
      doubt: () => this.doubt(),
      isDoubted: () => this.#isDoubted,
      facts: () => this.factsForAll(),
      status: () => this.status(),
      onStatus: (listener: (status: ControllerStatus) => void) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      noticesAfter: () => [],
    };
  }

  protected reportStatus(): void {
    const status = this.status();
    if (JSON.stringify(status) === this.#reported) return;
    this.#reported = JSON.stringify(status);
    for (const listener of [...this.#listeners]) listener(status);
  }

  async #open(signal: AbortSignal): Promise<void> {
    if (this.isAlive() && (await this.#answers(signal))) return;
    try {
      await this.connect(signal);
    } finally {
      this.#isDoubted = false;
      this.reportStatus();
    }
  }

  /** Only a doubted device is asked. */
  async #answers(signal: AbortSignal): Promise<boolean> {
    if (!this.#isDoubted) return true;
    this.#isDoubted = false;
    try {
      await this.ask(signal);
      return true;
    } catch (error) {
      if (signal.aborted || !(error instanceof DeviceError)) throw error;
      return false;
    }
  }
}
