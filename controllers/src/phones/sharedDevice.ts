import { DeviceError } from "../errors.ts";
import type { ControllerFacts, ControllerStatus } from "../ports.ts";
import { SharedWork } from "../waiting/sharedWork.ts";

/** The part of a driver's device that its controllers share: the first of them opens it, and the last one closes it. */
export abstract class SharedDevice {
  readonly #opening = new SharedWork<void>();
  readonly #users = new Set<string>();
  readonly #listeners = new Set<(status: ControllerStatus) => void>();
  #isDoubted = false;
  #told = "";
  #beforeClose: () => Promise<void> = async () => undefined;

  abstract isAlive(): boolean;
  abstract status(): ControllerStatus;
  /** As every controller says it; empty while it is not open. */
  abstract factsForAll(): ControllerFacts;
  /** Connects, in place of a connection that does not answer. */
  protected abstract connect(signal: AbortSignal): Promise<void>;
  protected abstract disconnect(): Promise<void>;
  /** Has the device answer. Throws DeviceError where it does not. */
  protected abstract ask(signal: AbortSignal): Promise<unknown>;

  /** A controller uses it: connects, or does nothing where the connection is well. */
  async open(user: string, signal: AbortSignal): Promise<void> {
    await this.#opening.join((own) => this.#open(own), signal);
    this.#users.add(user);
  }

  /** Work that needs the connection, done before the last controller closes it. */
  beforeClose(work: () => Promise<void>): void {
    this.#beforeClose = work;
  }

  async close(user: string): Promise<void> {
    this.#users.delete(user);
    if (this.#users.size > 0) return;
    await this.#beforeClose();
    await this.disconnect();
    this.#isDoubted = false;
  }

  /** Has the next {@link open} ask the device for an answer. */
  doubt(): void {
    this.#isDoubted = this.isAlive();
  }

  /** What every controller of the device has. */
  lifeOf(user: string) {
    return {
      open: (signal: AbortSignal) => this.open(user, signal),
      close: () => this.close(user),
      isAlive: () => this.#users.has(user) && this.isAlive(),
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

  protected tellStatus(): void {
    const status = this.status();
    if (JSON.stringify(status) === this.#told) return;
    this.#told = JSON.stringify(status);
    for (const listener of [...this.#listeners]) listener(status);
  }

  async #open(signal: AbortSignal): Promise<void> {
    if (this.isAlive() && (await this.#answers(signal))) return;
    try {
      await this.connect(signal);
    } finally {
      this.#isDoubted = false;
      this.tellStatus();
    }
  }

  /** A device that nobody doubts is not asked. */
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
