import { beforeAll, expect, it } from "vitest";
import { type LeaseRows, leaseRows } from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";
import { minute } from "../fixtures/executionRecords.ts";

function wanted(device: string, client: string, at = 0) {
  return {
    device_id: `host/${device}`,
    host_name: "host",
    session_id: crypto.randomUUID(),
    principal: "owner",
    client,
    implicit: false,
    taken_at: minute(at),
    expires_at: minute(at + 5),
  };
}

const free = { after: undefined };

describeEachDatabase("leases", (open) => {
  let rows: LeaseRows;
  beforeAll(async () => {
    rows = leaseRows((await open()).db);
  });

  it("lets exactly one of fifty win who ask at once for a free device", async () => {
    const asked = Array.from({ length: 50 }, (_, i) => wanted("race", `client ${i}`));
    const taken = await Promise.all(asked.map((lease) => rows.take(lease, free)));
    const won = taken.filter((lease) => lease !== undefined);
    expect(won).toHaveLength(1);
    expect(await rows.ofDevice("host/race")).toEqual(won[0]);
  });

  it("lets exactly one of fifty take the place of one lease, with a higher fence", async () => {
    const first = wanted("place", "a");
    await rows.take(first, free);
    const asked = Array.from({ length: 50 }, (_, i) => wanted("place", `client ${i}`));
    const taken = await Promise.all(asked.map((lease) => rows.take(lease, { after: first.session_id })));
    expect(taken.filter((lease) => lease !== undefined)).toMatchObject([{ fence: 2 }]);
  });

  it("gives no one a device that has another lease than the one that ends", async () => {
    await rows.take(wanted("other", "a"), free);
    expect(await rows.take(wanted("other", "b"), free)).toBeUndefined();
    expect(await rows.take(wanted("other", "b"), { after: crypto.randomUUID() })).toBeUndefined();
    expect(await rows.ofDevice("host/other")).toMatchObject({ client: "a", fence: 1 });
  });

  it("remembers who ended a living lease with force, for a time", async () => {
    const first = wanted("loss", "a");
    await rows.take(first, free);
    const next = wanted("loss", "b", 1);
    const loss = { session_id: first.session_id, device_id: "host/loss", taken_by: "b", at: minute(1) };
    await rows.take(next, { after: first.session_id, loss });
    expect(await rows.findLoss(first.session_id)).toEqual({ taken_by: "b", at: minute(1) });
    await rows.take(wanted("loss", "c"), { after: next.session_id });
    expect(await rows.findLoss(next.session_id)).toBeUndefined();
    await rows.purgeLosses(minute(1));
    expect(await rows.findLoss(first.session_id)).toBeUndefined();
  });

  it("pushes the end of a lease on, under the same fence", async () => {
    const lease = wanted("extend", "a");
    await rows.take({ ...lease, implicit: true }, free);
    expect(await rows.extend({ ...lease, expires_at: minute(9) })).toBe(true);
    expect(await rows.ofDevice("host/extend")).toMatchObject({
      implicit: false,
      expires_at: minute(9),
      fence: 1,
    });
    expect(await rows.extend({ ...lease, session_id: crypto.randomUUID() })).toBe(false);
  });

  it("frees a device that is given back, and its fence goes on", async () => {
    const lease = wanted("release", "a");
    await rows.take(lease, free);
    expect(await rows.release(lease.session_id)).toBe(true);
    expect(await rows.release(lease.session_id)).toBe(false);
    expect(await rows.ofDevice("host/release")).toBeUndefined();
    expect(await rows.extend(lease)).toBe(false);
    expect(await rows.take(wanted("release", "b"), free)).toMatchObject({ fence: 2 });
  });

  it("lists what a host has given away, and nothing of other hosts", async () => {
    const mine = { ...wanted("one", "a"), host_name: "mine" };
    const back = { ...wanted("two", "a"), host_name: "mine" };
    for (const lease of [mine, back, wanted("three", "a")]) await rows.take(lease, free);
    await rows.release(back.session_id);
    expect((await rows.ofHost("mine")).map(({ session_id }) => session_id)).toEqual([mine.session_id]);
  });
});
