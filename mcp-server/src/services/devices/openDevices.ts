import {
  type Controller,
  type ControllerContext,
  controllerKinds,
  DeviceError,
  fenced,
  SharedWork,
  untilAborted,
} from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import { span } from "../../observability/span.ts";
import type { Clock, OpenDevice, Unavailable } from "../ports.ts";
import type { ConfiguredDevice } from "./entries.ts";
import { portsLentBy } from "./lending.ts";
import { Opening } from "./opening.ts";

/** A device that was unused for this long is closed. One that must be kept is checked again after the second time. */
const idleMs = 600_000;
const lookAgainMs = 60_000;

type Held = {
  entry: ConfiguredDevice;
  parts: readonly Opening[];
  first: SharedWork<void>;
  closing: Promise<void> | undefined;
  users: number;
  stopTimer(): void;
};

export type OpenDevicesOptions = {
  /** What the server lends the controllers of a device, but for what they lend each other. */
  contextOf: (entry: ConfiguredDevice) => Omit<ControllerContext, "device">;
  closed?: ((deviceId: string) => Promise<void>) | undefined;
  fill?: (<T>(settings: T) => T) | undefined;
  clock: Pick<Clock, "monotonic" | "setTimeout">;
  /** Says whether a client holds the device, so that it is not closed for being idle. */
  isHeld(deviceId: string): Promise<boolean>;
};

/** Keeps the controllers of devices in use open. A device is usable as soon as one is open; what died is reopened on use. */
export class OpenDevices {
  private readonly held = new Map<string, Held>();

  constructor(private readonly options: OpenDevicesOptions) {}

  count(): number {
    return [...this.held.values()].filter(isOpen).length;
  }

  peek(deviceId: string): OpenDevice | undefined {
    const held = this.held.get(deviceId);
    return held && isOpen(held) ? view(held) : undefined;
  }

  /** Throws what the first controller failed with when none opens. */
  async open(entry: ConfiguredDevice, signal: AbortSignal): Promise<OpenDevice> {
    const held = this.held.get(entry.id) ?? this.make(entry);
    await held.closing;
    for (const part of held.parts) part.begin();
    if (!held.parts.some((part) => part.isWell()))
      await held.first.join((own) => openFirst(held, own), signal);
    return view(held);
  }

  /** The next {@link open} looks whether the device answers. */
  doubt(deviceId: string): void {
    for (const { controller } of this.held.get(deviceId)?.parts ?? []) controller.doubt?.();
  }

  /** Another client drives from here on. */
  handOver(deviceId: string): void {
    for (const { controller } of this.held.get(deviceId)?.parts ?? []) controller.handOver?.();
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
      if (held.users === 0 && this.held.get(deviceId) === held) this.closeLater(held, idleMs);
    };
  }

  async remove(deviceId: string): Promise<void> {
    const held = this.held.get(deviceId);
    if (!held) return;
    await held.closing;
    await this.close(held);
    this.held.delete(deviceId);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.held.values()].map((held) => this.close(held)));
  }

  private make(entry: ConfiguredDevice): Held {
    const { contextOf, clock, fill = (settings) => settings } = this.options;
    const context = { ...contextOf(entry), device: portsLentBy(() => view(held)) };
    const made = entry.drivers.flatMap(({ factory, settings }) =>
      factory
        .create(factory.settings.parse(fill(settings)), context)
        .map((controller) => ({ controller, openMs: factory.openMs })),
    );
    const openMs = made.map((one) => one.openMs);
    const parts = fenced(made.map(({ controller }) => controller)).map(
      (controller, index) => new Opening(controller, clock, openMs[index]),
    );
    const held: Held = {
      entry,
      parts: parts.toSorted((a, b) => rankOf(a.controller) - rankOf(b.controller)),
      first: new SharedWork(),
      closing: undefined,
      users: 0,
      stopTimer: () => {},
    };
    this.held.set(entry.id, held);
    return held;
  }

  private closeLater(held: Held, ms: number): void {
    held.stopTimer = this.options.clock.setTimeout(() => {
      this.closeIdle(held).catch(() => this.closeLater(held, lookAgainMs));
    }, ms);
  }

  private async closeIdle(held: Held): Promise<void> {
    const isHeld = await this.options.isHeld(held.entry.id);
    if (held.users > 0 || !isOpen(held)) return;
    if (isHeld || held.parts.some(({ controller }) => controller.isKept?.() === true))
      return this.closeLater(held, lookAgainMs);
    held.closing = this.close(held).finally(() => {
      held.closing = undefined;
    });
    await held.closing;
  }

  private async close(held: Held): Promise<void> {
    held.stopTimer();
    await Promise.all(held.parts.map((part) => part.close()));
    await this.options.closed?.(held.entry.id);
  }
}

