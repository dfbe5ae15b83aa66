import type { ControllerContext } from "../contract.ts";

export type PowerState = "on" | "off";

/** One switchable outlet. Both throw DeviceError of any code of a connection, DEVICE_UNAUTHORIZED or DEVICE_ERROR, without secrets. */
export type Outlet = {
  /** For messages: the host and the outlet's number, or the program. */
  name: string;
  /** Undefined where its state cannot be known. */
  read(signal: AbortSignal): Promise<PowerState | undefined>;
  /** What a person can do where `read` gives nothing: a sentence. */
  unreadable?: string;
  /** Idempotent. */
  turn(to: PowerState, signal: AbortSignal): Promise<void>;
  /** Frees what it holds. */
  close?(): void;
};

/** Makes the outlet of a device from its settings. Starts nothing. */
export type MakeOutlet<Settings> = (
  settings: Settings,
  context: Pick<ControllerContext, "allowHost" | "allowAddress" | "addons">,
) => Outlet;
