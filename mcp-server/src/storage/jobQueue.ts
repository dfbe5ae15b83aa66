import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Pool } from "pg";
import type { Db as BossDatabase, PgBoss } from "pg-boss";
import type { Database } from "./database.ts";

/** Of two jobs with one `lane`, one is taken at a time. */
export type Job = { id: string; lane: string };

/**
 * The waiting work of one host, kept in the database: given once, in the order in which it came. Only this host's daemon
 * sends to it and takes from it, so it is told of work and never polls. Opens with its first use.
 */
export type JobQueue = {
  /** To be awaited before a transaction that sends. */
  open(): Promise<void>;
  /** Within the caller's transaction. The id is a UUID. */
  send(tx: Database, job: Job): Promise<void>;
  /** The oldest job whose lane is free; it holds its lane until it is removed. */
  take(): Promise<Job | undefined>;
  /** Within the caller's transaction; one that is not there is no error. */
  remove(tx: Database, id: string): Promise<void>;
  /** Forgets what a dead process had taken. Ids of what still waits. Only while nothing is taken. */
  recover(): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
};

/** Everything of pg-boss lies in a schema of this name. */
const schema = "labwright_jobs";

/** pg-boss' names allow few characters; the hash keeps two hosts apart whose names differ in the others. */
const queueOf = (host: string) =>
  `host.${host.replaceAll(/[^\w.-]/g, "_")}.${createHash("sha256").update(host).digest("hex").slice(0, 8)}`;

/** A queue on pg-boss over our own pool, so that it is the same on both engines. `onFault` hears what nobody waits for. */
export function jobQueue(options: { pool: Pool; host: string; onFault(error: unknown): void }): JobQueue {
  return new BossQueue(options);
}

type Opened = { boss: PgBoss; within(tx: Database): BossDatabase };

class BossQueue implements JobQueue {
  private readonly name: string;
  private opened: Promise<Opened> | undefined;

  constructor(private readonly options: { pool: Pool; host: string; onFault(error: unknown): void }) {
    this.name = queueOf(options.host);
  }

  async open(): Promise<void> {
    await this.boss();
  }

  async send(tx: Database, { id, lane }: Job): Promise<void> {
    const { boss, within } = await this.boss();
    // Never repeated by pg-boss: a run that may have acted is not done again.
    await boss.send(this.name, { lane }, { id, group: { id: lane }, retryLimit: 0, db: within(tx) });
  }

  async take(): Promise<Job | undefined> {
    const { boss } = await this.boss();
    const [job] = await boss.fetch<{ lane: string }>(this.name, { groupConcurrency: 1 });
    return job && { id: job.id, lane: job.data.lane };
  }

  async remove(tx: Database, id: string): Promise<void> {
    const { boss, within } = await this.boss();
    await boss.deleteJob(this.name, id, { db: within(tx) });
  }

  async recover(): Promise<ReadonlySet<string>> {
    const { boss } = await this.boss();
    const jobs = await boss.findJobs(this.name);
    const isWaiting = ({ state }: { state: string }) => state === "created";
    for (const { id } of jobs.filter((job) => !isWaiting(job))) await boss.deleteJob(this.name, id);
    return new Set(jobs.filter(isWaiting).map(({ id }) => id));
  }

  async close(): Promise<void> {
    const opened = await this.opened?.catch(() => undefined);
    this.opened = undefined;
    await opened?.boss.stop({ graceful: false });
  }

  private boss(): Promise<Opened> {
    this.opened ??= this.start().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  /** Loaded only when there is work for it: its start asks the database for about twenty tables and functions. */
  private async start(): Promise<Opened> {
    const pgBoss = await import("pg-boss");
    const { pool, onFault } = this.options;
    const db: BossDatabase = { executeSql: (text, values) => pool.query(text, values) };
    // Its own clocks stay off: when something is due is decided by us, and what is over is removed by us.
    const boss = new pgBoss.PgBoss({ db, schema, schedule: false, supervise: false });
    boss.on("error", onFault);
    await boss.start();
    await boss.createQueue(this.name);
    // Trap: a queue that pg-boss has not looked at yet is read on the pool, which inside a transaction on PGlite waits
    // for that transaction. This look is kept.
    await boss.findJobs(this.name, { queued: true });
    return { boss, within: (tx) => pgBoss.fromDrizzle(tx, sql) };
  }
}
