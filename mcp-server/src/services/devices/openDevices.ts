import {
  type Controller,
  type ControllerContext,
  type ControllerFactory,
  DeviceError,
} from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import { span } from "../../observability/span.ts";
import type { OpenDevice } from "../ports.ts";
import type { ConfiguredDevice } from "./entries.ts";

type Opened = { device: OpenDevice; all: readonly Controller[] };

/** Keeps the controllers of the devices in use open, one set a device, and opens again what has died. */
export class OpenDevices {
  private readonly opened = new Map<string, Promise<Opened>>();
  private readonly factories: readonly ControllerFactory[];
  private readonly contextOf: (deviceId: string) => ControllerContext;

  constructor(factories: readonly ControllerFactory[], contextOf: (deviceId: string) => ControllerContext) {
    this.factories = factories;
    this.contextOf = contextOf;
  }

  /** How many devices have controllers open. */
  count(): number {
    return this.opened.size;
  }

  /** What is open of a device now, if anything. */
  async peek(deviceId: string): Promise<OpenDevice | undefined> {
    return (await this.opened.get(deviceId)?.catch(() => undefined))?.device;
  }

  async open(entry: ConfiguredDevice, signal: AbortSignal): Promise<OpenDevice> {
    const known = this.opened.get(entry.id);
    if (known) {
      const { device, all } = await known;
      await reopenDead(all, signal);
      return device;
    }
    const opening = span("device.open", { device: entry.id }, () => this.create(entry, signal));
    this.opened.set(entry.id, opening);
    try {
      return (await opening).device;
    } catch (error) {
      this.opened.delete(entry.id);
      throw error;
    }
  }

  async close(deviceId: string): Promise<void> {
    const known = this.opened.get(deviceId);
    this.opened.delete(deviceId);
    const opened = await known?.catch(() => undefined);
    for (const controller of opened?.all ?? []) await controller.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.opened.keys()].map((id) => this.close(id)));
  }

  private async create(entry: ConfiguredDevice, signal: AbortSignal): Promise<Opened> {
    const { settings, ...plain } = entry;
    const made = this.make(entry);
    const failures: { kind: Controller["kind"]; error: unknown }[] = [];
    for (const controller of made) {
      await controller
        .open(signal)
        .catch((error: unknown) => failures.push({ kind: controller.kind, error }));
    }
    const failed = new Set(failures.map(({ kind }) => kind));
    const working = made.filter(({ kind }) => !failed.has(kind));
    if (working.length === 0) {
      for (const controller of made) await controller.close();
      throw nothingOpened(entry, failures[0]?.error);
    }
    const missing = entry.kinds.filter((kind) => !made.some((controller) => controller.kind === kind));
    const device: OpenDevice = {
      ...plain,
      controllers: new Map(working.map((controller) => [controller.kind, controller])),
      unavailable: [
        ...failures.map(({ kind, error }) => ({ kind, reason: messageOf(error) })),
        ...missing.map((kind) => ({ kind, reason: "no controller of this kind is built in" })),
      ],
    };
    return { device, all: working };
  }

  private make(entry: ConfiguredDevice): Controller[] {
    const context = this.contextOf(entry.id);
    return this.factories
      .filter((factory) => factory.kinds.some((kind) => entry.kinds.includes(kind)))
      .flatMap((factory) => [
        ...factory.create(factory.settings.parse(entry.settings[factory.name] ?? {}), context),
      ])
      .filter((controller) => entry.kinds.includes(controller.kind));
  }
}

async function reopenDead(controllers: readonly Controller[], signal: AbortSignal): Promise<void> {
  for (const controller of controllers) if (!controller.isAlive()) await controller.open(signal);
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
