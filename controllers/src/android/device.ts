import { DeviceError } from "../errors.ts";
import { ConnectedDevice } from "../phones/connectedDevice.ts";
import type { ControllerFacts, ControllerStatus } from "../ports.ts";
import { pause } from "../waiting/deadlines.ts";
import { transportLost } from "./adb/failures.ts";
import { serverPort } from "./adb/server.ts";
import { type AndroidFacts, factsForAll, probeFacts } from "./facts.ts";
import { Hub } from "./hub.ts";
import { type Link, linkTo } from "./link.ts";
import { findDevice, reachDevice, statusOf, type Wanted } from "./reach.ts";
import { type AndroidSettings, serialOf } from "./settings.ts";

const doubtMs = 5_000;
/** How long a connection that breaks while it opens is retried. */
const settleMs = 5_000;
const againMs = 100;
const connectionCodes: ReadonlySet<string> = new Set([
  "TRANSPORT_LOST",
  "DEVICE_OFFLINE",
  "DEVICE_NOT_FOUND",
]);

/** Lives as long as the connection. */
type Connected = { link: Link; facts: AndroidFacts };

export class AndroidDevice extends ConnectedDevice {
  readonly #wanted: Wanted;
  #connected: Connected | undefined;
  #isRecovering = false;
  #leave: (() => void) | undefined;

  constructor(settings: AndroidSettings) {
    super();
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

  isAlive(): boolean {
    return this.#connected?.link.isCurrent() === true;
  }

  /** `howRead` says how its elements are read. */
  factsForAll(howRead?: string): ControllerFacts {
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

  #now(): Connected {
    if (this.#connected?.link.isCurrent()) return this.#connected;
    throw transportLost(this.#connected?.link.serial ?? serialOf(this.#wanted.settings) ?? "the device");
  }

  protected override async connect(signal: AbortSignal): Promise<void> {
    this.#connected = undefined;
    this.#leave ??= this.#wanted.hub.watch(() => this.reportStatus());
    try {
      this.#connected = await this.#reach(signal);
    } finally {
      this.#isRecovering = false;
    }
  }

  protected override async disconnect(): Promise<void> {
    this.#leave?.();
    this.#leave = undefined;
    this.#connected = undefined;
  }

  protected override ask(signal: AbortSignal): Promise<unknown> {
    return this.link().run(["true"], signal, { timeoutMs: doubtMs });
  }

  /** Retries: for a moment, adb may list a connection that is already gone. */
  async #reach(signal: AbortSignal): Promise<Connected> {
    const recovering = () => {
      this.#isRecovering = true;
      this.reportStatus();
    };
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
}
