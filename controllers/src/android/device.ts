import { DeviceError } from "../errors.ts";
import type { ControllerFacts, ControllerStatus } from "../ports.ts";
import { pause } from "../waiting/deadlines.ts";
import { SharedWork } from "../waiting/sharedWork.ts";
import { transportLost } from "./adb/failures.ts";
import { serverPort } from "./adb/server.ts";
import { type AndroidFacts, factsForAll, probeFacts } from "./facts.ts";
import { Hub } from "./hub.ts";
import { type Link, linkTo } from "./link.ts";
import { findDevice, reachDevice, statusOf, type Wanted } from "./reach.ts";
import { type AndroidSettings, serialOf } from "./settings.ts";

const doubtMs = 5_000;
/** A connection that breaks while it is opened is made again for so long. */
const settleMs = 5_000;
const againMs = 100;
const connectionCodes: ReadonlySet<string> = new Set([
  "TRANSPORT_LOST",
  "DEVICE_OFFLINE",
  "DEVICE_NOT_FOUND",
]);

/** What is there while a device is connected: gone with its connection. */
type Connected = { link: Link; facts: AndroidFacts };

/** One device: its connection, what it is, and how it stands. The controllers of a device share it. */
export class AndroidDevice {
  readonly #wanted: Wanted;
  readonly #opening = new SharedWork<void>();
  readonly #users = new Set<string>();
  readonly #listeners = new Set<(status: ControllerStatus) => void>();
  #connected: Connected | undefined;
  #isRecovering = false;
  #isDoubted = false;
  #leave: (() => void) | undefined;
  #beforeClose: () => Promise<void> = async () => undefined;
  #told = "";

  constructor(settings: AndroidSettings) {
    const port = serverPort(settings.adb_port);
    this.#wanted = { port, hub: Hub.at(port), settings };
  }

  get adbPort(): number {
    return this.#wanted.port;
  }

  /** The connection now. Throws TRANSPORT_LOST where it is gone, until the device was opened again. */
  link(): Link {
    return this.#now().link;
  }

  facts(): AndroidFacts {
    return this.#now().facts;
  }

  /** A further controller uses it: connects, or does nothing where the connection is well. */
  async open(user: string, signal: AbortSignal): Promise<void> {
    await this.#opening.join((own) => this.#open(own), signal);
    this.#users.add(user);
  }

  /** What uses the connection beside its users: the last of them ends it. */
  beforeClose(work: () => Promise<void>): void {
    this.#beforeClose = work;
  }

  async close(user: string): Promise<void> {
    this.#users.delete(user);
    if (this.#users.size > 0) return;
    await this.#beforeClose();
    this.#leave?.();
    this.#leave = undefined;
    this.#connected = undefined;
    this.#isDoubted = false;
  }

  isOpen(user: string): boolean {
    return this.#users.has(user) && this.isAlive();
  }

  isAlive(): boolean {
    return this.#connected?.link.isCurrent() === true;
  }

  /** Has the next {@link open} ask the device for an answer. */
  doubt(): void {
    this.#isDoubted = this.#connected !== undefined;
  }

  isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Undefined while it is not connected. */
  isTv(): boolean | undefined {
    return this.#connected?.facts.isTv;
  }

  /** `howRead` says how its elements are read. */
  factsForAll(howRead: string | undefined): ControllerFacts {
    return this.#connected ? factsForAll(this.#connected.facts, howRead) : {};
  }

  status(): ControllerStatus {
    if (this.#isRecovering)
      return { state: "recovering", reason: "adb connects to it again", fix: "Wait some seconds." };
    if (this.isAlive()) return { state: "online" };
    if (this.#leave === undefined)
      return { state: "offline", reason: "the device is not open", fix: "Take control of it." };
    try {
      return statusOf(findDevice(this.#wanted), this.#wanted);
    } catch (error) {
      return { state: "offline", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  onStatus(listener: (status: ControllerStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #now(): Connected {
    if (this.#connected?.link.isCurrent()) return this.#connected;
    throw transportLost(this.#connected?.link.serial ?? serialOf(this.#wanted.settings) ?? "the device");
  }

  async #open(signal: AbortSignal): Promise<void> {
    if (this.isAlive() && (await this.#answers(signal))) return;
    this.#connected = undefined;
    this.#leave ??= this.#wanted.hub.watch(() => this.#tell());
    try {
      const recovering = () => {
        this.#isRecovering = true;
        this.#tell();
      };
      this.#connected = await this.#connect(signal, recovering);
    } finally {
      this.#isRecovering = false;
      this.#isDoubted = false;
      this.#tell();
    }
  }

  /** adb may list a connection for a moment that is gone already. */
  async #connect(signal: AbortSignal, recovering: () => void): Promise<Connected> {
    const until = performance.now() + settleMs;
    for (;;) {
      const link = linkTo(this.#wanted, await reachDevice(this.#wanted, signal, recovering));
      try {
        return { link, facts: await probeFacts(link, signal) };
      } catch (error) {
        const isGone = error instanceof DeviceError && connectionCodes.has(error.code);
        if (!isGone || performance.now() > until) throw error;
      }
      await pause(againMs, signal);
    }
  }

  /** A device that nobody doubts is not asked. */
  async #answers(signal: AbortSignal): Promise<boolean> {
    if (!this.#isDoubted) return true;
    this.#isDoubted = false;
    try {
      await this.link().run(["true"], signal, { timeoutMs: doubtMs });
      return true;
    } catch (error) {
      if (signal.aborted || !(error instanceof DeviceError)) throw error;
      return false;
    }
  }

  #tell(): void {
    const status = this.status();
    if (JSON.stringify(status) === this.#told) return;
    this.#told = JSON.stringify(status);
    for (const listener of [...this.#listeners]) listener(status);
  }
}
