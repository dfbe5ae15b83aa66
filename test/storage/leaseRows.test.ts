import { beforeAll, expect, it } from "vitest";
import { type LeaseRows, leaseRows } from "../../mcp-server/src/storage/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

const start = Date.parse("2030-01-01T00:00:00.000Z");
const minute = (n: number) => new Date(start + n * 60_000).toISOString();

/** An explicit lease until `n`, an implicit one four minutes less. */
const until = (n: number) => ({ explicit: minute(n), implicit: minute(n - 4) });

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

function taking(rows: () => LeaseRows): void {
  it("lets exactly one of fifty win who ask at once", async () => {
    const asked = Array.from({ length: 50 }, (_, i) => wanted("race", `client ${i}`));
    const options = { force: false, now: minute(0) };
    const taken = await Promise.all(asked.map((lease) => rows().take(lease, options)));
    const won = taken.filter((lease) => lease !== undefined);
    expect(won).toHaveLength(1);
    expect(await rows().ofDevice("host/race")).toEqual(won[0]);
  });

  it("refuses a held device and gives an expired one, with a higher fence", async () => {
    const first = await rows().take(wanted("expiry", "a"), { force: false, now: minute(0) });
    expect(await rows().take(wanted("expiry", "b", 4), { force: false, now: minute(4) })).toBeUndefined();
    const second = await rows().take(wanted("expiry", "b", 5), { force: false, now: minute(5) });
    expect([first?.fence, second?.fence]).toEqual([1, 2]);
  });

  it("lets fifty takes with force through, one after the other, each with its own fence", async () => {
    const asked = Array.from({ length: 50 }, (_, i) => wanted("force", `client ${i}`));
    const taken = await Promise.all(
      asked.map((lease) => rows().take(lease, { force: true, now: minute(0) })),
    );
    const fences = taken.map((lease) => lease?.fence ?? 0).sort((a, b) => a - b);
    expect(fences).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });

  it("gives a device to its own holder again, but not to the same client of another principal", async () => {
    await rows().take(wanted("own", "a"), { force: false, now: minute(0) });
    const again = await rows().take(wanted("own", "a", 1), { force: false, now: minute(1) });
    expect(again?.fence).toBe(2);
    const stranger = { ...wanted("own", "a", 1), principal: "stranger" };
    expect(await rows().take(stranger, { force: false, now: minute(1) })).toBeUndefined();
  });

  it("remembers who ended a living lease with force, and nothing of an expired one", async () => {
    const first = await rows().take(wanted("loss", "a"), { force: false, now: minute(0) });
    const second = await rows().take(wanted("loss", "b", 1), { force: true, now: minute(1) });
    expect(await rows().findLoss(first?.session_id ?? "")).toEqual({ taken_by: "b", at: minute(1) });
    await rows().take(wanted("loss", "c", 9), { force: true, now: minute(9) });
    expect(await rows().findLoss(second?.session_id ?? "")).toBeUndefined();
    await rows().purgeLosses(minute(1));
    expect(await rows().findLoss(first?.session_id ?? "")).toBeUndefined();
  });
}

function keeping(rows: () => LeaseRows): void {
  it("renews a living lease only", async () => {
    const lease = await rows().take(wanted("renew", "a"), { force: false, now: minute(0) });
    const session = lease?.session_id ?? "";
    const own = { session_id: session, principal: "owner" };
    expect((await rows().renew(own, until(9), minute(4)))?.expires_at).toBe(minute(9));
    expect(await rows().renew({ ...own, principal: "stranger" }, until(20), minute(5))).toBeUndefined();
    expect(await rows().renew(own, until(20), minute(9))).toBeUndefined();
    expect((await rows().find(session))?.expires_at).toBe(minute(9));
  });

  it("renews what a client holds of a device, an implicit lease by less", async () => {
    const lease = { ...wanted("own call", "a"), implicit: true };
    await rows().take(lease, { force: false, now: minute(0) });
    const renewed = await rows().renewOwn(lease, until(9), minute(4));
    expect(renewed).toMatchObject({ session_id: lease.session_id, fence: 1, expires_at: minute(5) });
    expect(await rows().renewOwn({ ...lease, client: "b" }, until(9), minute(4))).toBeUndefined();
    expect(await rows().renewOwn({ ...lease, principal: "b" }, until(9), minute(4))).toBeUndefined();
    expect(await rows().renewOwn(lease, until(9), minute(5))).toBeUndefined();
  });

  it("frees a device that is given back, and its fence goes on", async () => {
    const lease = await rows().take(wanted("release", "a"), { force: false, now: minute(0) });
    const session = lease?.session_id ?? "";
    expect(await rows().release(session)).toBe(true);
    expect(await rows().release(session)).toBe(false);
    expect(await rows().find(session)).toBeUndefined();
    expect(await rows().ofDevice("host/release")).toBeUndefined();
    expect(
      await rows().renew({ session_id: session, principal: "owner" }, until(9), minute(0)),
    ).toBeUndefined();
    const next = await rows().take(wanted("release", "b"), { force: false, now: minute(0) });
    expect(next?.fence).toBe(2);
  });

  it("gives back all that a client held, and nothing of others", async () => {
    const mine = [wanted("one", "gone"), wanted("two", "gone")];
    for (const lease of mine) await rows().take(lease, { force: false, now: minute(0) });
    await rows().take(wanted("three", "staying"), { force: false, now: minute(0) });
    const released = await rows().releaseClient("gone");
    expect(released.sort()).toEqual(mine.map((lease) => lease.session_id).sort());
    const left = (await rows().all()).filter((lease) => /one|two|three/.test(lease.device_id));
    expect(left.map((lease) => lease.client)).toEqual(["staying"]);
  });
}

describeEachDatabase("leases", (open) => {
  let rows: LeaseRows;
  beforeAll(async () => {
    rows = leaseRows((await open()).db);
  });
  taking(() => rows);
  keeping(() => rows);
});
