import type { ControllerFactory, CopyWish } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import type {
  CallContext,
  Clock,
  DeviceEntry,
  DeviceRef,
  DeviceService,
  Grant,
  Lease,
  OfferingDevice,
  OpenDevice,
  Secrets,
} from "../ports.ts";
import { Copies } from "./copies.ts";
import { Discovery } from "./discovery.ts";
import {
  ambiguousDevice,
  anyOf,
  type ConfiguredDevice,
  configuredDevices,
  type DeviceSettings,
  findDevice,
} from "./entries.ts";
import { offeringOf } from "./findCommand.ts";
import { isOwn, type LeaseLimits, type LeaseStore, Leases } from "./leases.ts";
import type { LiveLease } from "./liveLease.ts";
import { OpenDevices, type OpenDevicesOptions } from "./openDevices.ts";
import { findPort } from "./portOf.ts";

export type { DeviceSettings } from "./entries.ts";
export type { LeaseLimits, LeaseStore } from "./leases.ts";

export type DeviceServiceOptions = {
  host: string;
  devices: readonly DeviceSettings[];
  factories: readonly ControllerFactory[];
  contextOf: OpenDevicesOptions["contextOf"];
  closed?: OpenDevicesOptions["closed"];
  secrets?: Pick<Secrets, "fill">;
  leases: LeaseStore;
  limits: LeaseLimits;
  mostDevices: number;
  clock: Clock;
};

export const createDevices = (options: DeviceServiceOptions): DeviceService => new Devices(options);

class Devices implements DeviceService {
  private readonly configured: readonly ConfiguredDevice[];
  private readonly discovery: Discovery;
  private readonly copies: Copies;
  private readonly controllers: OpenDevices;
  private readonly rules: Leases;
  private readonly drivenListeners: ((deviceId: string) => void)[] = [];
  private readonly freshListeners: ((deviceId: string) => () => void)[] = [];
  /** The last lease of each device. Another session_id is a new holder. */
  private readonly holders = new Map<string, Lease>();

  constructor(options: DeviceServiceOptions) {
    const { host, devices, factories, contextOf, closed, secrets, leases, limits, clock } = options;
    const { mostDevices: most } = options;
    const toEntries = (settings: readonly DeviceSettings[]) => configuredDevices(host, settings, factories);
    this.configured = toEntries(devices);
    this.discovery = new Discovery({ factories, configured: devices, toEntries });
    const freed = (id: string) => this.copies.drop(id);
    this.rules = new Leases({ store: leases, clock, host, limits, freed });
    const isHeld = async (id: string) => (await this.rules.list()).some(({ device_id }) => device_id === id);
    this.controllers = new OpenDevices({ contextOf, closed, fill: secrets?.fill, clock, isHeld });
    this.copies = new Copies({ most, clock, isHeld, close: (id) => this.closeCopy(id) });
  }

  list(): readonly DeviceEntry[] {
    return this.entries;
  }

  /** Those of the configuration, then their copies, then what is discovered now. */
  private get entries(): readonly ConfiguredDevice[] {
    return [...this.configured, ...this.copies.list(), ...this.discovery.list()];
  }

  find(name: string): DeviceEntry {
    return findDevice(this.entries, name);
  }

  async acquire(ref: DeviceRef, context: CallContext, { drives }: { drives: boolean }): Promise<Grant> {
    if (ref.session_id !== undefined) {
      const { entry, lease } = await this.byHandle(ref.session_id, ref, context);
      return this.grant(entry, lease, context);
    }
    if (!drives) return this.grant(await this.choose(ref, context), undefined, context);
    return this.takeChosen(ref, context, async (entry) =>
      this.grant(entry, await this.implicitLease(entry, context), context),
    );
  }

  async peek(ref: DeviceRef, context: CallContext) {
    const entry = ref.session_id
      ? (await this.byHandle(ref.session_id, ref, context)).entry
      : await this.choose(ref, context);
    return { entry, opened: this.controllers.peek(entry.id) };
  }

  async offering(ref: DeviceRef, context: CallContext): Promise<OfferingDevice> {
    const { entry, opened } = await this.peek(ref, context);
    return offeringOf(entry, opened);
  }

