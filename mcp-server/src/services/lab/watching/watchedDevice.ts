import { randomBytes } from "node:crypto";
import type { Controller } from "@labwright/controllers";
import type { CallContext, Clock, DeviceService, Grant, OpenDevice } from "../../ports.ts";
import { alertSource, type Findings } from "./findings.ts";

/** How often it is looked whether the device still answers. */
const lookMs = 5_000;
/** Until a device that could not be opened is tried again: doubled with each failure. */
const pauseMs = { first: 1_000, longest: 60_000 };

export type WatchedDependencies = {
  devices: Pick<DeviceService, "acquire" | "open">;
  clock: Clock;
  onFault(error: unknown): void;
};

/** Keeps one device open and listens to what its controllers find, until it is closed. */
export class WatchedDevice {
  private readonly control = new AbortController();
  private readonly listening = new Map<Controller, () => void>();
  private grant: Grant | undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    readonly findings: Findings,
    private readonly deps: WatchedDependencies,
  ) {}

  start(): void {
    this.ended = this.keep().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.control.abort(new Error("The server ends."));
    await this.ended;
    for (const end of this.listening.values()) end();
    this.grant?.done();
    await this.findings.stop();
  }

  /** What is open of it. */
  device(): OpenDevice | undefined {
    return this.grant?.device;
  }

  private async keep(): Promise<void> {
    const { clock, onFault } = this.deps;
    const { signal } = this.control;
    let failures = 0;
    while (!signal.aborted) {
      const isWell = await this.look().then(
        () => true,
        (error: unknown) => {
          // Told once, not at every attempt.
          if (failures === 0 && !signal.aborted) onFault(error);
          return false;
        },
      );
      const pause = Math.min(pauseMs.longest, pauseMs.first * 2 ** failures);
      failures = isWell ? 0 : failures + 1;
      await clock.sleep(isWell ? lookMs : pause, signal);
    }
  }

  /** Opens what is not open, and listens to whom it does not listen yet. */
  private async look(): Promise<void> {
    const { signal } = this.control;
    for (const [controller, end] of this.listening) {
      if (controller.isAlive()) continue;
      end();
      this.listening.delete(controller);
      this.findings.forget(controller);
    }
    this.grant ??= await this.deps.devices.acquire({ device_id: this.id }, this.context(), { drives: false });
    const device = await this.deps.devices.open(this.grant.device, signal);
    this.grant = { ...this.grant, device };
    const silent = device.controllers.filter((one) => !this.listening.has(one) && one.isAlive());
    const heard = silent.flatMap((controller) => this.listen(controller));
    // Those that were there at the look before have told what goes on.
    if (heard.length === 0 && this.listening.size > 0) this.findings.settle();
  }

  private listen(controller: Controller): Controller[] {
    const end = controller.findings?.onFinding((finding) => this.findings.told(controller, finding));
    if (!end) return [];
    this.listening.set(controller, end);
    return [controller];
  }

  private context(): CallContext {
    return {
      principal: alertSource,
      client: alertSource,
      signal: this.control.signal,
      deadline: Number.MAX_SAFE_INTEGER,
      trace_id: randomBytes(16).toString("hex"),
      progress: () => {},
      capabilities: { elicitation: false },
    };
  }
}
