import type { CopyWish } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import type { Clock } from "../ports.ts";
import type { ConfiguredDevice } from "./entries.ts";

export type CopiesOptions = {
  /** A device and all copies together are at most so many. */
  most: number;
  clock: Pick<Clock, "setTimeout">;
  isHeld(deviceId: string): Promise<boolean>;
  close(deviceId: string): Promise<void>;
};

/** How soon a lease is noticed that expired without being given back. */
const checkMs = 60_000;

/** Further devices like those of the configuration. Each is made for one lease and ends with it. */
export class Copies {
  private readonly made = new Map<string, { entry: ConfiguredDevice; stopTimer(): void }>();

  constructor(private readonly options: CopiesOptions) {}

  list(): ConfiguredDevice[] {
    return [...this.made.values()].map(({ entry }) => entry);
  }

  /** False for a copy that has ended, also when another one has its name. */
  isThere(entry: ConfiguredDevice): boolean {
    return entry.copyOf === undefined || this.made.get(entry.id)?.entry === entry;
  }

  /** `held` are the ids of all devices that are held, `names` those of this host's devices. */
  make(
    base: ConfiguredDevice,
    wish: CopyWish,
    { held, names }: { held: readonly string[]; names: readonly string[] },
  ): ConfiguredDevice {
    const drivers = driversOfCopy(base, wish);
    const { most } = this.options;
    if (this.made.size + (held.includes(base.id) ? 1 : 0) >= most)
      throw new ToolError(
        "INSUFFICIENT_RESOURCES",
        `${base.id} gets no further copy: ${most} devices run at the same time (limits.max_parallel_devices).`,
        "Wait until a run on a copy has ended, or raise the limit in labwright.yaml.",
      );
    const name = freeName(base, [...names, ...held.map((id) => id.slice(base.host.length + 1))]);
    const entry = { ...base, id: `${base.host}/${name}`, name, drivers, copyOf: base.id };
    const made = { entry, stopTimer: () => {} };
    this.made.set(entry.id, made);
    const checkLater = () => {
      made.stopTimer = this.options.clock.setTimeout(() => void dropIfFree(), checkMs);
    };
    const dropIfFree = async () => {
      // A question that fails is asked again.
      const isHeld = await this.options.isHeld(entry.id).catch(() => true);
      if (!this.isThere(entry)) return;
      if (isHeld) checkLater();
      else await this.drop(entry.id).catch(checkLater);
    };
    checkLater();
    return entry;
  }

  /** Closes a copy and forgets it; its name is free after that. Nothing for any other device. */
  async drop(deviceId: string): Promise<void> {
    const made = this.made.get(deviceId);
    if (!made) return;
    made.stopTimer();
    await this.options.close(deviceId);
    if (this.made.get(deviceId) === made) this.made.delete(deviceId);
  }

  end(): void {
    for (const { stopTimer } of this.made.values()) stopTimer();
  }
}

function driversOfCopy(
  { id, copyOf, drivers }: ConfiguredDevice,
  wish: CopyWish,
): ConfiguredDevice["drivers"] {
  const copied = drivers.map(({ factory, settings }) => ({
    factory,
    settings: factory.copy?.(factory.settings.parse(settings), wish),
  }));
  if (copyOf === undefined && copied.length > 0 && copied.every(({ settings }) => settings !== undefined))
    return copied;
  if (wish.browser !== undefined)
    throw new ToolError(
      "DEVICE_NOT_COPIED",
      `${id} cannot be another browser.`,
      "Only a browser that this server starts can. Name a device of the model web.",
    );
  throw new ToolError(
    "DEVICE_NOT_COPIED",
    wish.headed ? `${id} has no window that could be shown.` : `${id} is there once and has no copies.`,
    wish.headed
      ? "Only a browser that this server starts has one. Leave headed out for this device."
      : "Only a browser that this server starts has copies. Use another device of its model.",
  );
}

function freeName({ name }: ConfiguredDevice, taken: readonly string[]): string {
  for (let number = 2; ; number++) {
    const wanted = `${name}-${number}`;
    if (!taken.includes(wanted)) return wanted;
  }
}
