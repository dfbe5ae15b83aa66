import { beforeAll, expect, it } from "vitest";
import type { StoredEvent } from "#mcp-server/services/index.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { createEvents, type Events } from "#mcp-server/services/records/events.ts";
import { type EventRows, eventRows, type Storage } from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../../fixtures/database.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { testSecrets } from "../../fixtures/simulated.ts";

const at = "2030-01-01T00:00:00.000Z";
const clock = { ...systemClock, now: () => Date.parse(at) };

function eventsOf({ db, listen }: Storage, onFault?: (error: unknown) => void): Events {
  return createEvents({
    rows: eventRows(db),
    clock,
    secrets: testSecrets(),
    listen,
    ...(onFault && { onFault }),
  });
}

const event = (source: string) => ({ type: "test", priority: "normal", source, payload: {} }) as const;

/** What a subscriber hears until an event of source `last`. */
async function hear(events: Events): Promise<{ heard: StoredEvent[]; last: Promise<void>; stop(): void }> {
  const heard: StoredEvent[] = [];
  let done = () => {};
  const last = new Promise<void>((resolve) => {
    done = resolve;
  });
  const stop = await events.subscribe((stored) => {
    heard.push(stored);
    if (stored.source === "last") done();
  });
  return { heard, last, stop };
}

describeEachDatabase("events", (open) => {
  let storage: Storage;
  const append = (events: Events, source: string) =>
    storage.db.transaction((tx) => events.append(tx, event(source)));
  beforeAll(async () => {
    storage = await open();
  });

  it("reach subscribers in order, after the commit, and not when rolled back", async () => {
    const events = eventsOf(storage);
    await append(events, "before");
    const { heard, last, stop } = await hear(events);
    const rolledBack = storage.db.transaction(async (tx) => {
      await events.append(tx, event("never"));
      throw new Error("no");
    });
    await expect(rolledBack).rejects.toThrow("no");
    const stored = await append(events, "first");
    expect(stored).toEqual({ ...event("first"), id: expect.any(Number), at });
    await append(events, "last");
    await last;
    stop();
    await append(events, "after");
    expect(heard.map(({ source }) => source)).toEqual(["first", "last"]);
    expect(heard[0]).toEqual(stored);
  });

  it("reach subscribers of another process, more than a page at once", async () => {
    const { heard, last, stop } = await hear(eventsOf(storage));
    const writer = eventsOf(storage);
    await storage.db.transaction(async (tx) => {
      for (let i = 0; i < 250; i++) await writer.append(tx, event(String(i)));
      await writer.append(tx, event("last"));
    });
    await last;
    stop();
    expect(heard.map(({ source }) => source)).toEqual([...Array(250).keys()].map(String).concat("last"));
  });

  it("go on for the others when one subscriber fails", async () => {
    const faults: unknown[] = [];
    const events = eventsOf(storage, (error) => faults.push(error));
    const stopBroken = await events.subscribe(() => {
      throw new Error("broken subscriber");
    });
    const { heard, last, stop } = await hear(events);
    await append(events, "last");
    await last;
    stop();
    stopBroken();
    expect(heard).toHaveLength(1);
    expect(faults).toHaveLength(1);
  });

  it("are read again a minute after a read that failed", async () => {
    const rows = eventRows(storage.db);
    const time = fakeClock();
    let isAway = false;
    const read: EventRows["read"] = async (range) => {
      if (isAway) throw new Error("away");
      return rows.read(range);
    };
    const faults: unknown[] = [];
    const onFault = (error: unknown) => faults.push(error);
    const { listen } = storage;
    const events = createEvents({
      rows: { ...rows, read },
      clock: time,
      secrets: testSecrets(),
      listen,
      onFault,
    });
    const { heard, last, stop } = await hear(events);
    isAway = true;
    await append(events, "last");
    await expect.poll(() => faults).not.toHaveLength(0);
    isAway = false;
    await time.advance(60_000);
    await last;
    stop();
    expect(heard).toHaveLength(1);
  });

  it("are read from a cursor without a gap", async () => {
    const events = eventsOf(storage);
    const cursor = await events.latestId();
    const ids = [await append(events, "a"), await append(events, "b")].map(({ id }) => id);
    expect((await events.read({ after: cursor, limit: 10 })).map(({ id }) => id)).toEqual(ids);
  });
});
