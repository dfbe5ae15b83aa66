import type { LentDevices } from "../mcp/lentDevices.ts";

/** A chat in which nothing is asked for so long gives its devices back. */
const idleMs = 30_000;

/** Gives the devices of a chat back while nobody asks for anything. A failure is met by the next message. */
export class IdleDevices {
  private timer: NodeJS.Timeout | undefined;
  private resting: Promise<unknown> = Promise.resolve();

  constructor(private readonly devices: Pick<LentDevices, "giveBack" | "takeAgain">) {}

  /** The time begins anew. */
  rest(): void {
    this.stop();
    this.timer = setTimeout(() => {
      this.resting = this.devices.giveBack().then(
        (isAll) => isAll || this.rest(),
        () => undefined,
      );
    }, idleMs);
    this.timer.unref();
  }

  /** Returns a line for each device that somebody else has now. */
  async use(): Promise<string[]> {
    this.stop();
    await this.resting;
    this.stop();
    return this.devices.takeAgain();
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
