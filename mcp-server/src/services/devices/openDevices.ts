import {
  type Controller,
  type ControllerContext,
  type ControllerFactory,
  DeviceError,
  SharedWork,
} from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import { span } from "../../observability/span.ts";
import type { Clock, OpenDevice } from "../ports.ts";
import type { ConfiguredDevice } from "./entries.ts";

/** A device that nobody used for this long is closed; one that is kept then is looked at again after the second time. */
const idleMs = 600_000;
const lookAgainMs = 60_000;

type Failure = { kind: Controller["kind"]; error: unknown };

/** One device with the controllers that were made for it, open or not. */
type Held = {
  made: readonly Controller[];
  opening: SharedWork<OpenDevice>;
  /** What is open of it; undefined before the first opening and after it was closed for being idle. */
  device: OpenDevice | undefined;
  closing: Promise<void> | undefined;
  users: number;
  stopTimer(): void;
};

export type OpenDevicesOptions = {
  factories: readonly ControllerFactory[];
  contextOf: (deviceId: string) => ControllerContext;
  clock: Pick<Clock, "setTimeout">;
  /** Says whether somebody holds the device, so that it is not closed for being idle. */
  isHeld(deviceId: string): Promise<boolean>;
};

/** Keeps the controllers of the devices in use open, one set a device, and opens again what has died or failed. */
export class OpenDevices {
  private readonly held = new Map<string, Held>();
  private readonly options: OpenDevicesOptions;

  constructor(options: OpenDevicesOptions) {
    this.options = options;
  }

  /** How many devices have controllers open. */
  count(): number {
    return [...this.held.values()].filter(({ device }) => device).length;
  }

  /** What is open of a device now, if anything. */
  peek(deviceId: string): OpenDevice | undefined {
    return this.held.get(deviceId)?.device;
  }

  /** Throws what the first controller failed with when none opens; otherwise those that failed are `unavailable`. */
  async open(entry: ConfiguredDevice, signal: AbortSignal): Promise<OpenDevice> {
    const held = this.held.get(entry.id) ?? this.make(entry);
    await held.closing;
    const { device, made } = held;
    if (device && made.every(isWell)) return device;
    return held.opening.join((own) => this.openAll(entry, held, own), signal);
  }

  /** The next {@link open} looks whether the device answers. */
  doubt(deviceId: string): void {
    for (const controller of this.held.get(deviceId)?.made ?? []) controller.doubt?.();
  }

  /** Another client drives from here on. */
  handOver(deviceId: string): void {
    for (const controller of this.held.get(deviceId)?.made ?? []) controller.handOver?.();
  }

  /** Keeps the device open until the function that it returns is called, and for the idle time after that. */
  use(deviceId: string): () => void {
    const held = this.held.get(deviceId);
    if (!held) return () => {};
    held.users += 1;
    held.stopTimer();
    let done = false;
    return () => {
      if (done) return;
      done = true;
      held.users -= 1;
      if (held.users === 0) this.closeLater(deviceId, held, idleMs);
    };
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.held.values()].map(close));
  }

  private make(entry: ConfiguredDevice): Held {
    const context = this.options.contextOf(entry.id);
    const made = this.options.factories
      .filter((factory) => factory.kinds.some((kind) => entry.kinds.includes(kind)))
      .flatMap((factory) => [
        ...factory.create(factory.settings.parse(entry.settings[factory.name] ?? {}), context),
      ])
      .filter((controller) => entry.kinds.includes(controller.kind));
    const held: Held = {
      made,
      opening: new SharedWork(),
      device: undefined,
      closing: undefined,
      users: 0,
      stopTimer: () => {},
    };
    this.held.set(entry.id, held);
    return held;
  }

  private async openAll(entry: ConfiguredDevice, held: Held, signal: AbortSignal): Promise<OpenDevice> {
    const failures = await span("device.open", { device: entry.id }, () => openEach(held.made, signal));
    signal.throwIfAborted();
    const failed = new Set(failures.map(({ kind }) => kind));
    const working = held.made.filter(({ kind }) => !failed.has(kind));
    if (working.length === 0) {
      await close(held);
      throw nothingOpened(entry, failures[0]?.error);
    }
    const { settings: _, ...plain } = entry;
    const missing = entry.kinds.filter((kind) => !held.made.some((controller) => controller.kind === kind));
    held.device = {
      ...plain,
      controllers: new Map(working.map((controller) => [controller.kind, controller])),
      unavailable: [
        ...failures.map(({ kind, error }) => ({ kind, reason: messageOf(error) })),
        ...missing.map((kind) => ({ kind, reason: "no controller of this kind is built in" })),
      ],
    };
    return held.device;
  }

  private closeLater(deviceId: string, held: Held, ms: number): void {
    held.stopTimer = this.options.clock.setTimeout(() => {
      this.closeIdle(deviceId, held).catch(() => this.closeLater(deviceId, held, lookAgainMs));
    }, ms);
  }

  private async closeIdle(deviceId: string, held: Held): Promise<void> {
    const isHeld = await this.options.isHeld(deviceId);
    if (held.users > 0 || !held.device) return;
    if (isHeld || held.made.some((controller) => controller.isKept?.() === true))
      return this.closeLater(deviceId, held, lookAgainMs);
    held.closing = close(held).finally(() => {
      held.closing = undefined;
    });
    await held.closing;
  }
}

/** Opens what is not open or not well. One that fails does not hold up the others. */
async function openEach(controllers: readonly Controller[], signal: AbortSignal): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const controller of controllers) {
    if (isWell(controller)) continue;
    try {
      await controller.open(signal);
    } catch (error) {
      failures.push({ kind: controller.kind, error });
    }
  }
  return failures;
}

const isWell = (controller: Controller) => controller.isAlive() && controller.isDoubted?.() !== true;

async function close(held: Held): Promise<void> {
  held.stopTimer();
  held.device = undefined;
  for (const controller of held.made) await controller.close().catch(() => undefined);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function nothingOpened(entry: ConfiguredDevice, cause: unknown): Error {
  if (cause instanceof DeviceError) return cause;
  return new ToolError(
    "CONTROLLER_UNAVAILABLE",
    `No controller of ${entry.id} could be opened: ${cause === undefined ? "it has none" : messageOf(cause)}.`,
    "Call diagnose to see what is missing and how to fix it.",
    { device_id: entry.id },
    { cause },
  );
}