  opened(deviceId: string): OpenDevice | undefined {
    return this.controllers.peek(deviceId);
  }

  async open(device: DeviceEntry, signal: AbortSignal): Promise<OpenDevice> {
    const opened = await this.openEntry(findDevice(this.entries, device.id), signal);
    this.controllers.use(device.id)();
    return opened;
  }

  async takeControl(deviceId: string | undefined, context: CallContext, force: boolean) {
    const ref = { device_id: deviceId };
    return this.takeChosen(ref, context, (entry) => this.takeEntry(entry, context, force));
  }

  async takeCopy(deviceId: string | undefined, context: CallContext, wish: CopyWish) {
    const base = await this.choose({ device_id: deviceId }, context);
    const held = (await this.rules.list()).map(({ device_id }) => device_id);
    const copy = this.copies.make(base, wish, { held, names: this.entries.map(({ name }) => name) });
    try {
      return await this.takeEntry(copy, context, false);
    } catch (error) {
      await this.copies.drop(copy.id);
      throw error;
    }
  }

  private async takeEntry(entry: ConfiguredDevice, context: CallContext, force: boolean) {
    const free = () => this.freeFor(context);
    const lease = await this.rules.take(entry.id, context, { force, implicit: false, free });
    try {
      this.noteHolder(lease.view);
      return { lease: lease.view, device: await this.open(entry, context.signal) };
    } catch (error) {
      await this.rules.abandon(lease);
      throw error;
    }
  }

  async releaseControl(ref: DeviceRef, context: CallContext): Promise<Lease> {
    const lease = ref.session_id
      ? (await this.byHandle(ref.session_id, ref, context)).lease.view
      : await this.ownLease(ref, context);
    await this.rules.release(lease.session_id);
    return lease;
  }

  releaseClient(client: string): Promise<void> {
    return this.rules.releaseClient(client);
  }

  leases(): Promise<Lease[]> {
    return this.rules.list();
  }

  openCount(): number {
    return this.controllers.count();
  }

  onDriven(listener: (deviceId: string) => void): void {
    this.drivenListeners.push(listener);
  }

  drivenOutsideNavigation(deviceId: string): void {
    for (const listener of this.drivenListeners) listener(deviceId);
  }

  onFreshStart(listener: (deviceId: string) => () => void): void {
    this.freshListeners.push(listener);
  }

  async startFresh(device: OpenDevice, storageState: string | undefined, signal: AbortSignal) {
    const isolation = await findPort(device, "isolation", signal);
    if (!isolation) return undefined;
    const fresh = await isolation.enter({ storageState }, signal);
    const ends = this.freshListeners.map((listener) => listener(device.id));
    return {
      saveState: (name: string) => fresh.saveState(name),
      async leave() {
        await fresh.leave();
        for (const end of ends) end();
      },
    };
  }

  close(): Promise<void> {
    this.discovery.close();
    this.copies.end();
    return this.controllers.closeAll();
  }

  private openEntry(entry: ConfiguredDevice, signal: AbortSignal): Promise<OpenDevice> {
    if (this.copies.isThere(entry)) return this.controllers.open(entry, signal);
    const message = `${entry.id} was a copy of ${entry.copyOf}, which ended with its lease.`;
    throw new ToolError("DEVICE_NOT_FOUND", message, `Use ${entry.copyOf}.`);
  }

  /** A later copy of that name starts at no known position and with no holder. */
  private async closeCopy(deviceId: string): Promise<void> {
    await this.controllers.remove(deviceId);
    this.holders.delete(deviceId);
    this.drivenOutsideNavigation(deviceId);
  }

  /** A device that stopped answering, or what another client has set, must not reach the next holder. */
  private noteHolder(lease: Lease): void {
    const { device_id: id } = lease;
    const before = this.holders.get(id);
    this.holders.set(id, lease);
    if (before === undefined || before.session_id === lease.session_id) return;
    if (isOwn(before, lease)) this.controllers.doubt(id);
    else this.controllers.handOver(id);
  }

  private async freeFor(context: CallContext): Promise<string[]> {
    const held = await this.rules.list();
    const isHeld = (id: string) => held.some((lease) => lease.device_id === id && !isOwn(lease, context));
    return this.entries.map(({ id }) => id).filter((id) => !isHeld(id));
  }