const isOpen = ({ parts }: Held) => parts.some((part) => part.isOpen());

const rankOf = ({ kind }: Controller) => controllerKinds.indexOf(kind);

/** Returns when one of them is open, and throws when none could be opened. */
function openFirst({ entry, parts }: Held, signal: AbortSignal): Promise<void> {
  return span("device.open", { device: entry.id }, async () => {
    for (const part of parts) part.begin({ now: true });
    const cancel = () => {
      for (const part of parts) part.cancel();
    };
    signal.addEventListener("abort", cancel, { once: true });
    const opened = parts.map(async (part) => {
      if (!(await part.settled())) throw part.failed()?.error;
    });
    const isOne = await Promise.any(opened).then(
      () => true,
      () => false,
    );
    signal.removeEventListener("abort", cancel);
    signal.throwIfAborted();
    if (!isOne) throw nothingOpened(entry.id, parts);
    // Leases that end at this very moment are reported too.
    await new Promise((resolve) => setImmediate(resolve));
  });
}

function view({ entry, parts }: Held): OpenDevice {
  const failed = parts.filter((part) => part.failed() !== undefined);
  const usable = [
    ...parts.filter((part) => !failed.includes(part)),
    ...failed.filter((part) => part.isRunning()),
  ];
  const partOf = (controller: Controller) => parts.find((part) => part.controller === controller);
  const { drivers: _, ...plain } = entry;
  return {
    ...plain,
    controllers: usable.map(({ controller }) => controller),
    unavailable: failed.filter((part) => !usable.includes(part)).map(unavailableOf),
    isOpen: (controller) => partOf(controller)?.isOpen() === true,
    async untilOpen(controller, signal) {
      const part = partOf(controller);
      if (part?.isOpen() === false) part.begin();
      await untilAborted(part?.settled() ?? Promise.resolve(false), signal);
      if (part?.isOpen() !== true) throw notOpened(entry.id, controller, part?.failed()?.error);
    },
  };
}

const unavailableOf = (part: Opening): Unavailable => ({
  driver: part.controller.driver,
  kind: part.controller.kind,
  reason: messageOf(part.failed()?.error),
});

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function notOpened(deviceId: string, { driver, kind }: Controller, cause: unknown): DeviceError {
  const reason = cause === undefined ? "it was closed" : messageOf(cause);
  return new DeviceError(
    "CONTROLLER_UNAVAILABLE",
    `${kind} (${driver}) of ${deviceId} could not be opened: ${reason} It is tried again when it is needed next; diagnose says what is missing.`,
    { driver, kind },
    { cause },
  );
}

function nothingOpened(deviceId: string, parts: readonly Opening[]): Error {
  const cause = parts.map((part) => part.failed()?.error).find((error) => error !== undefined);
  if (cause instanceof DeviceError) return cause;
  return new ToolError(
    "CONTROLLER_UNAVAILABLE",
    `No controller of ${deviceId} could be opened: ${cause === undefined ? "it has none" : messageOf(cause)}.`,
    "Call diagnose to see what is missing and how to fix it.",
    { device_id: deviceId },
    { cause },
  );
}
