import type { ControllerContext } from "../contract.ts";

export type PowerState = "on" | "off";

/** One switchable outlet. Both throw DEVICE_OFFLINE, DEVICE_UNAUTHORIZED or DEVICE_ERROR, without secrets. */
export type Outlet = {
  /** For messages: the host and the outlet's number, or the program. */
  name: string;
  /** Undefined where the outlet cannot be asked. */
  read?(signal: AbortSignal): Promise<PowerState>;
  /** Idempotent. */
  turn(to: PowerState, signal: AbortSignal): Promise<void>;
  /** Frees what it holds. */
  close?(): void;
};

/** Makes the outlet of a device from its settings. Starts nothing. */
export type MakeOutlet<Settings> = (
  settings: Settings,
  context: Pick<ControllerContext, "allowUrl" | "allowHost" | "allowAddress" | "addons">,
) => Outlet;
