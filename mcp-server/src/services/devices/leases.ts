import { randomUUID } from "node:crypto";
import { ToolError } from "../../errors.ts";
import type { LeaseLoss, WantedLease } from "../../storage/rows/leaseRows.ts";
import type { CallContext, Clock, Lease } from "../ports.ts";
import { LiveLease } from "./liveLease.ts";

/** What the lease rules need from storage; every method is one atomic statement. Times are ISO 8601 UTC. */
export type LeaseStore = {
  /** Of one host: those that were not given back, expired or not. */
  ofHost(host: string): Promise<Lease[]>;
  /** The device's lease that was not given back, expired or not. */
  ofDevice(deviceId: string): Promise<Lease | undefined>;
  /**
   * Stores a new lease with a higher fence, in place of the one with the handle `after` (undefined: the device was given
   * back, or never taken). Undefined when the device has another lease by now. `loss` is noted for `findLoss`.
   */
  take(
    wanted: WantedLease,
    options: { after: string | undefined; loss?: LeaseLoss | undefined },
  ): Promise<Lease | undefined>;
  /** False when the handle is no longer the device's. */
  extend(lease: Pick<Lease, "session_id" | "implicit" | "expires_at">): Promise<boolean>;
  release(sessionId: string): Promise<boolean>;
  findLoss(sessionId: string): Promise<{ taken_by: string; at: string } | undefined>;
};

export type LeaseLimits = { leaseMs: number; implicitMs: number };

export type LeaseOptions = {
  store: LeaseStore;
  clock: Clock;
  host: string;
  limits: LeaseLimits;
  /** Called when a device was given back, before another client gets it. */
  freed(deviceId: string): Promise<void>;
};

/** A lease that was stored this short a time ago is not written again: a quick sequence of calls is one renewal. */
const renewEveryMs = 1_000;

/** Longer than a run may take to stop. What has not stopped by then is kept off the device by its old fence. */
const stopMs = 30_000;

const iso = (ms: number) => new Date(ms).toISOString();

/**
 * The rules of who may drive a device: one holder, an expiry that calls push on, no silent stealing, and nothing that
 * outlives its lease. Only this host's daemon gives its devices away, so it decides from what it knows; the database keeps
 * the leases for its next start, and the fences for ever.
 */
export class Leases {
  private readonly known = new Map<string, LiveLease>();
  /** The last change of each device that is under way; changes of one device wait for each other. */
  private readonly turns = new Map<string, Promise<unknown>>();
  private loading: Promise<void> | undefined;

  constructor(private readonly options: LeaseOptions) {}

  async list(): Promise<Lease[]> {
    await this.load();
    return [...this.known.values()].filter(({ isLiving }) => isLiving).map(({ view }) => view);
  }

  /**
   * Takes a device. Its own holder gets the same lease again. Throws DEVICE_HELD with holder, expiry and the `free`
   * devices. With `force`, what the former holder runs has stopped when this returns, and its next call fails with the reason.
   */
  take(
    deviceId: string,
    context: CallContext,
    options: { force: boolean; implicit: boolean; free(): Promise<readonly string[]> },
  ): Promise<LiveLease> {
    return this.inTurn(deviceId, async () => {
      await this.load();
      // The client may have ended while this waited.
      context.signal.throwIfAborted();
      const before = this.known.get(deviceId);
      if (!before?.isLiving) return this.replace(before, deviceId, context, options.implicit);
      if (isOwn(before.view, context)) return this.takeAgain(before, options.implicit);
      if (!options.force) throw heldError(before.view, await options.free());
      return this.replace(before, deviceId, context, options.implicit);
    });
  }

  /** Takes a device for one call, or renews what its caller holds of it. Throws DEVICE_HELD. */
  async takeImplicitly(
    deviceId: string,
    context: CallContext,
    free: () => Promise<readonly string[]>,
  ): Promise<LiveLease> {
    await this.load();
    const own = this.known.get(deviceId);
    if (own && isOwn(own.view, context) && (await this.renew(own))) return own;
    return this.take(deviceId, context, { force: false, implicit: true, free });
  }

