import { randomUUID } from "node:crypto";
import { type Database, deploymentRows, deploymentRunRows } from "../../../storage/index.ts";
import type { Clock } from "../../ports.ts";
import { Repeater } from "../../records/repeater.ts";
import { claimDue, standing } from "./schedule.ts";

/** Wakes at least this often: a clock that was put forward (a machine that slept) is noticed by then. */
const longestSleepMs = 60_000;

export type SchedulerParts = {
  db: Database;
  clock: Clock;
  host: string;
  /** Resolves when the runs of a dead daemon have ended: one that seems to run would have a due time skipped. */
  ready(): Promise<void>;
  onQueued(): void;
  onFault(error: unknown): void;
};

/** Sleeps until the next due time of this host, and turns due times into queued runs, each once. */
export class Scheduler {
  private readonly parts: SchedulerParts;
  private readonly looking: Repeater;
  private stopTimer = () => {};

  constructor(parts: SchedulerParts) {
    this.parts = parts;
    this.looking = new Repeater(parts.clock, () => this.look(), parts.onFault);
  }

  wake(): void {
    this.looking.wake();
  }

  async stop(): Promise<void> {
    await this.looking.stop();
    this.stopTimer();
  }

  private async look(): Promise<void> {
    const { db, clock, host } = this.parts;
    this.stopTimer();
    const due = await deploymentRows(db).due(host, new Date(clock.now()).toISOString());
    if (due.length > 0) await this.parts.ready();
    for (const id of due) await db.transaction((tx) => this.claim(tx, id));
    if (due.length > 0) this.parts.onQueued();
    const next = await deploymentRows(db).earliest(host);
    if (next === undefined) return;
    const sleepMs = Date.parse(next) - clock.now();
    if (sleepMs <= 0) this.wake();
    else this.stopTimer = clock.setTimeout(() => this.wake(), Math.min(sleepMs, longestSleepMs));
  }

  /** The run and the next due time are there together, or neither. */
  private async claim(tx: Database, id: string): Promise<void> {
    const { clock } = this.parts;
    const deployment = await deploymentRows(tx).claim(id);
    const now = clock.now();
    const nextAt = deployment?.status === "active" ? deployment.next_at : undefined;
    if (!deployment || nextAt === undefined || Date.parse(nextAt) > now) return;
    const rows = deploymentRunRows(tx);
    const [open] = await rows.openOf(id);
    let { started } = deployment;
    for (const run of claimDue({ ...deployment, next_at: nextAt }, { open, now, newId: randomUUID })) {
      if ((await rows.insert(run)) && run.status === "queued") started += 1;
    }
    const { next_at: _, ...rest } = deployment;
    await deploymentRows(tx).update({ ...rest, started, ...standing(deployment.body, started, now) });
  }
}