  /** Of several equal free devices another client may take the first; then the next is taken. */
  private async takeChosen<Taken>(
    ref: DeviceRef,
    context: CallContext,
    take: (entry: ConfiguredDevice) => Promise<Taken>,
  ): Promise<Taken> {
    const entry = await this.choose(ref, context);
    try {
      return await take(entry);
    } catch (error) {
      const isHeld = error instanceof ToolError && error.code === "DEVICE_HELD";
      if (!isHeld || (await this.choose(ref, context)).id === entry.id) throw error;
      return this.takeChosen(ref, context, take);
    }
  }

  /**
   * The device named; else the one the caller holds; else one that is free; else one of all. Throws DEVICE_AMBIGUOUS where
   * these differ. One that is discovered is not chosen unnamed where there is one of the configuration.
   */
  private async choose(ref: DeviceRef, context: CallContext): Promise<ConfiguredDevice> {
    if (ref.device_id !== undefined) return findDevice(this.entries, ref.device_id);
    const [single, ...others] = this.entries;
    if (!single)
      throw new ToolError("DEVICE_NOT_FOUND", "This host has no device.", "Call diagnose to see why.");
    if (others.length === 0) return single;
    const own = new Set(
      (await this.rules.list()).filter((lease) => isOwn(lease, context)).map((l) => l.device_id),
    );
    const leased = this.entries.filter(({ id }) => own.has(id));
    const usual = this.configured.length > 0 ? this.configured : this.entries;
    const free = leased.length > 0 ? [] : await this.freeFor(context);
    const candidates = leased.length > 0 ? leased : usual.filter(({ id }) => free.includes(id));
    const named = candidates.length > 0 ? candidates : usual;
    // What a client does with several devices that it holds makes them differ.
    const [only] = named.length === 1 ? named : [];
    const chosen = leased.length > 0 ? only : anyOf(named);
    if (chosen) return chosen;
    throw ambiguousDevice(
      named.map(({ id }) => id),
      "The call names no device.",
    );
  }

  private implicitLease(entry: ConfiguredDevice, context: CallContext): Promise<LiveLease> {
    const free = async () => (this.entries.length > 1 ? await this.freeFor(context) : []);
    return this.rules.takeImplicitly(entry.id, context, free);
  }

  private async byHandle(sessionId: string, ref: DeviceRef, context: CallContext) {
    const lease = await this.rules.useHandle(sessionId, context);
    const entry = findDevice(this.entries, lease.view.device_id);
    if (ref.device_id !== undefined && findDevice(this.entries, ref.device_id).id !== entry.id) {
      throw new ToolError(
        "INVALID_INPUT",
        `session_id is the lease of ${entry.id}, but device_id says ${ref.device_id}.`,
        "Leave device_id out, or use the session_id of that device.",
      );
    }
    return { entry, lease };
  }

  private async grant(
    entry: ConfiguredDevice,
    live: LiveLease | undefined,
    context: CallContext,
  ): Promise<Grant> {
    if (!live) {
      const device = await this.openEntry(entry, context.signal);
      return { device, lease: undefined, signal: context.signal, done: this.controllers.use(entry.id) };
    }
    const held = this.rules.hold(live);
    const lease = live.view;
    this.noteHolder(lease);
    try {
      const signal = AbortSignal.any([context.signal, held.lost]);
      const device = { ...(await this.openEntry(entry, signal)), fence: lease.fence };
      const unuse = this.controllers.use(entry.id);
      const done = () => {
        held.done();
        unuse();
      };
      return { device, lease, signal, done };
    } catch (error) {
      held.done();
      throw error;
    }
  }

  private async ownLease(ref: DeviceRef, context: CallContext): Promise<Lease> {
    const entry = await this.choose(ref, context);
    const lease = (await this.rules.list()).find(
      (held) => held.device_id === entry.id && isOwn(held, context),
    );
    if (lease) return lease;
    throw new ToolError(
      "LEASE_NOT_FOUND",
      `You hold no lease of ${entry.id}.`,
      "Nothing needs to be released; name the session_id that take_control gave if you have one.",
    );
  }
}