  /** Checks a handle and renews it. Throws LEASE_LOST, LEASE_EXPIRED or LEASE_NOT_FOUND with what to do. */
  async useHandle(sessionId: string, { principal }: CallContext): Promise<LiveLease> {
    await this.load();
    const live = this.find(sessionId);
    if (live?.view.principal !== principal) throw await this.goneError(sessionId);
    if (await this.renew(live)) return live;
    const { reason } = live;
    // Only a holder that lost the device needs to hear of it.
    if (reason instanceof ToolError && reason.code !== "CANCELLED") throw reason;
    throw reason === undefined ? expiredError(live.view) : unknownHandle(sessionId);
  }

  /** Gives a lease back when what it was taken for failed, unless others of its client use it. */
  abandon(live: LiveLease): Promise<void> {
    return this.inTurn(live.view.device_id, async () => {
      live.takes -= 1;
      if (live.takes === 0 && !live.isUsed) await this.giveBack(live, givenBack(live.view));
    });
  }

  /** Gives a lease back when what runs under it has stopped. False if it was gone already. */
  async release(sessionId: string): Promise<boolean> {
    await this.load();
    const live = this.find(sessionId);
    if (!live) return false;
    return this.inTurn(live.view.device_id, () => this.giveBack(live, givenBack(live.view)));
  }

  /** Gives back all that a client held that has ended, also what it was about to get. */
  async releaseClient(client: string): Promise<void> {
    await this.load();
    const devices = new Set([...this.known.keys(), ...this.turns.keys()]);
    const releases = [...devices].map((deviceId) =>
      this.inTurn(deviceId, async () => {
        const live = this.known.get(deviceId);
        if (live?.view.client === client) await this.giveBack(live, clientEnded(live.view));
      }),
    );
    await Promise.all(releases);
  }

  /** Keeps a lease alive while a call or run uses it. The signal aborts with the reason when the lease ends. */
  hold(live: LiveLease): { lost: AbortSignal; done(): void } {
    const { lost, done } = live.use();
    let stopTimer = () => {};
    const renewLater = () => {
      stopTimer = this.options.clock.setTimeout(() => {
        // First, so that a renewal that is under way when the use ends starts no other.
        renewLater();
        void this.renewUsed(live);
      }, this.span(live) / 3);
    };
    renewLater();
    return {
      lost,
      done: () => {
        stopTimer();
        done();
      },
    };
  }

  private async renewUsed(live: LiveLease): Promise<void> {
    // A database that is away is not a reason to end the lease: the next renewal stores it.
    const isLiving = await this.renew(live).catch(() => true);
    if (!isLiving) await live.end(expiredError(live.view), stopMs);
  }

  /** Pushes the end of a living lease on. False when it has ended. */
  private async renew(live: LiveLease): Promise<boolean> {
    if (!live.isLiving) return false;
    live.prolong(this.span(live));
    const now = this.options.clock.monotonic();
    if (now - live.storedAt < renewEveryMs) return true;
    const before = live.storedAt;
    live.storedAt = now;
    try {
      if (await this.options.store.extend(live.view)) return true;
    } catch (error) {
      live.storedAt = before;
      throw error;
    }
    // Given back meanwhile, or the device has a lease that another daemon gave.
    await live.end(unknownHandle(live.view.session_id), stopMs);
    return false;
  }

  private async takeAgain(own: LiveLease, implicit: boolean): Promise<LiveLease> {
    own.takes += 1;
    if (!implicit) own.makeExplicit();
    own.storedAt = Number.NEGATIVE_INFINITY;
    await this.renew(own);
    return own;
  }

  private async replace(
    before: LiveLease | undefined,
    deviceId: string,
    context: CallContext,
    implicit: boolean,
  ): Promise<LiveLease> {
    const wanted = () => this.wanted(deviceId, context, implicit);
    if (!before) return this.win(wanted(), { after: undefined });
    const { session_id: after } = before.view;
    if (!before.isLiving) {
      await before.end(expiredError(before.view), stopMs);
      return this.win(wanted(), { after });
    }
    const { client: taken_by } = context;
    const at = iso(this.options.clock.now());
    await before.end(takenError(deviceId, taken_by, at), stopMs);
    return this.win(wanted(), { after, loss: { session_id: after, device_id: deviceId, taken_by, at } });
  }

  private async win(
    wanted: WantedLease,
    options: { after: string | undefined; loss?: LeaseLoss },
  ): Promise<LiveLease> {
    const lease = await this.options.store.take(wanted, options);
    if (lease) return this.learn(lease);
    // Another daemon of this host's name gave the device away.
    const other = await this.options.store.ofDevice(wanted.device_id);
    if (other) throw heldError(this.learn(other).view, []);
    this.known.delete(wanted.device_id);
    return this.win(wanted, { after: undefined });
  }

