import type { Database } from "../../storage/database.ts";
import { positionRows } from "../../storage/positionRows.ts";
import type { Clock } from "../ports.ts";

export type Tracked = {
  node_id: string | undefined;
  verified: boolean;
  at: string;
  age_ms: number;
  stale: boolean;
};

/** Where each device is in each app, with how far that can be trusted. */
export class Positions {
  private readonly doubts = new Map<string, Promise<void>>();
  /** When this process stored the latest position of a device and app, by both clocks. */
  private readonly stored = new Map<string, { at: string; monotonic: number }>();

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly staleMs: number,
  ) {}

  /** Something drove the device outside navigation. Takes effect before the next look at its position. */
  doubt(deviceId: string, exceptIn?: string): void {
    const before = this.doubts.get(deviceId) ?? Promise.resolve();
    const doubt = before.then(() => positionRows(this.db).doubt(deviceId, exceptIn));
    this.doubts.set(deviceId, doubt);
    // A failure is met by whoever reads the position next.
    doubt.then(
      () => this.doubts.get(deviceId) === doubt && this.doubts.delete(deviceId),
      () => undefined,
    );
  }

  async find(deviceId: string, userinterfaceId: string): Promise<Tracked | undefined> {
    await this.settle(deviceId);
    const row = await positionRows(this.db).find(deviceId, userinterfaceId);
    if (!row) return undefined;
    const age = this.ageOf(`${deviceId} ${userinterfaceId}`, row.at);
    return {
      node_id: row.node_id,
      verified: row.verified,
      at: row.at,
      age_ms: age,
      stale: age > this.staleMs,
    };
  }

  /** `nodeId` undefined: nobody knows. */
  async put(
    deviceId: string,
    userinterfaceId: string,
    nodeId: string | undefined,
    verified: boolean,
  ): Promise<void> {
    await this.settle(deviceId);
    const at = new Date(this.clock.now()).toISOString();
    this.stored.set(`${deviceId} ${userinterfaceId}`, { at, monotonic: this.clock.monotonic() });
    await positionRows(this.db).put({
      device_id: deviceId,
      userinterface_id: userinterfaceId,
      node_id: nodeId,
      verified,
      at,
    });
  }

  /** By the wall clock only for a position that an earlier process stored. */
  private ageOf(key: string, at: string): number {
    const stored = this.stored.get(key);
    return stored?.at === at
      ? this.clock.monotonic() - stored.monotonic
      : Math.max(0, this.clock.now() - Date.parse(at));
  }

  private async settle(deviceId: string): Promise<void> {
    const doubt = this.doubts.get(deviceId);
    if (!doubt) return;
    try {
      await doubt;
    } finally {
      if (this.doubts.get(deviceId) === doubt) this.doubts.delete(deviceId);
    }
  }
}
