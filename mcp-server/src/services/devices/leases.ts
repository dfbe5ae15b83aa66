import { randomUUID } from "node:crypto";
import { ToolError } from "../../errors.ts";
import type { LeaseEnd } from "../../storage/leaseRows.ts";
import type { CallContext, Clock, Lease } from "../ports.ts";

/** What the lease rules need from storage; every method is one atomic statement. Times are ISO 8601 UTC. */
export type LeaseStore = {
  /**
   * Wins if the device is free, expired, held by this principal and client, or `force`; otherwise undefined. A living
   * lease that `force` ends is noted for `findLoss`.
   */
  take(
    wanted: Omit<Lease, "fence"> & { host_name: string; taken_at: string },
    options: { force: boolean; now: string },
  ): Promise<Lease | undefined>;
  renew(
    lease: { session_id: string; principal: string },
    until: LeaseEnd,
    now: string,
  ): Promise<Lease | undefined>;
  renewOwn(
    owner: { device_id: string; principal: string; client: string },
    until: LeaseEnd,
    now: string,
  ): Promise<Lease | undefined>;
  find(sessionId: string): Promise<Lease | undefined>;
  ofDevice(deviceId: string): Promise<Lease | undefined>;
  all(): Promise<Lease[]>;
  release(sessionId: string): Promise<boolean>;
  findLoss(sessionId: string): Promise<{ taken_by: string; at: string } | undefined>;
};

export type LeaseLimits = { leaseMs: number; implicitMs: number };

type Held = { lease: Lease; lost: AbortController; users: number };

/** A lease that was renewed this short a time ago is not written again: a quick sequence of calls is one renewal. */
const renewEveryMs = 1_000;

const iso = (ms: number) => new Date(ms).toISOString();

/** The rules of who may drive a device: one holder, an expiry that calls push on, and no silent stealing. */
export class Leases {
  private readonly held = new Map<string, Held>();
  /** The last renewal of each device. Only this host's daemon writes the leases of its devices, so it may remember them. */
  private readonly renewals = new Map<string, { lease: Lease; at: number }>();
  /** Counts what may end a lease: a renewal that was under way meanwhile is not remembered. */
  private changes = 0;
  private readonly store: LeaseStore;
  private readonly clock: Clock;
  private readonly host: string;
  private readonly limits: LeaseLimits;

  constructor(options: { store: LeaseStore; clock: Clock; host: string; limits: LeaseLimits }) {
    this.store = options.store;
    this.clock = options.clock;
    this.host = options.host;
    this.limits = options.limits;
  }

  /** Living leases only. */
  async list(): Promise<Lease[]> {
    const now = this.clock.now();
    return (await this.store.all()).filter((lease) => Date.parse(lease.expires_at) > now);
  }

  /**
   * Takes a device. Throws DEVICE_HELD with holder, expiry and `free` devices. With `force`, a running call of the
   * former holder is stopped and its next call told why.
   */
  async take(
    deviceId: string,
    context: CallContext,
    options: { force: boolean; implicit: boolean; free: readonly string[] },
  ): Promise<Lease> {
    const now = this.clock.now();
    const before = await this.store.ofDevice(deviceId);
    const own = before !== undefined && isOwn(before, context) && Date.parse(before.expires_at) > now;
    const implicit = own ? before.implicit && options.implicit : options.implicit;
    const lease = await this.store.take(
      {
        device_id: deviceId,
        host_name: this.host,
        session_id: own ? before.session_id : randomUUID(),
        principal: context.principal,
        client: context.client,
        implicit,
        taken_at: iso(now),
        expires_at: iso(now + this.span(implicit)),
      },
      { force: options.force, now: iso(now) },
    );
    this.forget((held) => held.device_id === deviceId);
    if (!lease) throw await this.heldError(deviceId, options.free);
    if (before && before.session_id !== lease.session_id) this.stopFormer(before, context);
    return lease;
  }

  /** Takes a device for one call, or renews what its caller holds of it. Throws DEVICE_HELD. */
  async takeImplicitly(
    deviceId: string,
    context: CallContext,
    free: () => Promise<readonly string[]>,
  ): Promise<Lease> {
    const { principal, client } = context;
    const recent = this.recent((lease) => lease.device_id === deviceId && isOwn(lease, context));
    if (recent) return recent;
    const now = this.clock.now();
    const owner = { device_id: deviceId, principal, client };
    const own = await this.remembering(now, this.store.renewOwn(owner, this.until(now), iso(now)));
    return own ?? this.take(deviceId, context, { force: false, implicit: true, free: await free() });
  }