  private async giveBack(live: LiveLease, reason: ToolError): Promise<boolean> {
    const { device_id, session_id } = live.view;
    if (this.known.get(device_id) !== live) return false;
    await live.end(reason, stopMs);
    const released = await this.options.store.release(session_id);
    this.known.delete(device_id);
    await this.options.freed(device_id);
    return released;
  }

  private wanted(deviceId: string, { principal, client }: CallContext, implicit: boolean): WantedLease {
    const now = this.options.clock.now();
    return {
      device_id: deviceId,
      host_name: this.options.host,
      // `scrub` knows a handle by this form.
      session_id: `lease-${randomUUID()}`,
      principal,
      client,
      implicit,
      taken_at: iso(now),
      expires_at: iso(now + this.spanOf(implicit)),
    };
  }

  private find(sessionId: string): LiveLease | undefined {
    return [...this.known.values()].find(({ view }) => view.session_id === sessionId);
  }

  private span({ view }: LiveLease): number {
    return this.spanOf(view.implicit);
  }

  private spanOf(implicit: boolean): number {
    return implicit ? this.options.limits.implicitMs : this.options.limits.leaseMs;
  }

  private load(): Promise<void> {
    this.loading ??= this.loadAll().catch((error: unknown) => {
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  private async loadAll(): Promise<void> {
    for (const lease of await this.options.store.ofHost(this.options.host)) this.learn(lease);
  }

  /** From its row. The wall clock may have been set since, so it lasts no longer than a new one would. */
  private learn(lease: Lease): LiveLease {
    const left = Math.min(
      Date.parse(lease.expires_at) - this.options.clock.now(),
      this.spanOf(lease.implicit),
    );
    const live = new LiveLease(lease, left, this.options.clock);
    this.known.set(lease.device_id, live);
    return live;
  }

  private inTurn<T>(deviceId: string, change: () => Promise<T>): Promise<T> {
    const before = this.turns.get(deviceId) ?? Promise.resolve();
    const done = before.then(change, change);
    this.turns.set(deviceId, done);
    const leave = () => {
      if (this.turns.get(deviceId) === done) this.turns.delete(deviceId);
    };
    done.then(leave, leave);
    return done;
  }

  private async goneError(sessionId: string): Promise<ToolError> {
    const loss = await this.options.store.findLoss(sessionId);
    return loss ? takenError("The device", loss.taken_by, loss.at) : unknownHandle(sessionId);
  }
}

export const isOwn = (lease: Lease, context: Pick<CallContext, "principal" | "client">) =>
  lease.principal === context.principal && lease.client === context.client;

function heldError(holder: Lease, free: readonly string[]): ToolError {
  const { device_id, client, principal, expires_at } = holder;
  const instead = free.length > 0 ? `Free devices: ${free.join(", ")}. ` : "";
  return new ToolError(
    "DEVICE_HELD",
    `${device_id} is held by ${client} (${principal}) until ${expires_at}.`,
    `${instead}If the lease is yours, pass its session_id. Otherwise wait for it, or call take_control with force: true, which ends the holder's lease with a reason.`,
    { device_id, holder: client, until: expires_at, free },
  );
}

const takenError = (device: string, takenBy: string, at: string) =>
  new ToolError(
    "LEASE_LOST",
    `${device} was taken by ${takenBy} with force at ${at}.`,
    "Wait until they are done, then call take_control again.",
  );

const expiredError = ({ device_id, expires_at }: Lease) =>
  new ToolError(
    "LEASE_EXPIRED",
    `The lease of ${device_id} ended at ${expires_at}.`,
    "Call take_control again; it is granted if the device is still free.",
    { device_id },
  );

const unknownHandle = (sessionId: string) =>
  new ToolError(
    "LEASE_NOT_FOUND",
    `No lease has the handle ${sessionId}.`,
    "It was released or never given: call take_control for a new session_id.",
  );

const givenBack = ({ device_id, client }: Lease) =>
  new ToolError(
    "CANCELLED",
    `${client} gave ${device_id} back while this ran.`,
    "Keep the lease until the run has ended, then run it again.",
  );

const clientEnded = ({ device_id, client }: Lease) =>
  new ToolError(
    "CANCELLED",
    `${client} ended, and its lease of ${device_id} with it.`,
    "Run it again; a run of its own schedule is a deployment.",
  );
