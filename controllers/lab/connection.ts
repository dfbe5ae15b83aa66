import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { type Command, type ControllerStatus, DeviceError, type Withheld } from "../src/index.ts";

/** Settings for the faults of a simulated driver and for the time that each of its commands takes. */
export const switches = {
  latency_ms: z
    .int()
    .min(0)
    .max(60_000)
    .default(0)
    .describe("How long each command and each read of the screen takes."),
  hang_at_open: z.boolean().default(false).describe("It never finishes opening."),
  fail_at_open: z.string().min(1).max(200).optional().describe("It cannot be opened, for this reason."),
  die_after: z.int().min(1).max(1_000_000).optional().describe("It loses its device after so many commands."),
  withhold: z.array(z.string()).max(50).default([]).describe("Commands and checks that this device lacks."),
};
export type Switches = z.output<z.ZodObject<typeof switches>>;

/** A driver's way to the box: opens, dies and withholds as its switches say. */
export class Connection {
  #alive = false;
  #commands = 0;
  #withheld: readonly Withheld[] = [];
  readonly #switches: Switches;
  readonly #listeners = new Set<(status: ControllerStatus) => void>();

  constructor(given: Switches) {
    this.#switches = given;
  }

  async open(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { hang_at_open, fail_at_open, withhold } = this.#switches;
    if (hang_at_open) await pause(2 ** 31 - 1, undefined, { signal, ref: false });
    if (fail_at_open !== undefined)
      throw new DeviceError("DEVICE_ERROR", `The simulated device cannot be opened: ${fail_at_open}.`);
    this.#withheld = withhold.map((name) => ({ name, reason: "this simulated device was made without it" }));
    this.#commands = 0;
    this.#alive = true;
    this.#report();
  }

  async close(): Promise<void> {
    this.#alive = false;
    this.#withheld = [];
    this.#report();
  }

  isAlive(): boolean {
    return this.#alive;
  }

  withheld(): readonly Withheld[] {
    return this.#withheld;
  }

  status(): ControllerStatus {
    if (this.#alive) return { state: "online" };
    return { state: "offline", reason: "the simulated device is closed", fix: "Take control of it again." };
  }

  onStatus(listener: (status: ControllerStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The same commands; each is counted and takes its time before it begins. */
  over(commands: readonly Command[]): Command[] {
    return commands.map((command) => ({
      ...command,
      run: async (input, signal, fence) => {
        await this.#count(signal);
        return command.run(input, signal, fence);
      },
    }));
  }

  async #count(signal: AbortSignal): Promise<void> {
    await this.use(signal);
    this.#commands += 1;
    if (this.#commands <= (this.#switches.die_after ?? Number.POSITIVE_INFINITY)) return;
    await this.close();
    throw new DeviceError("DEVICE_LOST", "The simulated device went away; take control of it again.");
  }

  /** Before each read of the box. */
  async use(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#alive)
      throw new DeviceError("DEVICE_ERROR", "The simulated device is closed; take control again.");
    if (this.#switches.latency_ms > 0) await pause(this.#switches.latency_ms, undefined, { signal });
  }

  #report(): void {
    for (const listener of this.#listeners) listener(this.status());
  }
}
