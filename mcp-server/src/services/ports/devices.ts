import type { Controller, ControllerKind, CopyWish, FreshStart, KindOffer } from "@labwright/controllers";
import type { CallContext } from "./calls.ts";

export type DeviceEntry = {
  /** `<host>/<name>` */
  id: string;
  host: string;
  name: string;
  model: string;
  /** A driver sees it; the configuration does not name it. */
  discovered?: true;
  /** What its drivers declare, in the order in which they are asked: by kind, then as the configuration names them. */
  offers(): readonly Offer[];
};

/** What may be asked of one controller: of an open one what it offers, else what its driver declares. */
export type Offer = KindOffer & Pick<Controller, "driver" | "withheld">;

export type OfferingDevice = {
  id: string;
  controllers: readonly Offer[];
  unavailable: readonly Unavailable[];
  offers(): readonly Offer[];
};

export type Unavailable = { driver: string; kind: ControllerKind; reason: string };

/** A device with at least one controller that was open when it was asked for. */
export type OpenDevice = DeviceEntry & {
  /** Those that are open or being opened, in the order of `offers`; behind them those that failed and are tried again. */
  controllers: readonly Controller[];
  /** Those that could not be opened, and why. */
  unavailable: readonly Unavailable[];
  /** Driver or kind of the controller whose picture comes first. */
  screen?: string | undefined;
  /** Whether it has been opened; it may have died since. */
  isOpen(controller: Controller): boolean;
  /** Waits for an opening under way. Throws CONTROLLER_UNAVAILABLE when the controller could not be opened. */
  untilOpen(controller: Controller, signal: AbortSignal): Promise<void>;
  /** That of the lease by which its commands run; without one, controllers refuse the commands once a lease was used. */
  fence?: number;
  /** A pause behind each of its commands, for a person who watches. */
  pauseMs?: number | undefined;
};

export type Lease = {
  device_id: string;
  session_id: string;
  principal: string;
  client: string;
  fence: number;
  implicit: boolean;
  expires_at: string;
};

export type DeviceRef = { device_id?: string | undefined; session_id?: string | undefined };

/** The right to use a device. `signal` also aborts when the lease is lost; the lease is renewed until `done`. */
export type Grant = { device: OpenDevice; lease: Lease | undefined; signal: AbortSignal; done(): void };

export type DeviceService = {
  list(): readonly DeviceEntry[];
  /** By id or unique bare name; throws DEVICE_NOT_FOUND with the nearest, DEVICE_AMBIGUOUS. */
  find(name: string): DeviceEntry;
  /** The device a call means (see `DeviceRef`); opens it. With `drives`, checks or takes the lease. */
  acquire(ref: DeviceRef, context: CallContext, options: { drives: boolean }): Promise<Grant>;
  /** The device a call means with all that it may offer, without opening or taking anything. */
  offering(ref: DeviceRef, context: CallContext): Promise<OfferingDevice>;
  /** The device a call means and what is open of it, without opening or taking anything. */
  peek(ref: DeviceRef, context: CallContext): Promise<{ entry: DeviceEntry; opened: OpenDevice | undefined }>;
  opened(deviceId: string): OpenDevice | undefined;
  /** Opens what is not open or has died. Throws CONTROLLER_UNAVAILABLE if nothing opens. */
  open(device: DeviceEntry, signal: AbortSignal): Promise<OpenDevice>;
  /** Takes the lease and opens the device. Throws DEVICE_HELD unless `force`. */
  takeControl(
    deviceId: string | undefined,
    context: CallContext,
    force: boolean,
  ): Promise<{ lease: Lease; device: OpenDevice }>;
  /** Makes, takes and opens a copy that ends with its lease. Throws DEVICE_NOT_COPIED, INSUFFICIENT_RESOURCES. */
  takeCopy(
    deviceId: string | undefined,
    context: CallContext,
    wish: CopyWish,
  ): Promise<{ lease: Lease; device: OpenDevice }>;
  /** Gives a lease back by handle, or the caller's own. Throws LEASE_NOT_FOUND. */
  releaseControl(ref: DeviceRef, context: CallContext): Promise<Lease>;
  releaseClient(client: string): Promise<void>;
  leases(): Promise<Lease[]>;
  openCount(): number;
  /** Called after anything drove the device outside navigation; positions become unverified. */
  onDriven(listener: (deviceId: string) => void): void;
  drivenOutsideNavigation(deviceId: string): void;
  /** Starts the device fresh (with a saved storage state, if named) until `leave`. Undefined for a device that cannot. */
  startFresh(
    device: OpenDevice,
    storageState: string | undefined,
    signal: AbortSignal,
  ): Promise<FreshStart | undefined>;
  /** Called when a device starts fresh: what is known of its screen does not hold until the function it returns is called. */
  onFreshStart(listener: (deviceId: string) => () => void): void;
  close(): Promise<void>;
};