  /** Checks a handle and renews it. Throws LEASE_LOST, LEASE_EXPIRED or LEASE_NOT_FOUND with what to do. */
  async useHandle(sessionId: string, context: CallContext): Promise<Lease> {
    const { principal } = context;
    const recent = this.recent((lease) => lease.session_id === sessionId && lease.principal === principal);
    if (recent) return recent;
    const renewed = await this.renew({ session_id: sessionId, principal });
    if (renewed) return renewed;
    const lease = await this.store.find(sessionId);
    if (!lease || lease.principal !== principal) throw await this.goneError(sessionId);
    throw new ToolError(
      "LEASE_EXPIRED",
      `The lease of ${lease.device_id} ended at ${lease.expires_at}.`,
      "Call take_control again; it is granted if the device is still free.",
      { device_id: lease.device_id },
    );
  }

  async renew(lease: { session_id: string; principal: string }): Promise<Lease | undefined> {
    const now = this.clock.now();
    return this.remembering(now, this.store.renew(lease, this.until(now), iso(now)));
  }

  private recent(isWanted: (lease: Lease) => boolean): Lease | undefined {
    const now = this.clock.now();
    for (const { lease, at } of this.renewals.values())
      if (isWanted(lease) && now >= at && now - at < renewEveryMs) return lease;
    return undefined;
  }

  private async remembering(at: number, renewal: Promise<Lease | undefined>): Promise<Lease | undefined> {
    const before = this.changes;
    const lease = await renewal;
    if (lease && this.changes === before) this.renewals.set(lease.device_id, { lease, at });
    return lease;
  }

  private forget(isMeant: (lease: Lease) => boolean): void {
    this.changes += 1;
    for (const [device, { lease }] of this.renewals) if (isMeant(lease)) this.renewals.delete(device);
  }

  /** Gives a lease back. False if it was gone already. */
  async release(sessionId: string): Promise<boolean> {
    this.held.delete(sessionId);
    const released = await this.store.release(sessionId);
    this.forget((lease) => lease.session_id === sessionId);
    return released;
  }

  /** Gives back all that a client held that has ended. */
  async releaseClient(client: string): Promise<void> {
    for (const lease of await this.store.all())
      if (lease.client === client) await this.release(lease.session_id);
  }

  /** Keeps a lease alive while a call or run uses it. The signal aborts with LEASE_LOST when another takes the device. */
  hold(lease: Lease): { lost: AbortSignal; done(): void } {
    const held = this.held.get(lease.session_id) ?? { lease, lost: new AbortController(), users: 0 };
    held.users += 1;
    this.held.set(lease.session_id, held);
    let stopRenewing = () => {};
    const renewLater = () => {
      stopRenewing = this.clock.setTimeout(() => {
        this.renew(lease).then(renewLater, renewLater);
      }, this.span(lease.implicit) / 3);
    };
    renewLater();
    let finished = false;
    const done = () => {
      if (finished) return;
      finished = true;
      stopRenewing();
      stopRenewing = () => {};
      held.users -= 1;
      if (held.users === 0 && this.held.get(lease.session_id) === held) this.held.delete(lease.session_id);
    };
    return { lost: held.lost.signal, done };
  }

  async heldError(deviceId: string, free: readonly string[]): Promise<ToolError> {
    const holder = await this.store.ofDevice(deviceId);
    const who = holder
      ? `${holder.client} (${holder.principal}) until ${holder.expires_at}`
      : "another client";
    const instead = free.length > 0 ? `Free devices: ${free.join(", ")}. ` : "";
    return new ToolError(
      "DEVICE_HELD",
      `${deviceId} is held by ${who}.`,
      `${instead}Wait for it, or call take_control with force: true, which tells the holder.`,
      { device_id: deviceId, holder: holder?.client, until: holder?.expires_at, free },
    );
  }

  private until(now: number): LeaseEnd {
    return { implicit: iso(now + this.limits.implicitMs), explicit: iso(now + this.limits.leaseMs) };
  }

  private span(implicit: boolean): number {
    return implicit ? this.limits.implicitMs : this.limits.leaseMs;
  }

  /** Stops what the former holder's calls are doing; the store has noted who took the device. */
  private stopFormer(before: Lease, context: CallContext): void {
    const held = this.held.get(before.session_id);
    held?.lost.abort(lostError(before.device_id, context.client, iso(this.clock.now())));
    this.held.delete(before.session_id);
  }

  private async goneError(sessionId: string): Promise<ToolError> {
    const loss = await this.store.findLoss(sessionId);
    if (loss) return lostError("The device", loss.taken_by, loss.at);
    return new ToolError(
      "LEASE_NOT_FOUND",
      `No lease has the handle ${sessionId}.`,
      "It was released or never given: call take_control for a new session_id.",
    );
  }
}

export const isOwn = (lease: Lease, context: CallContext) =>
  lease.principal === context.principal && lease.client === context.client;

function lostError(device: string, takenBy: string, at: string): ToolError {
  return new ToolError(
    "LEASE_LOST",
    `${device} was taken by ${takenBy} with force at ${at}.`,
    "Agree with them, or call take_control again when they are done.",
  );
}
