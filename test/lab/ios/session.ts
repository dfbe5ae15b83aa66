import { randomUUID } from "node:crypto";
import type { Clock, LabUi } from "../android/labUi.ts";
import { Elements } from "../webdriver/wire.ts";
import { IosLogs } from "./logs.ts";

export type Call = { session: IosSession; ids: readonly string[]; body: unknown };
export type Handle = (call: Call) => unknown;

/** One session: the elements that it has returned, and what was set in it. */
export class IosSession {
  readonly id = randomUUID();
  /** Where the device is made to be, by `mobile: setSimulatedLocation`. */
  location: { latitude: number; longitude: number } | undefined;
  /** Files of apps by their paths, in base64. */
  readonly files = new Map<string, string>();
  readonly logs: IosLogs;
  readonly elements: Elements;
  readonly #clock: Clock;
  #lastCommand: number;

  constructor(
    readonly ui: LabUi,
    readonly capabilities: Readonly<Record<string, unknown>>,
    clock: Clock,
  ) {
    this.#clock = clock;
    this.logs = new IosLogs(ui, clock);
    this.elements = new Elements(ui);
    this.#lastCommand = clock.now();
  }

  /** False after a time without commands that is longer than `newCommandTimeout`, in seconds. */
  isAlive(): boolean {
    const seconds = Number(this.capabilities["appium:newCommandTimeout"] ?? 60);
    const isAlive = seconds <= 0 || this.#clock.now() - this.#lastCommand <= seconds * 1_000;
    this.#lastCommand = this.#clock.now();
    return isAlive;
  }
}
