import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterEach, beforeAll, expect, it } from "vitest";
import { type JobQueue, jobQueue, type Storage } from "../../mcp-server/src/storage/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

describeEachDatabase("the job queue", (open) => {
  let storage: Storage;
  const queues: JobQueue[] = [];
  const faults: unknown[] = [];
  let hosts = 0;
  beforeAll(async () => {
    storage = await open();
  });
  afterEach(async () => {
    for (const queue of queues.splice(0)) await queue.close();
    expect(faults).toEqual([]);
  });
  const queueOf = (host: string) => {
    const queue = jobQueue({ pool: storage.pool, host, onFault: (error) => faults.push(error) });
    queues.push(queue);
    return queue;
  };
  const newHost = () => {
    hosts += 1;
    return `host ${hosts}`;
  };
  const send = async (queue: JobQueue, lane: string) => {
    const id = randomUUID();
    await queue.open();
    await storage.db.transaction((tx) => queue.send(tx, { id, lane }));
    return { id, lane };
  };
  const remove = (queue: JobQueue, id: string) => storage.db.transaction((tx) => queue.remove(tx, id));

  it("gives jobs in their order, one of a lane at a time, and the next when that one is removed", async () => {
    const queue = queueOf(newHost());
    const first = await send(queue, "lab/a");
    const second = await send(queue, "lab/a");
    const other = await send(queue, "lab/b");
    expect(await queue.take()).toEqual(first);
    expect(await queue.take()).toEqual(other);
    expect(await queue.take()).toBeUndefined();
    await remove(queue, first.id);
    expect(await queue.take()).toEqual(second);
  });

  it("keeps a job if and only if the transaction that sent it is committed, also the first one", async () => {
    const queue = queueOf(newHost());
    await queue.open();
    const sent = storage.db.transaction(async (tx) => {
      await queue.send(tx, { id: randomUUID(), lane: "lab/a" });
      await tx.execute(sql`select 1 / 0`);
    });
    await expect(sent).rejects.toThrow();
    expect(await queue.take()).toBeUndefined();
    const kept = await send(queue, "lab/a");
    expect(await queue.take()).toEqual(kept);
  });

  it("after a crash still has what nobody took, and forgets what was taken", async () => {
    const host = newHost();
    const dead = queueOf(host);
    await send(dead, "lab/a");
    const waiting = [await send(dead, "lab/a"), await send(dead, "lab/b")];
    await dead.take();
    const queue = queueOf(host);
    expect(await queue.recover()).toEqual(new Set(waiting.map(({ id }) => id)));
    expect(await queue.take()).toEqual(waiting[0]);
    expect(await queue.take()).toEqual(waiting[1]);
  });

  it("is its host's own, however alike the names are", async () => {
    const [one, other] = [queueOf("a b"), queueOf("a_b")];
    const job = await send(one, "lab/a");
    await other.open();
    expect(await other.take()).toBeUndefined();
    expect(await one.take()).toEqual(job);
  });
});
