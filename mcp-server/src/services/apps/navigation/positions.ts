import type { Database } from "../../../storage/engine/database.ts";
import { type PositionRow, positionRows } from "../../../storage/rows/positionRows.ts";
import type { Clock } from "../../ports.ts";

export type Tracked = {
  node_id: string | undefined;
  verified: boolean;
  at: string;
  age_ms: number;
  stale: boolean;
  /** The run that led the device there, unless another app was navigated or the position identified since then. */
  led_by?: string | undefined;
};

/** Where each device is in each app, and how far that can be trusted. */
export class Positions {
  private readonly doubts = new Map<string, Promise<void>>();
  /** Positions since a fresh start, by app, for each device; the latest start last. */
  private readonly fresh = new Map<string, Map<string, PositionRow>[]>();
  /** The app and run of each device's latest navigation that arrived somewhere. */
  private readonly led = new Map<string, { app: string; runId: string }>();

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly staleMs: number,
  ) {}

  /** After a fresh start no position is known. The returned function restores the positions from before. */
  startFresh(deviceId: string): () => void {
    const places = new Map<string, PositionRow>();
    this.fresh.set(deviceId, [...(this.fresh.get(deviceId) ?? []), places]);
    return () => {
      const left = (this.fresh.get(deviceId) ?? []).filter((one) => one !== places);
      if (left.length > 0) this.fresh.set(deviceId, left);
      else this.fresh.delete(deviceId);
    };
  }

  /** Something drove the device outside navigation. Takes effect before its position is read next. */
  doubt(deviceId: string): void {
    const before = this.doubts.get(deviceId) ?? Promise.resolve();
    const fresh = this.fresh.get(deviceId)?.at(-1);
    const doubt = before.then(() => (fresh ? this.doubtFresh(fresh) : positionRows(this.db).doubt(deviceId)));
    this.doubts.set(deviceId, doubt);
    // The next reader of the position gets the failure.
    doubt.then(
      () => this.doubts.get(deviceId) === doubt && this.doubts.delete(deviceId),
      () => undefined,
    );
  }

  async find(deviceId: string, userinterfaceId: string): Promise<Tracked | undefined> {
    const row = await this.row(deviceId, userinterfaceId);
    if (!row) return undefined;
    const age = Math.max(0, this.clock.now() - Date.parse(row.at));
    const led = this.led.get(deviceId);
    return {
      node_id: row.node_id,
      verified: row.verified,
      at: row.at,
      age_ms: age,
      stale: age > this.staleMs,
      led_by: led?.app === userinterfaceId ? led.runId : undefined,
    };
  }

  /** `nodeId` undefined: not known. `runId`: the run that led the device there; left out if it was only looked at. */
  async put(
    deviceId: string,
    userinterfaceId: string,
    nodeId: string | undefined,
    verified: boolean,
    runId?: string,
  ): Promise<void> {
    await this.settle(deviceId);
    if (runId === undefined) this.led.delete(deviceId);
    else this.led.set(deviceId, { app: userinterfaceId, runId });
    const at = new Date(this.clock.now()).toISOString();
    const row: PositionRow = {
      device_id: deviceId,
      userinterface_id: userinterfaceId,
      node_id: nodeId,
      verified,
      at,
    };
    const fresh = this.fresh.get(deviceId)?.at(-1);
    if (fresh) return void fresh.set(userinterfaceId, row);
    await positionRows(this.db).put(row);
  }

  private async row(deviceId: string, userinterfaceId: string): Promise<PositionRow | undefined> {
    await this.settle(deviceId);
    const fresh = this.fresh.get(deviceId)?.at(-1);
    return fresh ? fresh.get(userinterfaceId) : positionRows(this.db).find(deviceId, userinterfaceId);
  }

  private async doubtFresh(places: Map<string, PositionRow>): Promise<void> {
    for (const [app, row] of places) {
      const isCheckable = row.node_id !== undefined && (await positionRows(this.db).isCheckable(row.node_id));
      places.set(app, { ...row, node_id: isCheckable ? row.node_id : undefined, verified: false });
    }
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
